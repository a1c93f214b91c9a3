// Queues of models: names, equal weights, orders, and plans within budgets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/figures_text.hpp"
#include "core/weights_file.hpp"
#include "planner/pack.hpp"
#include "planner/queue/equal_weights.hpp"
#include "planner/queue/queue_order.hpp"
#include "planner/queue/queue_policy.hpp"
#include "tests/core/error_message.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t width = 512;
constexpr std::uint64_t weight_bytes = width * width * 2;

/// `layers` products of width x width whose weights are named (and filled by) `prefix`.
ModelBuilder products(const std::string& prefix, int layers, std::int64_t rows = 16) {
  ModelBuilder model;
  model.input("x", {rows, static_cast<std::int64_t>(width)});
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    model.random_weight(prefix + n, {width, width});
    model.node("MatMul", {i == 0 ? "x" : "y" + std::to_string(i - 1), prefix + n}, {"y" + n});
  }
  model.output("y" + std::to_string(layers - 1));
  return model;
}

class Queue : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const ModelBuilder& model) {
    return model.write(folder_, name);
  }
  QueueDraft draft(const std::vector<std::string>& paths,
                   PlacementPolicy placement = PlacementPolicy::buffer) {
    PlanOptions options;
    options.placement = placement;
    return draft_queue(queue_entries(paths, {}, {}), config_, options, ProfileFiles{}, true);
  }
  QueuePlan planned(const QueueDraft& draft, const QueueRequest& request) {
    std::vector<std::size_t> order(draft.models.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const DeviceCosts costs(config_);
    return plan_queue(draft, equal_weights(draft), order, costs, request);
  }

  TemporaryFolder folder_;
  const DeviceConfig config_ = test_config();
};

Bytes peak_of(const Plan& plan) {
  Bytes peak;
  for (const PlanLaunch& launch : plan.launches) peak = std::max(peak, launch.claims.total());
  return peak;
}

std::uint64_t bytes_read(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const WeightSlice& slice : plan.weights) bytes += slice.bytes.count();
  return bytes;
}

std::uint64_t bytes_stored(const Plan& plan) {
  std::map<Bytes, Bytes> slices;
  for (const WeightSlice& slice : plan.weights) slices[slice.file_offset] = slice.bytes;
  std::uint64_t bytes = 0;
  for (const auto& [offset, size] : slices) bytes += size.count();
  return bytes;
}

TEST_F(Queue, ModelsAreNamedLikeTheirFiles) {
  const std::string a = file("a.onnx", products("a", 1)), b = file("b.onnx", products("b", 1));
  std::vector<std::string> names;
  for (const QueueEntry& entry : queue_entries({a, b, a, a}, {}, {})) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "a.2", "a.3"));
  EXPECT_THAT(user_error_of([] { queue_entries({}, {}, {}); }), HasSubstr("no models"));
  const TemporaryFolder other;
  const std::string same_name = products("c", 1).write(other, "a.onnx");
  EXPECT_THAT(user_error_of([&] {
                queue_entries({a, same_name}, {}, {});
              }),
              AllOf(HasSubstr("two models are named `a`"), HasSubstr(same_name)));
}

TEST_F(Queue, BindingsAreForOneModelOrAll) {
  const std::string a = file("a.onnx", products("a", 1)), b = file("b.onnx", products("b", 1));
  const auto entries = queue_entries({a, b}, {"a:x=1,2", "z=3"}, {"n=4", "b:m=5"});
  EXPECT_EQ(entries[0].bindings.inputs, (std::map<std::string, Shape>{{"x", {1, 2}}, {"z", {3}}}));
  EXPECT_EQ(entries[1].bindings.inputs, (std::map<std::string, Shape>{{"z", {3}}}));
  EXPECT_EQ(entries[0].bindings.dimensions, (std::map<std::string, std::int64_t>{{"n", 4}}));
  EXPECT_EQ(entries[1].bindings.dimensions,
            (std::map<std::string, std::int64_t>{{"n", 4}, {"m", 5}}));
}

