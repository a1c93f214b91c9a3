// What the host pays: launches, reads from disk, copies to images.
#include "kernels/microbench_draft.hpp"

namespace fm {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;

Bytes bytes_of(std::int64_t bytes) { return Bytes(static_cast<std::uint64_t>(bytes)); }

std::string label_of(const MicrobenchAxes& axes, std::int64_t bytes) {
  return to_string(
      MicrobenchLabel{axes, MicrobenchPart::alone, static_cast<std::uint64_t>(bytes), "B/ns"});
}

}  // namespace

Microbench launch_latency() {
  MicrobenchDraft draft("launch_latency", "empty kernels, one at a time and one behind another");
  const PlanLaunch empty = LaunchDraft("empty").integer("nothing", 0).finish({1, 1, 1}, {1, 1, 1});
  const auto series = [&](std::int64_t behind, std::uint64_t launches, bool waits) {
    for (std::uint64_t number = 1; number <= launches; ++number) {
      draft.launch(empty, {{{"queued", behind}}, MicrobenchPart::series, 1, "ns/launch", number},
                   waits || number == launches);
    }
  };
  series(1, 5, true);
  series(16, 16, false);
  return draft.take();
}

Microbench disk_read() {
  MicrobenchDraft draft("disk_read", "sequential reads from disk by bytes a request");
  const PlanTensor& target = draft.texels("target", DataType::f32, Placement::buffer, mib);
  for (std::int64_t request = 4 * kib; request <= 4 * mib; request *= 2) {
    const std::int64_t bytes = request < 64 * kib ? mib : 8 * mib;
    draft.step(MicrobenchRead{label_of({{"request", request}}, bytes), target.id, bytes_of(bytes),
                              bytes_of(request)});
  }
  return draft.take();
}

Microbench copy_to_image() {
  MicrobenchDraft draft("copy_to_image", "clEnqueueCopyBufferToImage by bytes and texel");
  for (const auto& [word, dtype] : {std::pair("f16", DataType::f16), {"f32", DataType::f32}}) {
    const auto texel = static_cast<std::int64_t>(4 * size_of(dtype).count());
    for (const std::int64_t bytes : {64 * kib, mib, 4 * mib, 16 * mib}) {
      const std::string suffix = std::string(word) + "_" + std::to_string(bytes);
      const std::int64_t width = 512, rows = bytes / texel / width;
      const PlanTensor& from =
          draft.texels("buffer_" + suffix, dtype, Placement::buffer, width, rows);
      const PlanTensor& to =
          draft.texels("image_" + suffix, dtype, Placement::image2d, width, rows);
      draft.step(
          MicrobenchCopy{label_of({{"texel", texel}, {"bytes", bytes}}, bytes), from.id, to.id});
    }
  }
  return draft.take();
}

}  // namespace fm
