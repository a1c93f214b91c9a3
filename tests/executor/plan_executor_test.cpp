#include "executor/plan_executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/diagnostics.hpp"
#include "core/plan_streams.hpp"
#include "core/preload_memory.hpp"
#include "executor/model_io.hpp"
#include "executor/run_report.hpp"
#include "tests/executor/queue_network.hpp"

namespace fm {
namespace {

using test::NetworkOptions;
using test::relative_error;
using test::SmallNetwork;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void ignore_progress(std::size_t, std::size_t) {}

struct Outcome {
  std::vector<float> y;
  RunTimes times;
  ResultMemory memory;
  std::vector<trace::HostOperation> operations;
};

struct Execution {
  std::size_t runs = 1;
  std::optional<double> disk_bytes_per_second;
};

Outcome execute(const SmallNetwork& network, const Execution& execution = {}) {
  const TemporaryFolder folder;
  network.write_weights(folder.file("w.fmw"));
  const WeightsIndex index = open_weights_for(network.plan(), folder.file("w.fmw"));
  PlanExecutor executor(network.plan(), index, folder.file("w.fmw"), select_device(""),
                        {execution.disk_bytes_per_second, ""});
  const PlanTensor& x = network.plan().tensor("x");
  const PlanTensor& y = network.plan().tensor("y");
  Outcome outcome;
  for (std::size_t run = 0; run < execution.runs; ++run) {
    executor.poison();
    executor.write_input(x, to_device_bytes(x, {x.shape, network.input()}));
    outcome.times = executor.run(ignore_progress);
    executor.recorder().stop_keeping();
  }
  outcome.y = from_device_bytes(y, executor.read_tensor(y)).values;
  outcome.memory = executor.recorder().memory();
  outcome.operations = executor.recorder().operations();
  return outcome;
}

class PlacementAndPolicy
    : public ::testing::TestWithParam<std::tuple<Placement, Placement, DataType, bool>> {};

TEST_P(PlacementAndPolicy, OutputMatchesTheHostReference) {
  NetworkOptions options;
  std::tie(options.weights, options.activations, options.storage, options.stream) = GetParam();
  const SmallNetwork network(options);
  const Outcome outcome = execute(network);
  // Half: a result may fall on the other side of a rounding boundary, seldom.
  EXPECT_LE(relative_error(outcome.y, network.reference(network.input())),
            options.storage == DataType::f32 ? 1e-5 : 1e-3);
}

INSTANTIATE_TEST_SUITE_P(
    All, PlacementAndPolicy,
    ::testing::Combine(::testing::Values(Placement::buffer, Placement::image2d),
                       ::testing::Values(Placement::buffer, Placement::image2d),
                       ::testing::Values(DataType::f16, DataType::f32), ::testing::Bool()));

TEST(PlanExecutor, RepeatedStreamingRunsGiveTheSameOutput) {
  for (Placement placement : {Placement::buffer, Placement::image2d}) {
    NetworkOptions options;
    options.weights = placement;
    options.stream = true;
    const SmallNetwork network(options);
    const Outcome once = execute(network), thrice = execute(network, {3, std::nullopt});
    EXPECT_EQ(once.y, thrice.y);
    EXPECT_EQ(once.memory.peak, thrice.memory.peak);
  }
}

TEST(PlanExecutor, PreloadsThatAreReleasedAreThereAgainForTheNextRun) {
  for (Placement placement : {Placement::buffer, Placement::image2d}) {
    for (const int ahead : {1, 2, 4}) {
      NetworkOptions options;
      options.weights = placement;
      options.stream = true;
      const std::vector<float> streamed = execute(SmallNetwork(options)).y;
      options.ahead = ahead;
      const SmallNetwork network(options);
      EXPECT_EQ(execute(network).y, streamed);
      const Outcome thrice = execute(network, {3, std::nullopt});
      EXPECT_EQ(thrice.y, streamed);
      EXPECT_EQ(thrice.memory.peak_by_class.preloaded, Bytes(0));
    }
  }
}

TEST(PlanExecutor, PlacementAndPolicyDoNotChangeABit) {
  NetworkOptions options;
  const std::vector<float> preloaded = execute(SmallNetwork(options)).y;
  options.stream = true;
  EXPECT_EQ(execute(SmallNetwork(options)).y, preloaded);
  options.weights = Placement::image2d;
  const std::vector<float> streamed_images = execute(SmallNetwork(options)).y;
  options.stream = false;
  EXPECT_EQ(execute(SmallNetwork(options)).y, streamed_images);
}

TEST(PlanExecutor, PreloadingTakesWhatPlannersCountForIt) {
  for (const Placement placement : {Placement::buffer, Placement::image2d}) {
    NetworkOptions options;
    options.weights = placement;
    const SmallNetwork network(options);
    const Outcome outcome = execute(network);
    EXPECT_EQ(outcome.memory.peak, preloading_bytes(network.plan()));
    EXPECT_EQ(preload_ring(network.plan()) > Bytes(0), placement == Placement::image2d);
  }
}

/// Every model's output, by the model's reference.
void expect_each_model_right(const test::QueueNetwork& queue, std::size_t runs) {
  const TemporaryFolder folder;
  queue.write_weights(folder.file("w.fmw"));
  const Plan& plan = queue.plan();
  const WeightsIndex index = open_weights_for(plan, folder.file("w.fmw"));
  PlanExecutor executor(plan, index, folder.file("w.fmw"), select_device(""), {std::nullopt, ""});
  for (std::size_t run = 0; run < runs; ++run) {
    executor.poison();
    for (std::size_t m = 0; m < plan.models.size(); ++m) {
      const PlanTensor& x = plan.tensor(test::QueueNetwork::name_of(m) + "_x");
      executor.write_input(x, to_device_bytes(x, {x.shape, queue.network(m).input()}));
    }
    executor.run(ignore_progress);
    for (std::size_t m = 0; m < plan.models.size(); ++m) {
      const PlanTensor& y = plan.tensor(test::QueueNetwork::name_of(m) + "_y");
      const SmallNetwork& network = queue.network(m);
      EXPECT_LE(relative_error(from_device_bytes(y, executor.read_tensor(y)).values,
                               network.reference(network.input())),
                1e-5)
          << "model " << m;
    }
  }
}

TEST(PlanExecutor, RunsAQueueOfModelsAndReadsSharedSlicesForEach) {
  for (const Placement placement : {Placement::buffer, Placement::image2d}) {
    for (const bool stream : {false, true}) {
      NetworkOptions first, second;
      first.weights = second.weights = placement;
      first.stream = second.stream = stream;
      second.seed = 77;
      second.layers = 3;
      const test::QueueNetwork queue(
          {SmallNetwork(first), SmallNetwork(second), SmallNetwork(first)});
      const Plan& plan = queue.plan();
      EXPECT_EQ(plan.weights.back().file_offset, plan.weights[7].file_offset);
      expect_each_model_right(queue, 2);
    }
  }
}

TEST(PlanExecutor, AnyRingChunkAndLookaheadGiveTheSameOutput) {
  NetworkOptions options;
  options.layers = 6;
  options.weights = Placement::image2d;
  const std::vector<float> expected = execute(SmallNetwork(options)).y;
  options.stream = true;
  for (std::uint64_t chunk : {100u, 768u, 4096u, 9216u}) {
    for (std::uint64_t ring : {9216u, 16384u, 100000u}) {
      for (int ahead : {1, 2, 5}) {
        for (bool split : {false, true}) {
          options.chunk = Bytes(chunk);
          options.ring = Bytes(ring);
          options.enqueue_ahead = ahead;
          options.split_copies = split;
          EXPECT_EQ(execute(SmallNetwork(options)).y, expected)
              << "chunk " << chunk << ", ring " << ring << ", ahead " << ahead;
        }
      }
    }
  }
}

NetworkOptions streaming_inside(std::uint64_t seed) {
  NetworkOptions options;
  options.layers = 7;
  options.weights = Placement::image2d;
  options.stream = true;
  options.streams = 1 + static_cast<int>(seed % 4);
  options.seed = seed;
  options.chunk = Bytes(std::array<std::uint64_t, 4>{100, 768, 2048, 9216}[seed / 4 % 4]);
  options.ring = Bytes(std::array<std::uint64_t, 3>{9216, 16384, 100000}[seed % 3]);
  options.enqueue_ahead = 1 + static_cast<int>(seed % 3);
  options.activations = seed % 2 == 0 ? Placement::image2d : Placement::buffer;
  options.storage = seed % 5 == 0 ? DataType::f16 : DataType::f32;
  return options;
}

/// Bytes that plan moves inside kernels.
Bytes moved_inside(const Plan& plan) {
  Bytes bytes;
  for (const PlanLaunch& launch : plan.launches) {
    for (const WeightStream& stream : streams_in(plan, launch)) {
      bytes += stream.rows.row_bytes * stream.rows.count;
    }
  }
  return bytes;
}

TEST(PlanExecutor, AnySplitOfWeightsOverKernelsGivesTheSameOutput) {
  Bytes moved, streamed;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const NetworkOptions options = streaming_inside(seed);
    const SmallNetwork inside(options);
    NetworkOptions preloaded = options;
    preloaded.stream = false;
    preloaded.streams = 0;
    EXPECT_EQ(execute(inside, {2, std::nullopt}).y, execute(SmallNetwork(preloaded)).y)
        << "seed " << seed;
    moved += moved_inside(inside.plan());
    for (const WeightSlice& slice : inside.plan().weights) {
      if (!slice.transforms.empty()) streamed += slice.bytes;
    }
  }
  EXPECT_GT(moved, streamed / 2) << "most of what is streamed moves inside kernels";
}

TEST(PlanExecutor, ImagesExistFromTheFirstLaunchThatFillsThem) {
  const SmallNetwork network(streaming_inside(6));
  const Outcome outcome = execute(network);
  std::map<std::uint64_t, std::string> images;  // object -> weight
  std::set<std::string> filled;
  for (const trace::HostOperation& operation : outcome.operations) {
    if (operation.has_create() && operation.create().memory_class() == trace::TM_IN_FLIGHT) {
      images[operation.create().object()] = operation.create().name();
    }
    if (!operation.has_launch()) continue;
    const PlanLaunch& launch = network.plan().launch(operation.launch().launch());
    for (const WeightStream& stream : streams_in(network.plan(), launch)) {
      filled.insert(network.plan().weights[stream.weight].tensor);
    }
    for (const WeightSlice& slice : network.plan().weights) {
      for (const WeightTransform& transform : slice.transforms) {
        if (transform.launch == launch.id) {
          EXPECT_EQ(filled.count(slice.tensor), 1u);
        }
      }
    }
    const std::size_t own = launch.arguments.size();
    std::size_t destinations = 0;
    for (const trace::Argument& argument : operation.launch().arguments()) {
      destinations += argument.index() >= own && images.count(argument.object()) == 1;
    }
    EXPECT_EQ(destinations, static_cast<std::size_t>(stream_slots(launch)));
  }
  EXPECT_FALSE(filled.empty());
  const MemoryClaims last = outcome.memory.over_time.back().claims;
  EXPECT_EQ(last.tm_in_flight, Bytes(0));
  EXPECT_EQ(last.um_in_flight, Bytes(0));
}

TEST(PlanExecutor, AccountsMemoryByClass) {
  NetworkOptions options;
  options.layers = 8;
  const Bytes weight(48 * 48 * 4), bias(48 * 4);
  const Bytes activations = SmallNetwork(options).plan().pools.at(0).bytes;

  const MemoryClaims preloaded = execute(SmallNetwork(options)).memory.peak_by_class;
  EXPECT_EQ(preloaded.preloaded, (weight + bias) * 8);
  EXPECT_EQ(preloaded.activations, activations);
  EXPECT_EQ(preloaded.um_in_flight, Bytes(0));
  EXPECT_EQ(preloaded.staging, Bytes(0));

  options.stream = true;
  options.enqueue_ahead = 1;
  const ResultMemory streamed = execute(SmallNetwork(options)).memory;
  EXPECT_EQ(streamed.peak_by_class.preloaded, Bytes(0));
  // The launch's own weights and those read for the next.
  EXPECT_EQ(streamed.peak_by_class.um_in_flight, (weight + bias) * 2);
  EXPECT_EQ(streamed.peak, activations + (weight + bias) * 2);
  // At the end all streamed weights are gone.
  EXPECT_EQ(streamed.over_time.back().claims.um_in_flight, Bytes(0));

  options.weights = Placement::image2d;
  const Bytes ring = schedule_reads(SmallNetwork(options).plan()).ring;
  const ResultMemory images = execute(SmallNetwork(options)).memory;
  EXPECT_EQ(images.peak_by_class.staging, ring);
  EXPECT_GE(images.peak_by_class.tm_in_flight, weight);
  EXPECT_LE(images.peak_by_class.tm_in_flight, weight * 2);
  for (const MemorySample& sample : images.over_time) {
    EXPECT_LE(sample.claims.um_in_flight + sample.claims.staging, ring + bias * 2);
  }
  EXPECT_EQ(images.over_time.back().claims.staging, ring);
}

/// Position of each launch operation in the log, by plan launch id.
std::map<std::string, std::size_t> launch_positions(const Outcome& outcome) {
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < outcome.operations.size(); ++i) {
    if (outcome.operations[i].has_launch()) {
      positions[outcome.operations[i].launch().launch()] = i;
    }
  }
  return positions;
}

