#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/plan.hpp"
#include "tests/core/error_message.hpp"
#include "tests/core/random_plan.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

void expect_same(const PlanTensor& a, const PlanTensor& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.role, b.role);
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.layout, b.layout);
  EXPECT_EQ(a.placement, b.placement);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.pool, b.pool);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.first_use, b.first_use);
  EXPECT_EQ(a.last_use, b.last_use);
}

void expect_same(const WeightSlice& a, const WeightSlice& b) {
  EXPECT_EQ(a.tensor, b.tensor);
  EXPECT_EQ(a.file_offset, b.file_offset);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.residency, b.residency);
  EXPECT_EQ(a.earliest_launch, b.earliest_launch);
  EXPECT_EQ(a.release_after, b.release_after);
  ASSERT_EQ(a.transforms.size(), b.transforms.size());
  for (std::size_t i = 0; i < a.transforms.size(); ++i) {
    EXPECT_EQ(a.transforms[i].launch, b.transforms[i].launch);
    EXPECT_EQ(a.transforms[i].first_chunk, b.transforms[i].first_chunk);
    EXPECT_EQ(a.transforms[i].chunk_count, b.transforms[i].chunk_count);
  }
}

void expect_same(const LaunchArgument& a, const LaunchArgument& b) {
  ASSERT_EQ(a.index(), b.index());
  if (const auto* tensor = std::get_if<TensorArgument>(&a)) {
    EXPECT_EQ(tensor->tensor, std::get<TensorArgument>(b).tensor);
    EXPECT_EQ(tensor->write, std::get<TensorArgument>(b).write);
  } else if (const auto* number = std::get_if<IntArgument>(&a)) {
    EXPECT_EQ(number->value, std::get<IntArgument>(b).value);
  } else if (const auto* real = std::get_if<FloatArgument>(&a)) {
    EXPECT_EQ(real->value, std::get<FloatArgument>(b).value);
  } else {
    EXPECT_EQ(std::get<LocalArgument>(a).bytes, std::get<LocalArgument>(b).bytes);
  }
}

void expect_same(const PlanLaunch& a, const PlanLaunch& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.operation, b.operation);
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.global, b.global);
  EXPECT_EQ(a.local, b.local);
  EXPECT_EQ(a.depends, b.depends);
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.macs, b.macs);
  EXPECT_EQ(a.claims.preloaded, b.claims.preloaded);
  EXPECT_EQ(a.claims.um_in_flight, b.claims.um_in_flight);
  EXPECT_EQ(a.claims.tm_in_flight, b.claims.tm_in_flight);
  EXPECT_EQ(a.claims.activations, b.claims.activations);
  EXPECT_EQ(a.claims.staging, b.claims.staging);
  ASSERT_EQ(a.arguments.size(), b.arguments.size());
  for (std::size_t i = 0; i < a.arguments.size(); ++i) expect_same(a.arguments[i], b.arguments[i]);
}

void expect_same(const Pool& a, const Pool& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.placement, b.placement);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_TRUE(a.extent == b.extent);
  EXPECT_EQ(a.dtype, b.dtype);
}

void expect_same(const PlanModel& a, const PlanModel& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.file, b.file);
  EXPECT_EQ(a.digest, b.digest);
  EXPECT_EQ(a.opset, b.opset);
}

template <class Items>
void expect_same_items(const Items& a, const Items& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i]);
}

void expect_same(const Plan& a, const Plan& b) {
  EXPECT_EQ(a.generator, b.generator);
  EXPECT_EQ(a.config, b.config);
  EXPECT_EQ(a.policy, b.policy);
  EXPECT_EQ(a.storage, b.storage);
  EXPECT_EQ(a.accumulate, b.accumulate);
  EXPECT_EQ(a.chunk_bytes, b.chunk_bytes);
  EXPECT_EQ(a.weights_index_digest, b.weights_index_digest);
  EXPECT_EQ(a.staging_ring_bytes, b.staging_ring_bytes);
  EXPECT_EQ(a.enqueue_ahead, b.enqueue_ahead);
  EXPECT_EQ(a.unfused, b.unfused);
  expect_same_items(a.models, b.models);
  expect_same_items(a.pools, b.pools);
  expect_same_items(a.tensors, b.tensors);
  expect_same_items(a.weights, b.weights);
  expect_same_items(a.launches, b.launches);
}

