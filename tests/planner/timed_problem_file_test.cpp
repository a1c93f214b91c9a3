// Timed problems from files, and their report.
#include "planner/overlap/timed_problem_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "planner/overlap/timed_report.hpp"
#include "tests/core/error_message.hpp"

namespace fm {
namespace {

using ::testing::HasSubstr;

const std::string valid = R"(timed: 1
name: tiny
chunk: 10 B
budget: 40 B
head_start: 2 us
images_a_launch: 4
copy: {base: 3 ns, bandwidth: 2 GB/s}
launches:
  - {name: a, time: 40 ns, memory: 7 B, waiting: 5 B, slowdown: [[20 B, 8 ns], [30 B, 20 ns]]}
  - {name: b, time: 5 ns, memory: 6 B}
weights:
  - {name: first, bytes: 10 B, first_use: a, last_use: b, form: buffer, read: 20 ns}
  - {name: second, bytes: 20 B, first_use: b, last_use: never, read: 40 ns}
)";

const std::string whole =
    "whole_claims: {ring: 9 KiB, ahead: 1, piece_overhead: 1 us, "
    "enqueue: 2 us, image: 3 us, image_bandwidth: 4 GB/s}\n";

NamedTimedProblem parsed(const std::string& yaml) {
  return timed_problem_of(parse_yaml_document(yaml, "p.yaml"));
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = valid;
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string message_of(const std::string& yaml) {
  return user_error_of([&] { parsed(yaml); });
}

TEST(TimedProblemFile, ReadsEveryKey) {
  const NamedTimedProblem named = parsed(valid);
  const TimedProblem& problem = named.problem;
  EXPECT_EQ(named.name, "tiny");
  EXPECT_EQ(problem.chunk, Bytes(10));
  EXPECT_EQ(problem.budget, Bytes(40));
  EXPECT_EQ(problem.head_start, Nanoseconds(2000));
  EXPECT_EQ(problem.images_a_launch, 4u);
  EXPECT_EQ(problem.copy.base, Nanoseconds(3));
  EXPECT_DOUBLE_EQ(problem.copy.nanoseconds_per_byte, 0.5);
  EXPECT_FALSE(problem.whole_claims);
  ASSERT_EQ(named.launches, (std::vector<std::string>{"a", "b"}));
  const TimedLaunch& launch = problem.launches[0];
  EXPECT_EQ(launch.time, Nanoseconds(40));
  EXPECT_EQ(launch.running, Bytes(7));
  EXPECT_EQ(launch.waiting, Bytes(5));
  ASSERT_EQ(launch.slowdown.size(), 2u);
  EXPECT_EQ(launch.slowdown[1].streamed, Bytes(30));
  EXPECT_EQ(launch.slowdown[1].extra, Nanoseconds(20));
  EXPECT_EQ(problem.launches[1].waiting, Bytes(6));  // as while it runs
  ASSERT_EQ(named.weights, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(problem.weights[0].form, WeightForm::buffer);
  EXPECT_EQ(problem.weights[0].last_use, 1u);
  EXPECT_EQ(problem.weights[0].read, Nanoseconds(20));
  EXPECT_EQ(problem.weights[1].form, WeightForm::image);
  EXPECT_EQ(problem.weights[1].last_use, 2u);
}

TEST(TimedProblemFile, ReadsWholeClaims) {
  const TimedProblem problem = parsed(replaced("launches:", whole + "launches:")).problem;
  EXPECT_TRUE(problem.whole_claims);
  EXPECT_EQ(problem.ring, Bytes(9 * 1024));
  EXPECT_EQ(problem.ahead, 1u);
  EXPECT_EQ(problem.piece_overhead, Nanoseconds(1000));
  EXPECT_EQ(problem.host.enqueue, Nanoseconds(2000));
  EXPECT_EQ(problem.host.allocation, Nanoseconds(3000));
  EXPECT_DOUBLE_EQ(problem.host.allocation_nanoseconds_per_byte, 0.25);
  EXPECT_TRUE(problem.weights[1].new_memory);
}

TEST(TimedProblemFile, LeavesOutWhatHasADefault) {
  const TimedProblem problem =
      parsed(
          "timed: 1\nname: n\nchunk: 1 MiB\nlaunches:\n  - {name: a, time: 1 us, memory: 0 B}\n"
          "weights: []\n")
          .problem;
  EXPECT_EQ(problem.budget, unlimited_bytes);
  EXPECT_EQ(problem.head_start, Nanoseconds(0));
  EXPECT_EQ(problem.copy.base, Nanoseconds(0));
  EXPECT_EQ(problem.copy.nanoseconds_per_byte, 0);
}

TEST(TimedProblemFile, KnowsItsKind) {
  EXPECT_TRUE(is_timed_problem(parse_yaml_document(valid, "p.yaml")));
  EXPECT_FALSE(is_timed_problem(parse_yaml_document("lc_opg: 1\n", "p.yaml")));
  EXPECT_FALSE(is_timed_problem(parse_yaml_document("[timed]\n", "p.yaml")));
}

TEST(TimedProblemFile, RefusesWhatIsWrongWithItsPlace) {
  EXPECT_THAT(message_of(replaced("timed: 1", "timed: 2")), HasSubstr("p.yaml:1:8: timed: "));
  EXPECT_THAT(message_of(replaced("first_use: b", "first_use: c")),
              HasSubstr("p.yaml:13:44: weights: first_use: 'c' is not in `launches`"));
  EXPECT_THAT(message_of(replaced("last_use: b", "last_use: c")), HasSubstr("'c' is not in"));
  EXPECT_THAT(message_of(replaced("first_use: b, last_use: never", "first_use: b, last_use: a")),
              HasSubstr("weights: last_use: is before the first use"));
  EXPECT_THAT(message_of(replaced("first_use: a, last_use: b", "first_use: b")), "");
  std::string swapped = replaced("first_use: b", "first_use: a");
  swapped.replace(swapped.find("first_use: a"), 12, "first_use: b");
  EXPECT_THAT(message_of(swapped),
              HasSubstr("p.yaml:13:44: weights: first_use: weights are read in the order of their "
                        "first use: 'second' must stand before 'first'"));
  EXPECT_THAT(message_of(replaced("[30 B, 20 ns]", "[30 B, 9 ns]")),
              HasSubstr("p.yaml:9:80: launches: slowdown: must rise"));
  EXPECT_THAT(message_of(replaced("[30 B, 20 ns]", "[20 B, 20 ns]")), HasSubstr("must rise"));
  EXPECT_THAT(message_of(replaced("[30 B, 20 ns]", "[30 B]")), HasSubstr("points of bytes"));
  EXPECT_THAT(message_of(replaced("name: b,", "name: a,")), HasSubstr("second launch named 'a'"));
  EXPECT_THAT(message_of(replaced("name: second", "name: first")),
              HasSubstr("second weight named 'first'"));
  EXPECT_THAT(message_of(replaced("bytes: 20 B", "bytes: 0 B")), HasSubstr("above 0 B"));
  EXPECT_THAT(message_of(replaced("chunk: 10 B", "chunk: 0 B")), HasSubstr("p.yaml:3:8"));
  EXPECT_THAT(message_of(replaced("time: 5 ns", "time: 2 h")), HasSubstr("p.yaml:10:"));
  EXPECT_THAT(message_of(replaced("time: 5 ns", "time: 4000 s")), HasSubstr("3600 s"));
  EXPECT_THAT(message_of(replaced("time: 5 ns", "tame: 5 ns")), HasSubstr("'time' is missing"));
  EXPECT_THAT(message_of(replaced("memory: 6 B", "memory: 6 B, more: 1")), HasSubstr("more"));
  EXPECT_THAT(message_of(replaced("2 GB/s", "0 GB/s")), HasSubstr("bandwidth"));
  EXPECT_THAT(message_of(replaced("form: buffer", "form: bufer")), HasSubstr("buffer"));
  EXPECT_THAT(message_of(replaced("form: buffer", "new_memory: true")), HasSubstr("whole_claims"));
  EXPECT_THAT(message_of(replaced("images_a_launch: 4", "images_a_launch: 0")),
              HasSubstr("p.yaml:6:18"));
  const std::string none = "timed: 1\nname: n\nchunk: 1 B\nlaunches: []\nweights: []\n";
  EXPECT_THAT(message_of(none), HasSubstr("p.yaml:4:11: launches: there must be at least one"));
}

// Chunks of 10 B, a byte read in 2 ns, copied in 3 + 0.5 a byte. The buffer is there at 20. Either
// a runs from 20 to 60 and both image chunks, read by then, are copied in 13: b ends at 78. Or a
// streams one or both, read at 40 or 60, for 4 or 8 longer: it ends at 84 or later.
TEST(TimedProblemFile, TheKnownOptimumIsFoundAndReported) {
  NamedTimedProblem named = parsed(replaced("head_start: 2 us", "head_start: 0 us"));
  const OptimalSolution solution = solve_optimal(named.problem);
  EXPECT_EQ(solution.run.latency, Nanoseconds(78));
  EXPECT_THAT(solution.schedule.copied, testing::ElementsAre(0, 2));
  const auto json = nlohmann::json::parse(timed_report_json(named, solution));
  EXPECT_EQ(json["latency_ns"], 78);
  EXPECT_EQ(json["weight_bytes"], 30);
  EXPECT_EQ(json["floor_ns"]["disk"], 60);
  EXPECT_EQ(json["floor_ns"]["compute"], 45);
  EXPECT_EQ(json["floor_ns"]["latency"], 65);
  EXPECT_EQ(json["least_budget_bytes"], 36);
  EXPECT_EQ(json["least_budget_launch"], "b");
  EXPECT_EQ(json["copying_ns"], 13);
  EXPECT_EQ(json["launches"][1]["name"], "b");
  EXPECT_EQ(json["launches"][1]["start_ns"], 73);
  EXPECT_EQ(json["launches"][1]["copied_chunks"], 2);
  EXPECT_EQ(json["peak"]["bytes"].get<std::uint64_t>(),
            json["peak"]["unified"].get<std::uint64_t>() +
                json["peak"]["texture"].get<std::uint64_t>() +
                json["peak"]["beside_weights"].get<std::uint64_t>());
  const std::string text = timed_report(named, solution);
  EXPECT_THAT(text, HasSubstr("tiny: 2 launches, 2 weights"));
  EXPECT_THAT(text, HasSubstr("held by b"));
}

}  // namespace
}  // namespace fm