TEST(PlanExecutor, AtMostEnqueueAheadLaunchesAreUnfinished) {
  NetworkOptions options;
  options.layers = 7;
  options.stream = true;
  options.enqueue_ahead = 3;
  const Outcome outcome = execute(SmallNetwork(options));
  std::size_t unfinished = 0, most = 0;
  std::map<std::uint64_t, bool> is_launch;
  for (const trace::HostOperation& operation : outcome.operations) {
    is_launch[operation.id()] = operation.has_launch();
    if (operation.has_launch()) most = std::max(most, ++unfinished);
    if (operation.has_wait() && operation.after_size() == 1 && is_launch[operation.after(0)]) {
      --unfinished;
    }
  }
  EXPECT_EQ(unfinished, 0u);
  EXPECT_EQ(most, 3u);
}

TEST(PlanExecutor, ReadsStartWhenTheirEarliestLaunchDoes) {
  NetworkOptions options;
  options.layers = 6;
  options.stream = true;
  const Outcome outcome = execute(SmallNetwork(options));
  const std::map<std::string, std::size_t> launches = launch_positions(outcome);
  std::size_t reads = 0;
  for (std::size_t i = 0; i < outcome.operations.size(); ++i) {
    const trace::HostOperation& operation = outcome.operations[i];
    if (!operation.has_disk_read()) continue;
    ++reads;
    const int layer = std::stoi(operation.disk_read().weight().substr(1));
    // L(layer - 1) starts when L(layer - 2) has ended.
    if (layer < 2) continue;
    const trace::HostOperation& before =
        outcome.operations[launches.at("L" + std::to_string(layer - 2))];
    EXPECT_GE(operation.measured().started(), before.measured().ended());
    EXPECT_GT(i, launches.at("L" + std::to_string(layer - 2)));
  }
  EXPECT_EQ(reads, 12u);
}

