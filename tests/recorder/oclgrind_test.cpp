// The Oclgrind plugin on programs of others: what it says a kernel accessed must be what the
// kernel's source says, work-item by work-item.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/diagnostics.hpp"
#include "tests/recorder/oclgrind_witness.hpp"

namespace fm {
namespace {

using test::SeenAccess;
using testing::HasSubstr;

SeenAccess element(bool write, std::uint32_t argument, std::int64_t index) {
  return {trace::GLOBAL, write, false, argument, 4, 0, 4 * index, 0};
}
SeenAccess read(std::uint32_t argument, std::int64_t index) {
  return element(false, argument, index);
}
SeenAccess write(std::uint32_t argument, std::int64_t index) {
  return element(true, argument, index);
}

/// The sample's input.
std::int64_t in(std::int64_t i) { return (i * i * 5 + i * 7) % 24; }

class OclgrindTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = test::oclgrind_missing()) GTEST_SKIP() << *missing;
  }

  Trace record(const std::string& kernel) {
    const test::OclgrindRun run =
        test::run_under_oclgrind(FM_OCLGRIND_SAMPLE " " + kernel, folder_.file("trace"), folder_);
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.err, "");
    return read_trace(folder_.file("trace"));
  }

  /// What `expected` says of work-item 0 .. 23, of three groups.
  template <class Expected>
  trace::AccessProgram expect_accesses(const std::string& kernel, const Expected& expected) {
    const Trace trace = record(kernel);
    if (trace.programs.size() != 1) throw std::runtime_error("not one program");
    EXPECT_THAT(trace.left_out, testing::IsEmpty());
    const trace::AccessProgram& program = trace.programs.front();
    EXPECT_EQ(program.kernel(), kernel);
    const IndexValues none;
    const AccessExpander expander(program, none);
    for (std::uint32_t id = 0; id < 24; ++id) {
      EXPECT_EQ(test::accesses_of(expander, program, {id / 8, 0, 0}, id % 8), expected(id))
          << kernel << " work-item " << id;
    }
    return program;
  }

  const TemporaryFolder folder_;
};

TEST_F(OclgrindTest, GatherReadsWhereMemorySays) {
  const trace::AccessProgram program = expect_accesses("gather", [](std::int64_t id) {
    return std::vector<SeenAccess>{read(1, id), read(1, in(id) % 24), write(0, id)};
  });
  for (const trace::Site& site : program.sites()) EXPECT_EQ(site.line(), 5u);
}

TEST_F(OclgrindTest, AtomicsAreOneAccess) {
  expect_accesses("histogram", [](std::int64_t id) {
    SeenAccess add = write(0, in(id)&3);
    add.atomic = true;
    return std::vector<SeenAccess>{read(1, id), add};
  });
}

TEST_F(OclgrindTest, LoopsOfDifferentLengthWithGaps) {
  expect_accesses("ragged", [](std::int64_t id) {
    std::vector<SeenAccess> accesses;
    for (int i = 0; i < id % 5; ++i) {
      if (i != 3) accesses.push_back(read(1, (id + i) % 24));
    }
    accesses.push_back(write(0, id));
    return accesses;
  });
}

TEST_F(OclgrindTest, LoopsWithAStrideAreFormulas) {
  const trace::AccessProgram program = expect_accesses("strided", [](std::int64_t id) {
    std::vector<SeenAccess> accesses;
    std::int64_t sum = 0;
    for (std::int64_t i = id; i <= 100; i += 24) {
      accesses.push_back(read(1, i % 24));
      sum += in(i % 24);
    }
    for (std::int64_t i = 0; i < 8 && sum <= 40; i += 2) {
      accesses.push_back(read(1, i));
      sum += in(i);
    }
    accesses.push_back(write(0, id));
    return accesses;
  });
  // But where the second ends: that depends on what was read.
  EXPECT_EQ(program.tables_size(), 1);
}

TEST_F(OclgrindTest, LoopsLeftForOtherWork) {
  expect_accesses("search", [](std::int64_t id) {
    std::vector<SeenAccess> accesses;
    for (int i = 0; i < 6; ++i) {
      const std::int64_t at = (id * 7 + i) % 24;
      accesses.push_back(read(1, at));
      if (in(at) != 0) continue;
      accesses.push_back(write(0, 24 + id));
      return accesses;
    }
    accesses.push_back(write(0, id));
    return accesses;
  });
}

