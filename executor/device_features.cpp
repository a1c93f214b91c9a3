#include "executor/device_features.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace fm {
namespace {

std::string yes_or_no(bool there) { return there ? "yes" : "no"; }

std::string image_limits(const OpenClDevice& device) {
  if (!device.images) return "no";
  return std::to_string(device.image_width_limit) + " x " +
         std::to_string(device.image_height_limit) + " texels, a kernel writes " +
         std::to_string(device.write_image_limit);
}

std::string pitch_alignment(const OpenClDevice& device) {
  if (device.image_pitch_alignment.value_or(0) == 0) return "no";
  return std::to_string(*device.image_pitch_alignment) + " texels";
}

/// The extension may be there in name only.
std::string half_arithmetic(const OpenClDevice& device) {
  if (device.has_extension("cl_khr_fp16") && !device.computes_in_half()) {
    return "no: it is claimed, but CL_DEVICE_HALF_FP_CONFIG is 0";
  }
  return yes_or_no(device.computes_in_half());
}

std::size_t images_in(const Plan& plan) {
  return static_cast<std::size_t>(std::count_if(
      plan.tensors.begin(), plan.tensors.end(),
      [](const PlanTensor& tensor) { return tensor.placement == Placement::image2d; }));
}

/// Of a vendor, and none that is named elsewhere.
std::vector<std::string> vendor_extensions(const OpenClDevice& device) {
  std::vector<std::string> found;
  std::istringstream words(device.extensions);
  for (std::string word; words >> word;) {
    if (word == perf_hint_extension) continue;
    for (const char* prefix : {"cl_qcom_", "cl_arm_", "cl_img_", "cl_intel_", "cl_nv_"}) {
      if (word.compare(0, std::string(prefix).size(), prefix) == 0) found.push_back(word);
    }
  }
  return found;
}

void use(std::vector<DeviceFeature>& features, const std::string& name, const std::string& reason) {
  for (DeviceFeature& feature : features) {
    if (feature.name != name) continue;
    feature.used = true;
    feature.reason = reason;
  }
}

void set_reason(std::vector<DeviceFeature>& features, const std::string& name,
                const std::string& reason) {
  for (DeviceFeature& feature : features) {
    if (feature.name == name && feature.found != "no") feature.reason = reason;
  }
}

}  // namespace

std::vector<DeviceFeature> device_features(const OpenClDevice& device) {
  std::vector<DeviceFeature> features{
      {"OpenCL", device.version, false, "programs are OpenCL C 1.2, calls those of OpenCL 1.2"},
      {"profile", device.profile, false, "every limit is queried, whatever the profile promises"},
      {"images", image_limits(device), false, "for plans with image2d tensors"},
      {"cl_khr_fp16", half_arithmetic(device), false,
       "for plans that accumulate in half; to store in half takes no extension"},
      {"profiling", yes_or_no((device.queues & CL_QUEUE_PROFILING_ENABLE) != 0), false,
       "times launches; without it the host's clock does"},
      {"out-of-order queues",
       yes_or_no((device.queues & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0), false,
       "never: kernels and copies have an in-order queue each"},
      {"unified memory", yes_or_no(device.unified_memory), false,
       "weights are read into mapped buffers either way"},
      {"shared virtual memory", yes_or_no(device.shared_virtual_memory.value_or(0) != 0), false,
       "never: buffers are mapped"},
      {"cl_khr_image2d_from_buffer", yes_or_no(device.has_extension("cl_khr_image2d_from_buffer")),
       false, "never: images have memory of their own, which drivers may tile"},
      {"image pitch alignment", pitch_alignment(device), false,
       "never: only images made from buffers have a pitch that the program chooses"},
      {"cl_khr_command_buffer", yes_or_no(device.has_extension("cl_khr_command_buffer")), false,
       "never: what a launch waits for is known only when its weights are read"},
      {perf_hint_extension, yes_or_no(device.has_extension(perf_hint_extension)), false,
       "asks for the highest clocks"},
  };
  for (const std::string& extension : vendor_extensions(device)) {
    features.push_back({extension, "yes", false, "never: no launch or transfer needs it"});
  }
  return features;
}

std::vector<DeviceFeature> features_used(const OpenClContext& context, const Plan& plan) {
  const OpenClDevice& device = context.device();
  std::vector<DeviceFeature> features = device_features(device);
  use(features, "OpenCL", "programs are OpenCL C 1.2, calls those of OpenCL 1.2");
  const std::size_t images = images_in(plan);
  set_reason(features, "images", "the plan places all tensors in buffers");
  if (images > 0) {
    use(features, "images", std::to_string(images) + " tensors of the plan are image2d");
  }
  set_reason(features, "cl_khr_fp16", "the plan accumulates in float");
  if (plan.accumulate == DataType::f16) {
    use(features, "cl_khr_fp16", "the plan accumulates in half");
  }
  if ((device.queues & CL_QUEUE_PROFILING_ENABLE) != 0) {
    use(features, "profiling", "launches are timed by the device where it answers");
  }
  set_reason(features, perf_hint_extension, "the driver refused the hint");
  if (context.has_perf_hint()) {
    use(features, perf_hint_extension, "the context asks for the highest clocks");
  }
  return features;
}

std::string describe(const std::vector<DeviceFeature>& features, const std::string& indent) {
  std::ostringstream text;
  for (const DeviceFeature& feature : features) {
    text << indent << std::left << std::setw(28) << feature.name << " " << feature.found << " ("
         << feature.reason << ")\n";
  }
  return text.str();
}

void add_features(const std::vector<DeviceFeature>& features, trace::Header* header) {
  for (const DeviceFeature& feature : features) {
    trace::DeviceFeature& added = *header->add_features();
    added.set_name(feature.name);
    added.set_found(feature.found);
    added.set_used(feature.used);
    added.set_reason(feature.reason);
  }
}

}  // namespace fm