TEST(PlanYaml, RandomPlansSurviveTheRoundTrip) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const Plan plan = RandomPlan(seed).make();
    const std::string yaml = to_yaml(plan);
    const Plan back = parse_plan(yaml, "plan.yaml");
    expect_same(plan, back);
    EXPECT_EQ(to_yaml(back), yaml);
    if (HasFailure()) FAIL() << "seed " << seed << "\n" << yaml;
  }
}

TEST(PlanYaml, FloatsKeepEveryBit) {
  Plan plan = RandomPlan(1).make();
  std::mt19937 random(5);
  std::vector<float> values{0.0F, 1e-45F, 3.4028235e38F, INFINITY, -INFINITY, 0.1F, 0.125F};
  for (int i = 0; i < 200; ++i) values.push_back(std::ldexp(static_cast<float>(random()), -60));
  for (const float value : values) plan.launches[0].arguments.emplace_back(FloatArgument{value});
  const Plan back = parse_plan(to_yaml(plan), "plan.yaml");
  expect_same(plan.launches[0], back.launches[0]);
}

TEST(PlanYaml, ReadsFromAFile) {
  const TemporaryFolder folder;
  const Plan plan = RandomPlan(3).make();
  write_file(folder.file("p.yaml"), to_yaml(plan));
  expect_same(read_plan(folder.file("p.yaml")), plan);
  EXPECT_THAT(user_error_of([&] { read_plan(folder.file("none.yaml")); }), HasSubstr("none.yaml"));
}

TEST(PlanYaml, LooksUpById) {
  const Plan plan = RandomPlan(3).make();
  EXPECT_EQ(&plan.tensor("t1"), &plan.tensors[1]);
  EXPECT_EQ(&plan.launch("L0"), &plan.launches[0]);
  EXPECT_THROW(plan.tensor("none"), std::out_of_range);
  EXPECT_THROW(plan.launch("none"), std::out_of_range);
}

/// A small plan as a person would write it.
const char* const small_plan = R"(plan: 1
generator: by hand
config: mali-g715
policy: preload
storage: f16
accumulate: f32
chunk_bytes: 64 KiB
staging_ring_bytes: 0 B
enqueue_ahead: 2
weights_index_digest: "xxh3:0"
models: [{name: m, file: m.onnx, digest: "xxh3:1", opset: 17}]
pools:
  - {id: p, placement: buffer, bytes: 1 KiB}
tensors:
  - {id: a, name: in, role: input, dtype: f16, shape: [4, 8], layout: rows, placement: buffer,
     bytes: 64 B, pool: p, first_use: L0, last_use: L0}
  - {id: b, name: out, role: output, dtype: f16, shape: [4, 8], layout: rows, placement: buffer,
     bytes: 64 B, pool: p, offset: 128 B, first_use: L0, last_use: L0}
weights: []
launches:
  - id: L0
    kind: kernel
    operation: Relu
    kernel: unary
    global: [2, 4, 1]
    local: [1, 1, 1]
    arguments: [{read: a}, {write: b}, {int: 2}]
    macs: 0
    claims: {preloaded: 0 B, um_in_flight: 0 B, tm_in_flight: 0 B, activations: 1 KiB, staging: 0 B}
)";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = small_plan;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string error_with(const std::string& from, const std::string& to) {
  const std::string text = replaced(from, to);
  return user_error_of([&] { parse_plan(text, "p.yaml"); });
}

TEST(PlanYaml, HandWrittenPlansAreRead) {
  const Plan plan = parse_plan(small_plan, "p.yaml");
  EXPECT_EQ(plan.tensors[1].offset, Bytes(128));
  EXPECT_EQ(plan.chunk_bytes, Bytes(65536));
  EXPECT_EQ(plan.launches[0].global, (std::array<std::uint64_t, 3>{2, 4, 1}));
}

TEST(PlanYaml, OtherVersionsAreRefusedByName) {
  EXPECT_THAT(error_with("plan: 1", "plan: 2"),
              HasSubstr("p.yaml:1:7: plan: the plan's version 2 is newer"));
  EXPECT_THAT(error_with("plan: 1", "plan: 0"), HasSubstr("version 0 is older"));
  EXPECT_THAT(error_with("plan: 1\n", ""), HasSubstr("not a plan"));
}