TEST_F(OclgrindTest, LocalMemoryAndBarriers) {
  expect_accesses("reverse", [](std::int64_t id) {
    SeenAccess load = read(1, id), store = write(0, id);
    const SeenAccess into{trace::LOCAL, true, false, 0, 4, 0, 4 * (id % 8), 0};
    const SeenAccess from{trace::LOCAL, false, false, 0, 4, 1, 4 * (7 - id % 8), 0};
    store.epoch = 1;
    return std::vector<SeenAccess>{load, into, from, store};
  });
}

TEST_F(OclgrindTest, ChoiceOfObjectsAndConstantsOfTheProgram) {
  expect_accesses("choose", [](std::int64_t id) {
    std::vector<SeenAccess> accesses;
    if (id % 3 == 0) {
      accesses.push_back(read(1, id));
      accesses.push_back(in(id) > 11 ? read(1, id) : read(0, 24 + id));
    } else if (id % 3 == 1) {
      accesses.push_back(read(1, id));
      accesses.push_back({trace::CONSTANT, false, false, 2, 4, 0, 4 * (in(id) % 3), 0});
    }
    accesses.push_back(write(0, id));
    return accesses;
  });
}

TEST_F(OclgrindTest, TexelsAreReadOnceEachAndBeyondTheEdges) {
  expect_accesses("texels", [](std::int64_t id) {
    return std::vector<SeenAccess>{{trace::IMAGE, false, false, 1, 16, 0, id - 2, 3 - id},
                                   write(0, id)};
  });
}

TEST_F(OclgrindTest, WorkItemsThatALastGroupLacks) {
  expect_accesses("uneven", [](std::int64_t id) {
    if (id >= 20) return std::vector<SeenAccess>{};
    return std::vector<SeenAccess>{read(1, id), write(0, id)};
  });
}

TEST_F(OclgrindTest, WhatCannotBeDescribedIsLeftOutAndSaid) {
  const Trace trace = record("copy_together");
  EXPECT_THAT(trace.programs, testing::IsEmpty());
  ASSERT_EQ(trace.left_out.size(), 1u);
  EXPECT_EQ(trace.left_out.begin()->first,
            "accesses of launches of kernel copy_together: it copies asynchronously "
            "(async_work_group_copy)");
  for (const trace::HostOperation& operation : trace.operations) {
    if (!operation.has_launch()) continue;
    EXPECT_EQ(operation.launch().kernel().name(), "copy_together");
  }
}

TEST_F(OclgrindTest, TheHostProgramIsThere) {
  const Trace trace = record("texels");
  EXPECT_EQ(trace.header.plan_yaml(), "");
  EXPECT_THAT(trace.header.recorder(), HasSubstr("fmtrace_oclgrind"));
  std::map<std::string, std::uint64_t> bytes;
  for (const trace::HostOperation& operation : trace.operations) {
    if (operation.has_create()) {
      bytes[operation.create().image() ? "image" : "buffer"] += operation.create().bytes();
    } else if (operation.has_transfer()) {
      bytes[operation.transfer().to_device() ? "up" : "down"] += operation.transfer().bytes();
    } else if (operation.has_launch()) {
      ++bytes["launches"];
    } else if (operation.has_release()) {
      ++bytes["releases"];
    }
  }
  // And one buffer of 12 bytes: the constants of the program.
  const std::map<std::string, std::uint64_t> expected{
      {"buffer", 96 + 192 + 12}, {"image", 1024}, {"up", 96 + 192 + 12 + 1024}, {"down", 192},
      {"launches", 1},           {"releases", 4}};
  EXPECT_EQ(bytes, expected);
}

TEST_F(OclgrindTest, AKilledProgramLeavesATruncatedTrace) {
  const std::string trace = folder_.file("trace");
  const test::OclgrindRun run =
      test::run_under_oclgrind("timeout -s KILL 2 " FM_OCLGRIND_SAMPLE " endless", trace, folder_);
  EXPECT_THAT(run.out, HasSubstr("running"));
  EXPECT_NE(run.status, 0);
  try {
    read_trace(trace);
    FAIL() << "the trace of a killed program is complete";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("truncated"));
  }
}

TEST_F(OclgrindTest, AFileThatCannotBeWrittenDoesNotStopTheProgram) {
  const test::OclgrindRun run =
      test::run_under_oclgrind(FM_OCLGRIND_SAMPLE " gather", "/nowhere/app.trace", folder_);
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("sum"));
  EXPECT_THAT(run.err, HasSubstr("/nowhere/app.trace: cannot be written"));
  EXPECT_THAT(run.err, HasSubstr("fmtrace_oclgrind: "));
}

}  // namespace
}  // namespace fm