TEST_F(Queue, WeightsAreEqualByContentsNotByName) {
  // b1 is a0 under another name; b0 is its own.
  ModelBuilder second = products("b", 2);
  const ModelBuilder first = products("a", 2);
  second.proto().mutable_graph()->mutable_initializer(1)->set_raw_data(
      first.proto().graph().initializer(0).raw_data());
  const QueueDraft queue = draft({file("a.onnx", first), file("b.onnx", second)});
  const auto groups = equal_weights(queue);
  ASSERT_EQ(groups.size(), 1u);
  const PricedPlan all = concatenated(queue, {0, 1});
  std::vector<std::string> names;
  for (const std::string& id : groups[0]) {
    names.push_back(all.plan.tensor(id).model + ":" + all.plan.tensor(id).name);
  }
  EXPECT_THAT(names, UnorderedElementsAre("a:a0", "b:b1"));
  // The same file twice: all weights, without a look at them.
  const std::string a = file("a.onnx", first);
  EXPECT_EQ(equal_weights(draft({a, a})).size(), 2u);
}

TEST_F(Queue, HeldWeightsAreOneAndOthersAreReadAgain) {
  const std::string a = file("a.onnx", products("a", 2));
  const QueueDraft queue = draft({a, a});
  const PricedPlan all = concatenated(queue, {0, 1});
  EXPECT_EQ(all.plan.weights.size(), 4u);
  const SharedWeights shared(all.plan, equal_weights(queue));
  ASSERT_EQ(shared.gaps().size(), 2u);
  for (const HoldGap& gap : shared.gaps()) {
    EXPECT_EQ(gap.until - gap.from, all.plan.launches.size() / 2);
    EXPECT_EQ(gap.bytes, Bytes(weight_bytes));
  }
  const Plan held = shared.joined({1, 1});
  EXPECT_EQ(held.weights.size(), 2u);
  EXPECT_EQ(bytes_read(held), 2 * weight_bytes);
  const Plan again = shared.joined({0, 0});
  EXPECT_EQ(again.weights.size(), 4u);
  EXPECT_EQ(bytes_read(again), 4 * weight_bytes);
  EXPECT_EQ(bytes_stored(again), 2 * weight_bytes);
  const Plan one = shared.joined({0, 1});
  EXPECT_EQ(bytes_read(one), 3 * weight_bytes);
  for (const PlanTensor& tensor : held.tensors) {
    if (tensor.role != TensorRole::weight) continue;
    EXPECT_EQ(held.launch(tensor.first_use).model, "a");
    EXPECT_EQ(held.launch(tensor.last_use).model, "a.2");
  }
  // What is preloaded for the first use is there for the second.
  Plan preloaded = again;
  for (WeightSlice& slice : preloaded.weights) slice.residency = Residency::stream;
  EXPECT_EQ(shared.held_with_preloads(preloaded, {0, 0}), (std::vector<char>{0, 0}));
  preloaded.weights[0].residency = Residency::preload;
  const auto wider = shared.held_with_preloads(preloaded, {0, 0});
  EXPECT_EQ(std::count(wider.begin(), wider.end(), 1), 1);
}

TEST_F(Queue, WeightsThatOverlapInTimeAreAlwaysOne) {
  // One content under two names, used in turn: never two copies at once.
  ModelBuilder model = products("a", 3);
  auto* initializers = model.proto().mutable_graph()->mutable_initializer();
  initializers->Mutable(2)->set_raw_data(initializers->Get(0).raw_data());
  const QueueDraft queue = draft({file("a.onnx", model), file("b.onnx", products("b", 1))});
  const PricedPlan all = concatenated(queue, {0, 1});
  const auto groups = equal_weights(queue);
  ASSERT_EQ(groups.size(), 1u);
  const SharedWeights shared(all.plan, groups);
  EXPECT_EQ(shared.gaps().size(), 1u);  // a0 .. a2, with a1 between
  std::vector<std::vector<std::string>> overlapping = groups;
  Plan plan = all.plan;
  for (PlanTensor& tensor : plan.tensors) {
    if (tensor.id == groups[0][0]) tensor.last_use = plan.launches.back().id;
  }
  EXPECT_THAT(SharedWeights(plan, groups).gaps(), IsEmpty());
}