TEST(PlanExecutor, FirstLaunchEndsBeforeTheLastReadOfASlowDisk) {
  NetworkOptions options;
  options.layers = 5;
  options.width = 64;
  options.stream = true;
  const SmallNetwork network(options);
  const Outcome outcome = execute(network, {1, 400e3});
  const trace::HostOperation& first = outcome.operations[launch_positions(outcome).at("L0")];
  std::uint64_t last_read = 0;
  for (const trace::HostOperation& operation : outcome.operations) {
    if (operation.has_disk_read()) last_read = operation.measured().started();
  }
  EXPECT_LT(first.measured().ended(), last_read);
  EXPECT_LE(relative_error(outcome.y, network.reference(network.input())), 1e-5);
}

TEST(PlanExecutor, PreloadsImagesThroughAReleasedRing) {
  NetworkOptions options;
  options.weights = Placement::image2d;
  options.layers = 3;
  const Outcome outcome = execute(SmallNetwork(options));
  EXPECT_GT(outcome.memory.peak_by_class.staging, Bytes(0));
  EXPECT_EQ(outcome.memory.over_time.back().claims.staging, Bytes(0));
  EXPECT_EQ(outcome.memory.peak_by_class.preloaded, Bytes(3 * (48 * 48 * 4 + 48 * 4)));
}

