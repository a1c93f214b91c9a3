#include "core/microbench_label.hpp"

#include <gmock/gmock.h>

#include "tests/core/error_message.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

TEST(MicrobenchLabel, ReadsWhatItWrites) {
  MicrobenchLabel label{
      {{"footprint", 1024}, {"stride", 16}}, MicrobenchPart::full, 1536, "ns/hop"};
  EXPECT_EQ(to_string(label), "footprint=1024 stride=16 part=full work=1536 unit=ns/hop");
  label.part = MicrobenchPart::series;
  label.number = 3;
  const MicrobenchLabel read = microbench_label_from(to_string(label));
  EXPECT_EQ(read.axes, label.axes);
  EXPECT_EQ(read.part, label.part);
  EXPECT_EQ(read.work, label.work);
  EXPECT_EQ(read.unit, label.unit);
  EXPECT_EQ(read.number, 3u);
}

TEST(MicrobenchLabel, RefusesWhatMeasuresNothing) {
  const auto refusal = [](const std::string& text) {
    return user_error_of([&] { microbench_label_from(text); });
  };
  EXPECT_THAT(refusal("L12"), HasSubstr("L12"));
  EXPECT_THAT(refusal("footprint=1024 part=full unit=ns/hop"), HasSubstr("work"));
  EXPECT_THAT(refusal("footprint=1024 part=fulll work=1 unit=ns/hop"), HasSubstr("full"));
  EXPECT_THAT(refusal("footprint=1k part=full work=1 unit=ns/hop"), HasSubstr("number"));
}

}  // namespace
}  // namespace fm
