// The parts of the streamer on their own: reader, ring, schedule, memory accounting.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "core/diagnostics.hpp"
#include "executor/streamer/gathered_rows.hpp"
#include "executor/streamer/read_schedule.hpp"
#include "executor/streamer/staging_ring.hpp"
#include "executor/streamer/weights_reader.hpp"
#include "tests/core/error_message.hpp"
#include "tests/executor/small_network.hpp"

namespace fm {
namespace {

using test::NetworkOptions;
using test::SmallNetwork;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::atomic<bool> never_stop{false};

std::string file_of(const TemporaryFolder& folder, const std::vector<std::uint8_t>& bytes) {
  const std::string path = folder.file("bytes");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return path;
}

std::vector<std::uint8_t> pattern(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  return bytes;
}

TEST(WeightsReader, ReadsAnyRangeIntoAnyAlignment) {
  const TemporaryFolder folder;
  const std::vector<std::uint8_t> bytes = pattern((3 << 20) + 123);
  WeightsReader reader(file_of(folder, bytes), std::nullopt);
  EXPECT_EQ(reader.file_bytes(), Bytes(bytes.size()));
  std::vector<std::uint8_t> memory(bytes.size() + 8192);
  auto* aligned = reinterpret_cast<std::uint8_t*>(
      round_up(reinterpret_cast<std::uintptr_t>(memory.data()), 4096));
  for (std::size_t shift : {0u, 16u}) {
    for (auto [offset, size] : {std::pair<std::size_t, std::size_t>{0, bytes.size()},
                                {4096, 4096},
                                {4096, 5000},
                                {8192, 2 << 20},
                                {12345, 99999},
                                {4096, 1}}) {
      std::fill(memory.begin(), memory.end(), std::uint8_t{0xee});
      std::uint8_t* to = aligned + shift;
      reader.read(Bytes(offset), Bytes(size), to, never_stop);
      EXPECT_TRUE(std::equal(to, to + size, bytes.begin() + static_cast<std::ptrdiff_t>(offset)))
          << offset << " + " << size;
      if (to + size < memory.data() + memory.size()) {
        EXPECT_EQ(to[size], 0xee);
      }
    }
  }
}

TEST(WeightsReader, SaysWhereAFileEnds) {
  const TemporaryFolder folder;
  WeightsReader reader(file_of(folder, pattern(5000)), std::nullopt);
  std::vector<std::uint8_t> memory(8192);
  EXPECT_THAT([&] { reader.read(Bytes(4096), Bytes(2000), memory.data(), never_stop); },
              ThrowsMessage<UserError>(testing::AllOf(HasSubstr("truncated"), HasSubstr("5000"))));
}

/// Pages of the file that lie in the page cache.
std::size_t cached_pages(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const std::size_t bytes = std::filesystem::file_size(path);
  void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  close(descriptor);
  std::vector<unsigned char> states((bytes + 4095) / 4096);
  mincore(mapped, bytes, states.data());
  munmap(mapped, bytes);
  return static_cast<std::size_t>(
      std::count_if(states.begin(), states.end(), [](unsigned char state) { return state & 1; }));
}

/// False on file systems that live in memory.
bool drop_pages(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  fsync(descriptor);  // pages not yet on disk stay
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  close(descriptor);
  return cached_pages(path) == 0;
}

TEST(WeightsReader, RowsAreReadToTheFirstOfTheirPlacesAndLeaveNoPages) {
  const TemporaryFolder folder;
  const std::vector<std::uint8_t> bytes = pattern(100'000);
  const std::string path = file_of(folder, bytes);
  const bool can_drop = drop_pages(path);
  WeightsReader reader(path, std::nullopt);
  std::vector<std::uint8_t> memory(5 * 1000, 0xee);
  // Two rows of one page, one across pages, the file's last.
  const std::vector<RowRead> rows = {
      {Bytes(8200), {3}}, {Bytes(9300), {0, 4}}, {Bytes(40'000), {1}}, {Bytes(99'000), {2}}};
  reader.read_rows(rows, Bytes(1000), memory.data(), never_stop);
  for (const RowRead& row : rows) {
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(row.file_offset.count());
    EXPECT_TRUE(std::equal(from, from + 1000, memory.data() + 1000 * row.rows[0]));
  }
  EXPECT_EQ(memory[4000], 0xee);
  if (can_drop) {
    EXPECT_EQ(cached_pages(path), 0u);
  }
}

TEST(WeightsReader, SaysWhereAFileEndsInsideARow) {
  const TemporaryFolder folder;
  WeightsReader reader(file_of(folder, pattern(5000)), std::nullopt);
  std::vector<std::uint8_t> memory(1000);
  EXPECT_THAT(
      [&] {
        reader.read_rows({{Bytes(4500), {0}}}, Bytes(1000), memory.data(), never_stop);
      },
      ThrowsMessage<UserError>(testing::AllOf(HasSubstr("truncated"), HasSubstr("5000"))));
}

TEST(WeightsReader, NoticesAFileThatIsRewrittenReplacedOrRemoved) {
  const auto error_after = [](const std::function<void(const std::string&)>& change) {
    const TemporaryFolder folder;
    const std::string path = file_of(folder, pattern(9000));
    WeightsReader reader(path, std::nullopt);
    std::vector<std::uint8_t> memory(8192);
    reader.read(Bytes(0), Bytes(4096), memory.data(), never_stop);
    change(path);
    return user_error_of([&] { reader.read(Bytes(0), Bytes(4096), memory.data(), never_stop); });
  };
  EXPECT_EQ(error_after([](const std::string&) {}), "");
  EXPECT_THAT(error_after([](const std::string& path) {
                std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
                file.put('x');
                file.close();
                std::filesystem::last_write_time(
                    path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
              }),
              HasSubstr("changed or replaced"));
  EXPECT_THAT(error_after([](const std::string& path) {
                std::filesystem::copy_file(path, path + ".new");
                std::filesystem::rename(path + ".new", path);
              }),
              HasSubstr("changed or replaced"));
  EXPECT_THAT(error_after([](const std::string& path) { std::filesystem::remove(path); }),
              HasSubstr("removed"));
}

/// A plan of a table in two parts of 3 and 4 rows of 8 halves, and a gather of 5 rows of it.
Plan gather_plan() {
  Plan plan;
  for (std::int64_t rows : {3, 4}) {
    PlanTensor part;
    part.id = "part" + std::to_string(rows), part.role = TensorRole::weight;
    part.shape = {rows, 8}, part.layout = Layout::rows;
    part.bytes = storage_bytes(part.layout, part.dtype, part.shape);
    plan.tensors.push_back(part);
    WeightSlice slice;
    slice.tensor = part.id, slice.bytes = part.bytes;
    slice.file_offset = Bytes(rows == 3 ? 4096 : 8192);
    plan.weights.push_back(slice);
  }
  PlanTensor ids;
  ids.id = "ids", ids.name = "tokens", ids.role = TensorRole::input, ids.dtype = DataType::i32;
  ids.shape = {5};
  PlanTensor rows;
  rows.id = "rows", rows.role = TensorRole::gathered, rows.shape = {5, 8};
  plan.tensors.push_back(ids);
  plan.tensors.push_back(rows);
  plan.gathers = {{"rows", "ids", {"part3", "part4"}, ""}};
  return plan;
}

TEST(GatheredRows, EachRowIsReadOnceByItsPlaceInTheFile) {
  const Plan plan = gather_plan();
  const std::vector<RowRead> reads = row_reads(plan, plan.gathers[0], {6, 2, 0, -1, 3});
  ASSERT_EQ(reads.size(), 4u);
  const std::vector<std::pair<std::uint64_t, std::vector<std::size_t>>> expected = {
      {4096, {2}}, {4096 + 32, {1}}, {8192, {4}}, {8192 + 48, {0, 3}}};
  for (std::size_t i = 0; i < reads.size(); ++i) {
    EXPECT_EQ(reads[i].file_offset, Bytes(expected[i].first));
    EXPECT_EQ(reads[i].rows, expected[i].second);
  }
  EXPECT_EQ(rows_indexed_by(plan, plan.tensor("ids")), 7);
  EXPECT_EQ(rows_indexed_by(plan, plan.tensor("rows")), 0);
}

TEST(GatheredRows, IndicesOutsideTheTableAreRefused) {
  const Plan plan = gather_plan();
  for (std::int32_t outside : {7, -8}) {
    EXPECT_THAT(
        [&] {
          row_reads(plan, plan.gathers[0], {0, outside});
        },
        ThrowsMessage<UserError>(
            AllOf(HasSubstr("tokens"), HasSubstr("position 1"), HasSubstr("7 rows"))));
  }
}

TEST(WeightsReader, StopsBetweenRequests) {
  const TemporaryFolder folder;
  WeightsReader reader(file_of(folder, pattern(5000)), std::nullopt);
  std::vector<std::uint8_t> memory(8192);
  const std::atomic<bool> stop{true};
  EXPECT_THROW(reader.read(Bytes(0), Bytes(5000), memory.data(), stop), DeviceError);
}

class Ring : public ::testing::Test {
 protected:
  /// An event that completes when the copy queue has filled a little buffer.
  OpenClEvent some_copy() {
    const std::uint32_t zero = 0;
    cl_event event = nullptr;
    check_opencl(opencl().clEnqueueFillBuffer(queue_.get(), scratch_.get(), &zero, sizeof zero, 0,
                                              64, 0, nullptr, &event),
                 "clEnqueueFillBuffer", "filling");
    flush(queue_);
    return OpenClEvent(event);
  }
  OpenClContext context_{select_device("")};
  OpenClQueue queue_ = create_queue(context_, "test");
  OpenClMemory scratch_ = create_buffer(context_, Bytes(64), CL_MEM_READ_WRITE, "scratch");
  HostRecorder recorder_;
};

TEST_F(Ring, LivePiecesNeverOverlap) {
  StagingRing ring(context_, Bytes(10000), recorder_);
  std::deque<RingPiece> live;
  std::mt19937 bits(3);
  Bytes in_flight;
  for (int i = 0; i < 1000; ++i) {
    // Two pieces of at most a quarter each leave a quarter free, wherever they lie: no claim waits.
    while (!live.empty() && bits() % 3 == 0) {
      ring.free(live.front().number, main_thread);
      in_flight -= live.front().bytes;
      live.pop_front();
    }
    const RingPiece piece = ring.claim(Bytes(1 + bits() % 2500), reader_thread(0), 0);
    in_flight += piece.bytes;
    EXPECT_LE(piece.offset + piece.bytes, ring.capacity());
    for (const RingPiece& other : live) {
      EXPECT_TRUE(piece.offset + piece.bytes <= other.offset ||
                  other.offset + other.bytes <= piece.offset);
    }
    live.push_back(piece);
    EXPECT_EQ(recorder_.memory(trace::UM_IN_FLIGHT), in_flight);
    EXPECT_EQ(recorder_.memory(trace::STAGING), ring.capacity() - in_flight);
    if (live.size() > 2) {
      ring.free(live.front().number, main_thread);
      in_flight -= live.front().bytes;
      live.pop_front();
    }
  }
}

TEST_F(Ring, ConsecutivePiecesAreDisjointUntilFreed) {
  StagingRing ring(context_, Bytes(10000), recorder_);
  const RingPiece a = ring.claim(Bytes(4000), reader_thread(0), 0);
  const RingPiece b = ring.claim(Bytes(6000), reader_thread(0), 0);
  EXPECT_EQ(a.offset, Bytes(0));
  EXPECT_EQ(b.offset, Bytes(4000));
  ring.copy_enqueued(a, some_copy(), 1);
  finish(queue_);
  ring.free(a.number, main_thread);
  const RingPiece c = ring.claim(Bytes(3999), reader_thread(0), 0);
  EXPECT_EQ(c.offset, Bytes(0));
}

TEST_F(Ring, AClaimWaitsForTheCopyOfTheOldestPiece) {
  StagingRing ring(context_, Bytes(8000), recorder_);
  const RingPiece first = ring.claim(Bytes(8000), reader_thread(0), 0);
  std::atomic<bool> claimed{false};
  std::thread reader([&] {
    ring.claim(Bytes(100), reader_thread(0), 0);
    claimed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(claimed);
  ring.copy_enqueued(first, some_copy(), 1);
  reader.join();
  EXPECT_TRUE(claimed);
}

/// In a replay another thread's copy may end later than the one that came after it here.
TEST_F(Ring, AClaimComesAfterTheOneBeforeAndAllThatMadeItsRoom) {
  StagingRing ring(context_, Bytes(8000), recorder_);
  const RingPiece first = ring.claim(Bytes(4000), reader_thread(0), 0);
  const RingPiece second = ring.claim(Bytes(4000), reader_thread(1), 0);
  const auto copy = [&](std::uint32_t thread, const RingPiece& piece) {
    const std::uint64_t operation = recorder_.note(thread, wait_operation());
    ring.copy_enqueued(piece, some_copy(), operation);
    return operation;
  };
  const std::uint64_t second_copy = copy(reader_thread(1), second);
  const std::uint64_t first_copy = copy(reader_thread(0), first);
  const std::uint64_t cause = recorder_.note(main_thread, wait_operation());
  const RingPiece both = ring.claim(Bytes(8000), reader_thread(1), cause);
  const trace::HostOperation& claim = recorder_.operations().at(both.claimed_by - 1);
  EXPECT_EQ(claim.id(), both.claimed_by);
  EXPECT_THAT(claim.after(),
              testing::UnorderedElementsAre(second.claimed_by, first_copy, second_copy, cause));
}

TEST_F(Ring, StopWakesWhoeverWaits) {
  StagingRing ring(context_, Bytes(8000), recorder_);
  ring.claim(Bytes(8000), reader_thread(0), 0);
  std::thread reader(
      [&] { EXPECT_THROW(ring.claim(Bytes(100), reader_thread(0), 0), DeviceError); });
  ring.stop();
  reader.join();
}

TEST_F(Ring, RefusesAPieceLargerThanItself) {
  StagingRing ring(context_, Bytes(8000), recorder_);
  EXPECT_THROW(ring.claim(Bytes(8001), reader_thread(0), 0), UserError);
}

TEST(Schedule, PartsCoverEveryStreamedImageOnceAndFitTheRing) {
  for (std::uint64_t chunk : {64u, 100u, 1000u, 4096u, 100000u}) {
    for (std::uint64_t ring : {9216u, 20000u, 1000000u}) {
      NetworkOptions options;
      options.stream = true;
      options.weights = Placement::image2d;
      options.split_copies = true;
      options.chunk = Bytes(chunk);
      options.ring = Bytes(ring);
      const Plan plan = SmallNetwork(options).plan();
      const ReadSchedule schedule = schedule_reads(plan);
      std::map<std::size_t, Bytes> next;
      std::size_t due = 0;
      for (const ReadPart& part : schedule.stream) {
        EXPECT_GE(part.due, due);
        due = part.due;
        EXPECT_EQ(part.begin, next[part.weight]);
        next[part.weight] = part.end;
        if (!part.staged) continue;
        EXPECT_EQ(part.end - part.begin, Bytes(48 * 4) * part.rows);
        EXPECT_LE(part.end - part.begin + staging_slack, schedule.ring);
        EXPECT_EQ(plan.launches[part.due].weight, plan.weights[part.weight].tensor);
      }
      for (std::size_t i = 0; i < plan.weights.size(); ++i) {
        EXPECT_EQ(next[i], plan.weights[i].bytes);
      }
    }
  }
}

TEST(MemoryAccountant, FollowsCreationsChangesAndReleases) {
  MemoryAccountant accountant;
  trace::CreateObject ring, weight;
  ring.set_object(1);
  ring.set_bytes(100);
  ring.set_memory_class(trace::STAGING);
  weight.set_object(2);
  weight.set_bytes(30);
  weight.set_memory_class(trace::TM_IN_FLIGHT);
  trace::ChangeClass change;
  change.set_object(1);
  change.set_from(trace::STAGING);
  change.set_to(trace::UM_IN_FLIGHT);
  change.set_bytes(40);

  accountant.create(ring, Nanoseconds(0));
  accountant.change(change, Nanoseconds(10));
  EXPECT_EQ(accountant.bytes(trace::STAGING), Bytes(60));
  EXPECT_EQ(accountant.bytes(trace::UM_IN_FLIGHT), Bytes(40));
  accountant.create(weight, Nanoseconds(20));
  accountant.release(2, Nanoseconds(30));
  const ResultMemory memory = accountant.summary(Nanoseconds(40));
  EXPECT_EQ(memory.peak, Bytes(130));
  EXPECT_EQ(memory.average, Bytes((100 * 20 + 130 * 10 + 100 * 10) / 40));
  EXPECT_EQ(memory.peak_by_class.staging, Bytes(100));
  EXPECT_EQ(memory.peak_by_class.um_in_flight, Bytes(40));
  EXPECT_EQ(memory.peak_by_class.tm_in_flight, Bytes(30));
  ASSERT_EQ(memory.over_time.size(), 4u);
  EXPECT_EQ(memory.over_time[3].claims.tm_in_flight, Bytes(0));
  accountant.release(1, Nanoseconds(50));
  EXPECT_EQ(accountant.total(), Bytes(0));
}

}  // namespace
}  // namespace fm
