#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/error_message.hpp"
#include "tests/core/small_trace.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

/// The error of reading the small trace after one change.
std::string error_after(const std::function<void(Trace&)>& change) {
  const TemporaryFolder folder;
  Trace trace = small_trace();
  change(trace);
  write_trace(folder.file("t.trace"), trace);
  return user_error_of([&] { read_trace(folder.file("t.trace")); });
}

TEST(TraceValidation, AcceptsTheSmallTrace) {
  EXPECT_EQ(error_after([](Trace&) {}), "");
}

void add_feature(Trace& trace, const std::string& name, const std::string& found, bool used) {
  trace::DeviceFeature& feature = *trace.header.add_features();
  feature.set_name(name);
  feature.set_found(found);
  feature.set_used(used);
}

TEST(TraceValidation, FeaturesHaveNamesAndAreThereWhenUsed) {
  EXPECT_EQ(error_after([](Trace& t) {
              add_feature(t, "images", "8192 x 8192 texels", true);
              add_feature(t, "cl_khr_fp16", "no", false);
            }),
            "");
  EXPECT_THAT(error_after([](Trace& t) { add_feature(t, "", "yes", false); }),
              HasSubstr("a device feature has no name"));
  EXPECT_THAT(error_after([](Trace& t) { add_feature(t, "cl_khr_fp16", "no", true); }),
              HasSubstr("cl_khr_fp16 was used, but the device had none"));
  EXPECT_THAT(error_after([](Trace& t) {
                add_feature(t, "images", "no", false);
                add_feature(t, "images", "no", false);
              }),
              HasSubstr("two device features are named images"));
}

TEST(TraceValidation, QuirksHaveNamesOfTheirOwn) {
  EXPECT_THAT(error_after([](Trace& t) { t.header.add_quirks(); }),
              HasSubstr("a driver quirk has no name"));
  EXPECT_THAT(error_after([](Trace& t) {
                t.header.add_quirks()->set_name("slow");
                t.header.add_quirks()->set_name("slow");
              }),
              HasSubstr("two driver quirks are named slow"));
}

TEST(TraceValidation, ProgramsHaveIdsOfTheirOwn) {
  EXPECT_THAT(error_after([](Trace& t) { t.programs.push_back(small_program(1)); }),
              HasSubstr("two access programs have the id 1"));
  EXPECT_THAT(error_after([](Trace& t) { t.programs[0].set_id(0); }), HasSubstr("has no id"));
  EXPECT_THAT(error_after([](Trace& t) { t.programs[0].mutable_sites(0)->set_bytes(0); }),
              HasSubstr("an access of no bytes"));
}

TEST(TraceValidation, IndexContentsNameAnIndexLoad) {
  EXPECT_THAT(error_after([](Trace& t) { t.index_contents[0].set_program(5); }),
              HasSubstr("access program 5, which the trace lacks"));
  EXPECT_THAT(error_after([](Trace& t) { t.index_contents[0].set_site(1); }),
              HasSubstr("site 1, which is no index load"));
  EXPECT_THAT(error_after([](Trace& t) { t.index_contents[0].set_site(9); }),
              HasSubstr("site 9, which is no index load"));
}

TEST(TraceValidation, OperationsAscendAndWaitForEarlierOnes) {
  EXPECT_THAT(error_after([](Trace& t) { t.operations[0].set_id(0); }),
              HasSubstr("ids must ascend"));
  EXPECT_THAT(error_after([](Trace& t) { t.operations[2].set_id(2); }),
              HasSubstr("ids must ascend from 1: 2 follows 2"));
  EXPECT_THAT(error_after([](Trace& t) { t.operations[3].add_after(4); }),
              HasSubstr("waits for operation 4"));
  EXPECT_THAT(error_after([](Trace& t) { t.operations[3].add_after(99); }),
              HasSubstr("waits for operation 99"));
  EXPECT_THAT(error_after([](Trace& t) { t.operations[0].clear_create(); }),
              HasSubstr("of a kind this tool does not know"));
}