TEST_F(Queue, HoldCandidatesGoFromNothingToEverything) {
  std::vector<HoldGap> gaps;
  for (std::size_t i = 0; i < 8; ++i) gaps.push_back({0, i, Bytes(100), i, i + 20 - i});
  const auto candidates = hold_candidates(gaps);
  EXPECT_THAT(candidates, testing::Contains(std::vector<char>(8, 0)));
  EXPECT_THAT(candidates, testing::Contains(std::vector<char>(8, 1)));
  EXPECT_THAT(candidates, testing::Contains(std::vector<char>{1, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_THAT(candidates, testing::Contains(std::vector<char>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(hold_candidates({}).size(), 1u);
}

/// Sum of completion times in every order, by the eager reading of the whole queue.
TEST_F(Queue, ShortestFirstHasTheLeastSumOfCompletionsWhereLaunchesTakeTheTime) {
  const QueueDraft queue =
      draft({file("a.onnx", products("a", 3)), file("b.onnx", products("b", 1)),
             file("c.onnx", products("c", 4)), file("d.onnx", products("d", 2))});
  QueueDraft slow = queue;
  for (PricedPlan& model : slow.models) {
    for (LaunchProfile& launch : model.launches) launch.time = Nanoseconds(50000000);
  }
  const DeviceCosts costs(config_);
  const auto sum = [&](const std::vector<std::size_t>& order) {
    const PricedPlan all = concatenated(slow, order);
    const OverlapModel model(all.plan, all.launches, costs);
    std::uint64_t total = 0;
    for (const Nanoseconds time : eager_completions(model, std::nullopt)) total += time.count();
    return total;
  };
  const auto times = processing_times(slow, costs, std::nullopt);
  const std::vector<std::size_t> shortest = queue_order(QueueOrder::srpt, times);
  EXPECT_THAT(shortest, ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(queue_order(QueueOrder::fifo, times), ElementsAre(0, 1, 2, 3));
  std::vector<std::size_t> order{0, 1, 2, 3};
  std::uint64_t least = sum(order);
  while (std::next_permutation(order.begin(), order.end())) least = std::min(least, sum(order));
  EXPECT_EQ(sum(shortest), least);
  EXPECT_THAT(user_error_of([] { queue_order_from("lifo"); }),
              AllOf(HasSubstr("--order"), HasSubstr("srpt")));
}

TEST_F(Queue, EqualTimesKeepTheGivenOrder) {
  const std::vector<Nanoseconds> times{Nanoseconds(3), Nanoseconds(1), Nanoseconds(3),
                                       Nanoseconds(1)};
  EXPECT_THAT(queue_order(QueueOrder::srpt, times), ElementsAre(1, 3, 0, 2));
}

class QueueInPlacement : public Queue, public testing::WithParamInterface<PlacementPolicy> {};

TEST_P(QueueInPlacement, ClaimsStayWithinEveryBudget) {
  const std::string a = file("a.onnx", products("a", 4));
  const QueueDraft queue = draft({a, file("b.onnx", products("b", 3)), a}, GetParam());
  QueueRequest request;
  request.overlap.minimize_memory = true;
  request.overlap.slowdown = 100;
  const Bytes least = planned(queue, request).overlap->minimum.bytes;
  request = {};
  Nanoseconds before(~std::uint64_t{0});
  for (const std::uint64_t percent : {100, 130, 200, 400}) {
    request.overlap.budget = Bytes(least.count() * percent / 100);
    const QueuePlan result = planned(queue, request);
    EXPECT_LE(peak_of(result.plan), *request.overlap.budget) << percent;
    EXPECT_LE(result.overlap->predicted, before) << percent;
    before = result.overlap->predicted;
    EXPECT_EQ(bytes_stored(result.plan), 7 * weight_bytes) << percent;
    EXPECT_EQ(result.held + result.read_again, Bytes(4 * weight_bytes));
    // Completions are those of the models in their order.
    ASSERT_EQ(result.completions.size(), 3u);
    EXPECT_LT(result.completions[0], result.completions[1]);
    EXPECT_LT(result.completions[1], result.completions[2]);
    EXPECT_EQ(result.completions[2], result.overlap->predicted);
  }
}

TEST_P(QueueInPlacement, TheSameModelTwiceIsReadOnceWhereMemoryAllows) {
  const std::string a = file("a.onnx", products("a", 6));
  const QueueDraft queue = draft({a, a}, GetParam());
  QueueRequest request;
  request.overlap.budget = Bytes(64 << 20);
  const QueuePlan roomy = planned(queue, request);
  EXPECT_EQ(bytes_read(roomy.plan), 6 * weight_bytes);
  EXPECT_EQ(roomy.read_again, Bytes(0));
  request.overlap.budget = peak_of(roomy.plan) * 2 / 3;
  const QueuePlan tight = planned(queue, request);
  EXPECT_GT(bytes_read(tight.plan), 6 * weight_bytes);
  EXPECT_EQ(bytes_stored(tight.plan), 6 * weight_bytes);
  EXPECT_GE(tight.overlap->predicted, roomy.overlap->predicted);
}

TEST_P(QueueInPlacement, ARefusedBudgetNamesTheModelAndOneThatDoes) {
  const QueueDraft queue =
      draft({file("a.onnx", products("a", 2)), file("b.onnx", products("b", 2, 4096))}, GetParam());
  QueueRequest request;
  request.overlap.budget = Bytes(1 << 20);
  const std::string message = user_error_of([&] { planned(queue, request); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("--budget 1.00 MiB: at least "), HasSubstr("held by launch")));
  const std::size_t from = message.find("(--budget ") + 10;
  const std::string least = message.substr(from, message.find(") are needed") - from);
  request.overlap.budget = Bytes(
      static_cast<std::uint64_t>(parse_quantity(least, QuantityKind::bytes, {"least", 0, 0})));
  EXPECT_LE(peak_of(planned(queue, request).plan), *request.overlap.budget) << message;
}

INSTANTIATE_TEST_SUITE_P(Placements, QueueInPlacement,
                         testing::Values(PlacementPolicy::buffer, PlacementPolicy::image2d));

TEST_F(Queue, ThePeakIsHeldByTheModelThatNeedsIt) {
  // b's weights are wider: the least budget is hers wherever she runs.
  ModelBuilder wide;
  wide.input("x", {16, 512}).random_weight("w", {512, 4096}).node("MatMul", {"x", "w"}, {"y"});
  wide.output("y");
  const QueueDraft queue = draft(
      {file("a.onnx", products("a", 3)), file("b.onnx", wide), file("c.onnx", products("c", 3))});
  QueueRequest request;
  request.overlap.budget = Bytes(1 << 20);
  EXPECT_THAT(user_error_of([&] { planned(queue, request); }), HasSubstr("of model b"));
}

TEST_F(Queue, TheNextModelsFirstWeightsComeDuringTheOneBefore) {
  const QueueDraft queue =
      draft({file("a.onnx", products("a", 4, 2048)), file("b.onnx", products("b", 4, 2048))});
  QueueRequest request;
  request.overlap.budget = Bytes(22 << 20);
  const QueuePlan result = planned(queue, request);
  std::size_t streamed = 0;
  for (const WeightSlice& slice : result.plan.weights) {
    if (result.plan.tensor(slice.tensor).name != "b0") continue;
    streamed += slice.residency == Residency::stream ? 1 : 0;
    EXPECT_TRUE(slice.earliest_launch.empty() ||
                result.plan.launch(slice.earliest_launch).model == "a");
  }
  EXPECT_EQ(streamed, 1u);
  // The second one's first reads are hidden behind the first one's launches.
  const DeviceCosts costs(config_);
  const PricedPlan all = concatenated(queue, {0, 1});
  const OverlapModel model(all.plan, all.launches, costs);
  const auto together = eager_completions(model, std::nullopt);
  const auto alone = processing_times(queue, costs, std::nullopt);
  EXPECT_EQ(together[0], alone[0]);
  // Alone, launches before its first product hide a part of it.
  Nanoseconds wait = costs.read_time(Bytes(weight_bytes));
  for (std::size_t k = 0; queue.models[1].plan.launches[k].macs == 0; ++k) {
    wait -= queue.models[1].launches[k].time;
  }
  EXPECT_GT(wait, Nanoseconds(0));
  EXPECT_EQ(together[1] + wait, alone[0] + alone[1]);
}

TEST_F(Queue, OtherPoliciesPlanQueuesToo) {
  const std::string a = file("a.onnx", products("a", 3));
  const QueueDraft queue = draft({a, file("b.onnx", products("b", 2)), a});
  QueueRequest request;
  request.policy = "always-next";
  request.streaming = StreamingPolicy::always_next;
  const QueuePlan all_held = planned(queue, request);
  EXPECT_EQ(bytes_read(all_held.plan), 5 * weight_bytes);
  EXPECT_EQ(all_held.completions.size(), 3u);
  request.overlap.budget = peak_of(all_held.plan) - Bytes(1);
  const QueuePlan leaner = planned(queue, request);
  EXPECT_LE(peak_of(leaner.plan), *request.overlap.budget);
  EXPECT_GT(leaner.read_again, Bytes(0));
  request.policy = "preload";
  request.streaming = StreamingPolicy::preload;
  request.overlap.budget = Bytes(5 * weight_bytes);
  EXPECT_THAT(user_error_of([&] { planned(queue, request); }),
              AllOf(HasSubstr("policy preload needs"), HasSubstr("of model")));
  request.policy = "lc-opg";
  request.overlap.budget = Bytes(64 << 20);
  EXPECT_EQ(planned(queue, request).plan.policy, "lc-opg");
}

TEST_F(Queue, OneFileHasTheWeightsOfAll) {
  const ModelBuilder first = products("a", 2), second = products("b", 2);
  const std::string a = file("a.onnx", first), b = file("b.onnx", second);
  const QueueDraft queue = draft({a, b, a});
  QueueRequest request;
  request.overlap.minimize_memory = true;
  request.overlap.slowdown = 100;
  const Plan plan = planned(queue, request).plan;
  const std::string packed = folder_.file("q.fmw");
  pack_weights(plan, {b, a}, packed);
  const WeightsIndex index = open_weights_for(plan, packed);
  const std::string contents = contents_of(packed);
  std::size_t compared = 0;
  for (const ModelBuilder* model : {&first, &second}) {
    for (const auto& tensor : model->proto().graph().initializer()) {
      for (const WeightsIndexEntry& entry : index.entries) {
        if (entry.name != tensor.name()) continue;
        const auto values =
            unpack(entry.layout, entry.dtype, entry.shape,
                   reinterpret_cast<const std::uint8_t*>(contents.data()) + entry.offset.count());
        const auto* raw = reinterpret_cast<const float*>(tensor.raw_data().data());
        for (std::size_t i = 0; i < values.size(); i += 97) {
          ASSERT_EQ(values[i], float_from_half(half_from_float(raw[i])));
        }
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, plan.weights.size());
  EXPECT_THAT(user_error_of([&] { pack_weights(plan, {a}, packed); }),
              AllOf(HasSubstr("b.onnx"), HasSubstr("is missing")));
  const std::string other = file("other.onnx", products("o", 2));
  EXPECT_THAT(user_error_of([&] {
                pack_weights(plan, {a, b, other}, packed);
              }),
              AllOf(HasSubstr("other.onnx"), HasSubstr("is not the model of the plan")));
}

}  // namespace
}  // namespace fm