TEST(PlanExecutor, HostLogIsConsistent) {
  NetworkOptions options;
  options.weights = Placement::image2d;
  options.stream = true;
  options.split_copies = true;
  const Outcome outcome = execute(SmallNetwork(options));
  std::uint64_t last = 0;
  std::map<std::uint64_t, std::int64_t> alive;
  std::uint64_t copied = 0;
  for (const trace::HostOperation& operation : outcome.operations) {
    EXPECT_GT(operation.id(), last);
    last = operation.id();
    for (std::uint64_t cause : operation.after()) EXPECT_LT(cause, operation.id());
    EXPECT_LE(operation.measured().started(), operation.measured().ended());
    if (operation.has_create()) ++alive[operation.create().object()];
    if (operation.has_release()) --alive[operation.release().object()];
    if (operation.has_disk_read()) {
      EXPECT_EQ(alive[operation.disk_read().object()], 1);
    }
    if (operation.has_launch()) {
      for (const trace::Argument& argument : operation.launch().arguments()) {
        EXPECT_EQ(alive[argument.object()], 1);
      }
    }
    if (operation.has_copy()) copied += operation.copy().bytes();
  }
  EXPECT_EQ(copied, 4u * 48 * 48 * 4);
}

// ---- bad input
// -------------------------------------------------------------------------------------------------

