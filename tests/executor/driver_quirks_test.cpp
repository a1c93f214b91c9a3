#include "executor/driver_quirks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace fm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// As phones and PCs name themselves.
OpenClDevice device(const std::string& name, const std::string& platform, const std::string& driver,
                    const std::string& version) {
  OpenClDevice device;
  device.name = name;
  device.platform_name = platform;
  device.driver = driver;
  device.version = version;
  return device;
}

std::vector<std::string> names(const OpenClDevice& device) {
  std::vector<std::string> found;
  for (const DriverQuirk& quirk : quirks_of(device)) found.push_back(quirk.name);
  return found;
}

TEST(DriverQuirks, AreFoundByTheDriversOwnWords) {
  EXPECT_THAT(names(device("QUALCOMM Adreno(TM)", "QUALCOMM Snapdragon(TM)",
                           "OpenCL 3.0 QUALCOMM build: commit #c1fe339905 changeid #Id5fe42143e "
                           "Date: 01/23/25 Compiler E031.38.11.14",
                           "OpenCL 3.0 Adreno(TM) 730")),
              ElementsAre("adreno-e031", "adreno-730-image-products"));
  EXPECT_THAT(names(device("Mali-G76", "ARM Platform", "2.1", "OpenCL 2.0 v1.r19p0-01rel0")),
              ElementsAre("mali-binaries"));
  EXPECT_THAT(names(device("gfx906", "AMD Accelerated Parallel Processing", "3098.0 (HSA1.1,LC)",
                           "OpenCL 2.0")),
              ElementsAre("rocm-3-dead-code", "rocm-3-images"));
  EXPECT_THAT(names(device("Intel(R) Gen9 HD Graphics NEO", "Intel(R) OpenCL HD Graphics",
                           "19.34.13959", "OpenCL 2.1 NEO")),
              ElementsAre("intel-gen9-barriers"));
}

TEST(DriverQuirks, LaterDriversAndOtherDevicesHaveNone) {
  for (const OpenClDevice& clean :
       {device("QUALCOMM Adreno(TM)", "QUALCOMM Snapdragon(TM)",
               "OpenCL 3.0 QUALCOMM build: 0800.71 Compiler E031.47.18.49",
               "OpenCL 3.0 Adreno(TM) 830"),
        device("Mali-G715", "ARM Platform", "3.0", "OpenCL 3.0 v1.r44p0-01eac0"),
        device("gfx1100", "AMD Accelerated Parallel Processing", "3590.0 (HSA1.1,LC)",
               "OpenCL 2.0"),
        device("pthread-AMD EPYC", "Portable Computing Language", "3.1+debian", "OpenCL 3.0 PoCL"),
        device("", "", "", "")}) {
    EXPECT_THAT(names(clean), IsEmpty()) << clean.name;
  }
}

TEST(DriverQuirks, EachHasAPublicReportAndAPatternThatIsNotEverything) {
  std::set<std::string> seen;
  for (const DriverQuirk& quirk : known_quirks()) {
    EXPECT_TRUE(seen.insert(quirk.name).second) << quirk.name;
    EXPECT_TRUE(std::regex_match(
        quirk.link, std::regex("https://github\\.com/[\\w.-]+/[\\w.-]+/(issues|pull)/[0-9]+")))
        << quirk.link;
    EXPECT_FALSE(quirk.device.empty() && quirk.platform.empty()) << quirk.name;
    EXPECT_FALSE(quirk.symptom.empty()) << quirk.name;
  }
}

}  // namespace
}  // namespace fm