TEST(PlanYaml, ErrorsSayWhereAndWhatIsAccepted) {
  EXPECT_EQ(error_with("policy: preload", "polcy: preload"),
            "p.yaml:1:1: the key 'policy' is missing");
  EXPECT_THAT(error_with("role: input", "rolle: input"),
              HasSubstr("tensor 'a': the key 'role' is missing"));
  EXPECT_THAT(error_with("pool: p, first", "pol: p, first"),
              HasSubstr("p.yaml:16:19: tensor 'a': pol: unknown key: did you mean 'pool'?"));
  EXPECT_THAT(error_with("macs: 0", "macs: 0\n    colour: red"),
              HasSubstr("p.yaml:29:5: launch 'L0': colour: unknown key"));
  EXPECT_THAT(
      error_with("role: input", "role: inputt"),
      HasSubstr("p.yaml:15:29: tensor 'a': role: unknown word 'inputt': did you mean 'input'? "
                "(accepted: input, output, weight, activation, gathered)"));
  EXPECT_THAT(error_with("bytes: 64 B, pool: p, off", "bytes: 64 MB, pool: p, off"),
              HasSubstr("p.yaml:18:13: '64 MB' has the unit 'MB'"));
  EXPECT_THAT(error_with("shape: [4, 8]", "shape: 4"),
              HasSubstr("tensor 'a': shape: needs a list"));
  EXPECT_THAT(error_with("[2, 4, 1]", "[2, 4]"), HasSubstr("needs three sizes"));
  EXPECT_THAT(error_with("[2, 4, 1]", "[2, 0, 1]"), HasSubstr("integer of at least 1"));
  EXPECT_THAT(error_with("macs: 0", "macs: -1"), HasSubstr("needs an integer of at least 0"));
  EXPECT_THAT(error_with("{int: 2}", "{int: 3000000000}"), HasSubstr("between -2147483648 and"));
  EXPECT_THAT(error_with("{int: 2}", "{intt: 2}"), HasSubstr("did you mean 'int'?"));
  EXPECT_THAT(error_with("{int: 2}", "{int: 2, float: 3}"), HasSubstr("needs one of"));
  EXPECT_THAT(error_with("storage: f16", "storage: i32"), HasSubstr("accepted: f16, f32"));
  EXPECT_THAT(error_with("weights: []", "weights: [[]]"), HasSubstr("needs a mapping"));
  EXPECT_THAT(error_with("policy: preload", "policy: preload\npolicy: stream"),
              HasSubstr("policy: given twice"));
  EXPECT_THAT(error_with("kind: kernel", "kind: [kernel]"), HasSubstr("needs a single value"));
}

TEST(PlanYaml, ValidationErrorsSayWhere) {
  EXPECT_THAT(error_with("offset: 128 B", "offset: 0 B"),
              StartsWith("p.yaml:17:5: tensor 'b': shares bytes of pool 'p' with tensor 'a'"));
  EXPECT_THAT(error_with("{read: a}", "{read: c}"),
              StartsWith("p.yaml:21:5: launch 'L0': argument names"));
}

TEST(PlanYaml, BrokenFilesAreUserErrors) {
  for (const std::string& text :
       {std::string("a: [1"), std::string(""), std::string("plan: 1\n---\nplan: 1"),
        std::string("[1, 2]"), std::string(100000, '['), std::string("\x01\x02"),
        std::string("plan: *x"), std::string("\t- a")}) {
    EXPECT_NE(user_error_of([&] { parse_plan(text, "p.yaml"); }), "") << text.substr(0, 20);
  }
  EXPECT_THAT(user_error_of([&] { parse_plan("plan: 1\nmodels: [}", "p.yaml"); }),
              StartsWith("p.yaml:2:10: not valid YAML"));
}

TEST(PlanYaml, AnyLineLostIsNoticed) {
  const std::string text = small_plan;
  for (std::size_t start = 0; start < text.size(); start = text.find('\n', start) + 1) {
    std::string shorter = text;
    shorter.erase(start, text.find('\n', start) + 1 - start);
    const std::string error = user_error_of([&] { parse_plan(shorter, "p.yaml"); });
    EXPECT_NE(error, "") << text.substr(start, text.find('\n', start) - start);
  }
}

}  // namespace
}  // namespace fm
