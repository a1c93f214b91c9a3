#include "executor/recorder/group_recorder.hpp"

#include <algorithm>

#include "core/diagnostics.hpp"

namespace fm {
namespace {
/// Bytes on the device: a log that stays in caches is written and read several times as fast.
constexpr std::size_t log_limit = std::size_t{4} << 20;
}  // namespace

struct GroupRecorder::Objects {
  OpenClQueue queue;
  const OpenClKernel* kernel = nullptr;
  OpenClMemory dummy_buffer, dummy_image, log, groups;
  std::size_t log_bytes = 0;
  std::vector<OpenClMemory> index;
};

GroupRecorder::GroupRecorder(const OpenClContext& context, ProgramCache& cache,
                             const RecordingKernel& kernel, const IndexBuffers& index)
    : context_(context), kernel_(kernel), objects_(std::make_unique<Objects>()) {
  objects_->queue = create_queue(context, "recording");
  objects_->kernel = &cache.kernel(kernel.name, kernel.source, kernel.options);
  bind_arguments(index);
}

GroupRecorder::~GroupRecorder() = default;

void GroupRecorder::bind_arguments(const IndexBuffers& index) {
  objects_->dummy_buffer = create_buffer(context_, Bytes{256}, CL_MEM_READ_WRITE, title());
  std::vector<KernelValue> values;
  for (std::uint32_t i = 0; i < kernel_.arguments.size(); ++i) {
    const RecordedArgument& argument = kernel_.arguments[i];
    if (const auto* integer = std::get_if<IntArgument>(&argument)) {
      values.emplace_back(integer->value);
    } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
      values.emplace_back(real->value);
    } else if (const auto* local = std::get_if<LocalArgument>(&argument)) {
      values.emplace_back(LocalMemory{local->bytes});
    } else if (const auto& tensor = std::get<RecordedTensor>(argument); tensor.index) {
      const auto contents = index.find(i);
      if (contents == index.end() || contents->second.empty()) {
        throw UserError("kernel " + kernel_.name + ": argument " + std::to_string(i) +
                        " holds indices, and their values were not given to the recorder");
      }
      const Bytes bytes{4 * contents->second.size()};
      OpenClMemory buffer =
          create_buffer(context_, bytes, CL_MEM_READ_WRITE, "recorded indices of " + kernel_.name);
      write_buffer(objects_->queue, buffer, Bytes{0}, contents->second.data(), bytes,
                   "recorded indices of " + kernel_.name);
      values.emplace_back(buffer.get());
      objects_->index.push_back(std::move(buffer));
    } else if (tensor.placement == Placement::image2d) {
      if (!objects_->dummy_image) {
        objects_->dummy_image = create_image(context_, {1, 1}, DataType::f32, title());
      }
      values.emplace_back(objects_->dummy_image.get());
    } else {
      values.emplace_back(objects_->dummy_buffer.get());
    }
  }
  set_arguments(*objects_->kernel, values, 0, title());
}

std::string GroupRecorder::title() const { return "kernel " + kernel_.name + " (recording)"; }

void GroupRecorder::ensure_log(std::size_t groups) {
  const std::size_t items = kernel_.local_size[0] * kernel_.local_size[1] * kernel_.local_size[2];
  const std::size_t bytes = 4 * groups * items * room_;
  if (bytes > objects_->log_bytes) {
    objects_->log.reset();
    objects_->log = create_buffer(context_, Bytes{bytes}, CL_MEM_READ_WRITE,
                                  "the recording log of " + kernel_.name);
    objects_->log_bytes = bytes;
  }
  log_.resize(bytes / 4);
}

/// Returns the words the longest log needs.
std::uint32_t GroupRecorder::run_batch(const std::vector<GroupId>& groups) {
  const std::uint64_t items =
      std::uint64_t{kernel_.local_size[0]} * kernel_.local_size[1] * kernel_.local_size[2];
  ensure_log(groups.size());
  const Bytes group_bytes{groups.size() * sizeof(GroupId)};
  objects_->groups.reset();
  objects_->groups =
      create_buffer(context_, group_bytes, CL_MEM_READ_WRITE, "recorded groups of " + kernel_.name);
  write_buffer(objects_->queue, objects_->groups, Bytes{0}, groups.data(), group_bytes,
               "recorded groups of " + kernel_.name);
  const auto& counts = kernel_.group_count;
  set_arguments(*objects_->kernel,
                {objects_->log.get(), room_, objects_->groups.get(),
                 std::array<std::int32_t, 4>{static_cast<std::int32_t>(counts[0]),
                                             static_cast<std::int32_t>(counts[1]),
                                             static_cast<std::int32_t>(counts[2]), 0}},
                static_cast<cl_uint>(kernel_.arguments.size()), title());
  const auto& local = kernel_.local_size;
  const OpenClEvent done = enqueue_kernel(objects_->queue, *objects_->kernel,
                                          {groups.size() * local[0], local[1], local[2]},
                                          {local[0], local[1], local[2]}, title());
  wait_for(done, title());
  read_buffer(objects_->queue, objects_->log, Bytes{0}, log_.data(), Bytes{4 * log_.size()},
              "the recording log of " + kernel_.name);
  std::uint32_t needed = 0;
  for (std::size_t slot = 0; slot < groups.size() * items; ++slot) {
    needed = std::max(needed, log_[slot * room_]);
  }
  return needed;
}

void GroupRecorder::record(const std::vector<GroupId>& groups,
                           const std::function<void(GroupLog)>& take) {
  const std::size_t items = kernel_.local_size[0] * kernel_.local_size[1] * kernel_.local_size[2];
  for (std::size_t first = 0; first < groups.size();) {
    const std::size_t fitting = std::max<std::size_t>(1, log_limit / (4 * items * room_));
    const std::size_t size = std::min(fitting, groups.size() - first);
    const std::vector<GroupId> batch(groups.begin() + static_cast<std::ptrdiff_t>(first),
                                     groups.begin() + static_cast<std::ptrdiff_t>(first + size));
    const std::uint32_t needed = run_batch(batch);
    if (needed > room_) {
      // Again with room for all of them; the kernel says how much it takes.
      room_ = needed + needed / 8;
      continue;
    }
    for (std::size_t i = 0; i < size; ++i) {
      take(GroupLog(batch[i], kernel_.local_size, log_.data() + i * items * room_, room_));
    }
    first += size;
  }
}

}  // namespace fm