TEST(PlanExecutor, FlippedBitInASliceIsNamed) {
  for (bool stream : {false, true}) {
    for (Placement placement : {Placement::buffer, Placement::image2d}) {
      NetworkOptions options;
      options.stream = stream;
      options.weights = placement;
      const SmallNetwork network(options);
      const TemporaryFolder folder;
      const std::string path = folder.file("w.fmw");
      network.write_weights(path);
      {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        const auto at =
            static_cast<std::streamoff>(network.plan().weights[4].file_offset.count() + 77);
        file.seekg(at);
        const char byte = static_cast<char>(file.get() ^ 1);
        file.seekp(at);
        file.put(byte);
      }
      const WeightsIndex index = open_weights_for(network.plan(), path);
      const auto run = [&] {
        PlanExecutor executor(network.plan(), index, path, select_device(""), {std::nullopt, ""});
        executor.run(ignore_progress);
      };
      EXPECT_THAT(run, ThrowsMessage<UserError>(AllOf(HasSubstr("w.fmw"), HasSubstr("/small/w2"),
                                                      HasSubstr("damaged"))));
    }
  }
}

TEST(PlanExecutor, AReplacedWeightsFileStopsTheRun) {
  for (Placement placement : {Placement::buffer, Placement::image2d}) {
    NetworkOptions options;
    options.stream = true;
    options.weights = placement;
    const SmallNetwork network(options);
    options.seed = 99;
    const TemporaryFolder folder;
    const std::string path = folder.file("w.fmw");
    network.write_weights(path);
    const WeightsIndex index = open_weights_for(network.plan(), path);
    PlanExecutor executor(network.plan(), index, path, select_device(""), {std::nullopt, ""});
    executor.run(ignore_progress);
    // Weights of the same plan, but other values: their own checksums would not be noticed.
    SmallNetwork(options).write_weights(path);
    EXPECT_THAT([&] { executor.run(ignore_progress); },
                ThrowsMessage<UserError>(AllOf(HasSubstr("w.fmw"), HasSubstr("replaced"))));
  }
}

TEST(PlanExecutor, WeightsThatEndEarlyAreNamed) {
  NetworkOptions options;
  const SmallNetwork network(options);
  const TemporaryFolder folder;
  const std::string path = folder.file("w.fmw");
  network.write_weights(path);
  const WeightsIndex index = open_weights_for(network.plan(), path);
  // The file shrinks after its index was read.
  std::filesystem::resize_file(path, network.plan().weights[4].file_offset.count() + 100);
  EXPECT_THAT(
      [&] {
        PlanExecutor(network.plan(), index, path, select_device(""), {std::nullopt, ""});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("w.fmw"), HasSubstr("truncated"))));
}

TEST(Schedule, RefusesChunksOutOfOrder) {
  NetworkOptions options;
  options.stream = true;
  options.weights = Placement::image2d;
  options.split_copies = true;
  SmallNetwork network(options);
  std::swap(network.plan().weights[0].transforms[0].launch,
            network.plan().weights[0].transforms[1].launch);
  EXPECT_THAT([&] { schedule_reads(network.plan()); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("w0"), HasSubstr("in order"))));
}

}  // namespace
}  // namespace fm
