// Problem files.
#include "planner/overlap/lc_opg_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

using ::testing::HasSubstr;

const std::string valid = R"(lc_opg: 1
name: tiny
chunk_bytes: 256 KiB
m_peak: 500000000 B
lambda: 0.9
preload_limit: 1 GiB
layers:
  - {name: embed, capacity: 3}
  - {name: head, capacity: 0}
weights:
  - {name: table, layer: embed, bytes: 1 MiB, preload: true}
  - {name: head.weight, layer: head, bytes: 77 KiB}
)";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = valid;
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string message_of(const std::string& yaml) {
  try {
    parse_lc_opg_problem(yaml, "p.yaml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(LcOpgProblem, ReadsEveryKey) {
  const LcOpgProblem problem = parse_lc_opg_problem(valid, "p.yaml");
  EXPECT_EQ(problem.name, "tiny");
  EXPECT_EQ(problem.chunk_bytes, Bytes(256 * 1024));
  EXPECT_EQ(problem.m_peak, Bytes(500'000'000));
  EXPECT_DOUBLE_EQ(problem.lambda, 0.9);
  EXPECT_EQ(problem.preload_limit, Bytes(1024 * 1024 * 1024));
  ASSERT_EQ(problem.layers.size(), 2u);
  EXPECT_EQ(problem.layers[0].capacity, 3u);
  ASSERT_EQ(problem.weights.size(), 2u);
  EXPECT_TRUE(problem.weights[0].preload);
  EXPECT_EQ(problem.weights[1].layer, 1u);
  EXPECT_EQ(problem.weights[1].bytes, Bytes(77 * 1024));
}

TEST(LcOpgProblem, RefusesWhatIsWrongWithItsPlace) {
  EXPECT_THAT(message_of(replaced("layer: head", "layer: haed")),
              HasSubstr("p.yaml:12:32: weights: layer: weight 'head.weight' is read by layer "
                        "'haed', which is not "
                        "in `layers`"));
  EXPECT_THAT(message_of(replaced("lambda: 0.9", "lambda: 1.5")), HasSubstr("from 0 to 1"));
  EXPECT_THAT(message_of(replaced("256 KiB", "0 B")), HasSubstr("above 0 B"));
  EXPECT_THAT(message_of(replaced("capacity: 3", "capacity: -3")), HasSubstr("p.yaml:8:"));
  EXPECT_THAT(message_of(replaced("name: head,", "name: embed,")),
              HasSubstr("second layer named 'embed'"));
  EXPECT_THAT(message_of(replaced("name: head.weight", "name: table")),
              HasSubstr("second weight named 'table'"));
  EXPECT_THAT(message_of(replaced("m_peak", "m_peek")), HasSubstr("m_peak"));
  EXPECT_THAT(message_of(replaced("preload: true", "preload: maybe")), HasSubstr("true or false"));
  EXPECT_THAT(message_of(replaced("lc_opg: 1", "lc_opg: 2")), HasSubstr("p.yaml:1:"));
}

}  // namespace
}  // namespace fm