TEST(TraceValidation, ObjectsLiveWhileTheyAreUsed) {
  EXPECT_THAT(error_after([](Trace& t) { t.operations[1].mutable_create()->set_object(1); }),
              HasSubstr("object 1 is created twice"));
  EXPECT_THAT(error_after([](Trace& t) { t.operations[0].mutable_create()->set_object(0); }),
              HasSubstr("begin at 1"));
  EXPECT_THAT(error_after([](Trace& t) { t.operations[2].mutable_disk_read()->set_object(7); }),
              HasSubstr("object 7 was never created"));
  EXPECT_THAT(error_after([](Trace& t) { t.operations[5].mutable_release()->set_object(2); }),
              HasSubstr("object 2 was released before"));
  EXPECT_THAT(error_after([](Trace& t) { t.operations[1].mutable_create()->set_width(15); }),
              HasSubstr("width * height * texel_bytes"));
}

TEST(TraceValidation, TransfersStayInsideTheirObjects) {
  EXPECT_THAT(error_after([](Trace& t) { t.operations[2].mutable_disk_read()->set_bytes(4097); }),
              HasSubstr("lie outside object 1 of 4096"));
  EXPECT_THAT(error_after([](Trace& t) {
                t.operations[2].mutable_disk_read()->set_object_offset(UINT64_MAX);
              }),
              HasSubstr("lie outside object 1"));
  EXPECT_THAT(
      error_after([](Trace& t) { t.operations[2].mutable_disk_read()->set_request_bytes(0); }),
      HasSubstr("request_bytes"));
  const auto scattered = [](std::uint64_t offset, std::uint64_t request_bytes) {
    return error_after([&](Trace& t) {
      trace::DiskRead& read = *t.operations[2].mutable_disk_read();
      read.set_request_bytes(request_bytes);
      for (const std::uint64_t at : {std::uint64_t{0}, offset}) {
        read.add_scattered()->set_object_offset(at);
      }
    });
  };
  EXPECT_THAT(scattered(2049, 2048), HasSubstr("bytes 2049 + 2048 lie outside object 1"));
  EXPECT_THAT(scattered(2048, 2000), HasSubstr("2 ranges of 2000 bytes are not the 4096"));
  const auto copy_to_buffer = [](std::uint64_t source, std::uint64_t offset) {
    return error_after([&](Trace& t) {
      trace::Copy& copy = *t.operations[3].mutable_copy();
      copy.set_source(source);
      copy.set_destination(1);
      copy.set_destination_offset(offset);
    });
  };
  EXPECT_EQ(copy_to_buffer(1, 3072), "");
  EXPECT_EQ(copy_to_buffer(0, 3072), "");
  EXPECT_THAT(copy_to_buffer(1, 3073), HasSubstr("bytes 3073 + 1024 lie outside object 1"));
  EXPECT_THAT(error_after([](Trace& t) { t.operations[3].mutable_copy()->set_first_row(1); }),
              HasSubstr("rows lie outside image 2"));
}

TEST(TraceValidation, LaunchesBindEveryArgumentOfTheirProgram) {
  EXPECT_THAT(error_after([](Trace& t) { t.operations[4].mutable_launch()->set_program(3); }),
              HasSubstr("access program 3, which the trace lacks"));
  EXPECT_THAT(error_after([](Trace& t) {
                t.operations[4].mutable_launch()->mutable_arguments(1)->set_index(1);
              }),
              HasSubstr("binds no object to argument 2"));
  EXPECT_THAT(error_after([](Trace& t) {
                t.operations[4].mutable_launch()->mutable_arguments(0)->set_offset(5000);
              }),
              HasSubstr("begins outside its object"));
}

TEST(TraceValidation, LaunchesWithoutAProgramSayWhatTheyAre) {
  const auto foreign = [](bool described) {
    return error_after([&](Trace& t) {
      trace::Launch& launch = *t.operations[4].mutable_launch();
      launch.set_program(0);
      if (described) launch.mutable_kernel()->set_name("saxpy");
    });
  };
  EXPECT_EQ(foreign(true), "");
  EXPECT_THAT(foreign(false), HasSubstr("access program 0, which the trace lacks"));
}

}  // namespace
}  // namespace fm
