#include "executor/driver_quirks.hpp"

#include <algorithm>
#include <regex>

namespace fm {
namespace {

bool fits(const std::string& pattern, const std::string& text) {
  return pattern.empty() || std::regex_search(text, std::regex(pattern));
}

}  // namespace

const std::vector<DriverQuirk>& known_quirks() {
  static const std::vector<DriverQuirk> quirks{
      {"mali-binaries", "^Mali-(T[0-9]+|G31|G51|G52|G71|G72|G76)\\b", "", "",
       QuirkEffect::no_binaries, "clCreateProgramWithBinary crashes in libGLES_mali.so",
       "https://github.com/XiaoMi/mace/issues/245"},
      {"rocm-3-dead-code", "", "AMD Accelerated Parallel Processing", "^3[01][0-9][0-9]\\.",
       QuirkEffect::no_optimisation,
       "the compiler drops code that is needed; -cl-opt-disable cures it",
       "https://github.com/ROCm/ROCm-OpenCL-Runtime/issues/115"},
      {"rocm-3-images", "", "AMD Accelerated Parallel Processing", "^3[01][0-9][0-9]\\.",
       QuirkEffect::no_optimisation, "optimised kernels read the wrong one of several images",
       "https://github.com/ROCm/ROCm-OpenCL-Runtime/issues/103"},
      {"adreno-e031", "Adreno|QUALCOMM", "", "Compiler E031\\.(3[0-9]|4[01])\\.",
       QuirkEffect::warning, "products of matrices come out wrong in some kernels",
       "https://github.com/ggml-org/llama.cpp/pull/26476"},
      {"adreno-730-image-products", "Adreno|QUALCOMM", "", "Adreno\\(TM\\) 730",
       QuirkEffect::warning, "a product that reads an image is wrong",
       "https://github.com/ggml-org/llama.cpp/issues/29081"},
      {"adreno-5xx-submit", "Adreno|QUALCOMM", "", "Adreno\\(TM\\) 5[0-9][0-9]",
       QuirkEffect::warning, "the driver ends the process while it submits commands",
       "https://github.com/XiaoMi/mace/issues/473"},
      {"adreno-530-leak", "Adreno|QUALCOMM", "", "Adreno\\(TM\\) 530", QuirkEffect::warning,
       "memory grows with every run", "https://github.com/tensorflow/tensorflow/issues/66736"},
      {"intel-gen9-barriers", "Gen9 HD Graphics NEO", "", "^19\\.34\\.", QuirkEffect::warning,
       "sums over a work-group with barriers are sometimes wrong",
       "https://github.com/intel/compute-runtime/issues/221"},
      {"pocl-1-scatter", "", "Portable Computing Language.*pocl 1\\.[67]", "", QuirkEffect::warning,
       "a scatter and a copy after it are miscompiled on some CPUs",
       "https://github.com/pocl/pocl/issues/979"},
  };
  return quirks;
}

std::vector<DriverQuirk> quirks_of(const OpenClDevice& device) {
  std::vector<DriverQuirk> found;
  for (const DriverQuirk& quirk : known_quirks()) {
    if (fits(quirk.device, device.name) &&
        fits(quirk.platform, device.platform_name + " " + device.platform_version) &&
        fits(quirk.driver, device.driver + " " + device.version)) {
      found.push_back(quirk);
    }
  }
  return found;
}

bool has_quirk(const OpenClDevice& device, QuirkEffect effect) {
  const std::vector<DriverQuirk> quirks = quirks_of(device);
  return std::any_of(quirks.begin(), quirks.end(),
                     [&](const DriverQuirk& quirk) { return quirk.effect == effect; });
}

std::string to_string(QuirkEffect effect) {
  switch (effect) {
    case QuirkEffect::no_binaries:
      return "programs are compiled in every run";
    case QuirkEffect::no_optimisation:
      return "programs are built with -cl-opt-disable";
    case QuirkEffect::warning:
      break;
  }
  return "no remedy is known: check results";
}

std::string describe(const DriverQuirk& quirk) {
  return quirk.name + ": " + quirk.symptom + "; " + to_string(quirk.effect) + " (" + quirk.link +
         ")";
}

void add_quirks(const std::vector<DriverQuirk>& quirks, trace::Header* header) {
  for (const DriverQuirk& quirk : quirks) {
    trace::DriverQuirk& added = *header->add_quirks();
    added.set_name(quirk.name);
    added.set_symptom(quirk.symptom);
    added.set_effect(to_string(quirk.effect));
    added.set_link(quirk.link);
  }
}

}  // namespace fm
