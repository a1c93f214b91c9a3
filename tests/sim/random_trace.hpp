#pragma once
// Host programs drawn at random: valid by construction, as a recorder would write them.

#include <algorithm>
#include <map>
#include <vector>

#include "tests/sim/random_config.hpp"
#include "tests/sim/random_program.hpp"
#include "tests/sim/trace_builder.hpp"

namespace fm::test {

/// Two threads; buffers and images of every class; disk reads, launches, copies on two queues,
/// maps, transfers, changes of class, waits, releases. Every operation waits only for earlier ones.
class RandomTraceMaker {
 public:
  explicit RandomTraceMaker(std::uint32_t seed) : draw_(seed), seed_(seed) {}

  Trace make() {
    if (draw_.pick(0, 1) == 0) {
      builder_.think(trace::Think::CONTEXT, 1);
      builder_.think(trace::Think::PROGRAMS, 1, static_cast<std::uint32_t>(draw_.pick(0, 3)));
    }
    for (std::uint64_t n = draw_.pick(1, 4); n > 0; --n) add_buffer();
    for (std::uint64_t n = draw_.pick(1, 3); n > 0; --n) add_image();
    for (std::uint64_t n = draw_.pick(1, 2); n > 0; --n) add_program();
    copy_program_ = builder_.add_copy_program(64, 16);
    for (std::uint64_t n = draw_.pick(2, 10); n > 0; --n) add_step();
    builder_.on_thread(0).wait(all_);
    for (const auto& [object, bytes] : buffers_) {
      if (draw_.pick(0, 1) == 0) builder_.release(object);
    }
    Trace trace = builder_.trace();
    for (trace::IndexContents& contents : index_) trace.index_contents.push_back(contents);
    return trace;
  }

 private:
  struct Program {
    std::uint32_t id = 0;
    IndexValues index;
  };

  trace::MemoryClass memory_class() {
    return std::vector<trace::MemoryClass>{trace::PRELOADED, trace::UM_IN_FLIGHT,
                                           trace::TM_IN_FLIGHT,
                                           trace::ACTIVATIONS}[draw_.pick(0, 3)];
  }

  void add_buffer() {
    const std::uint64_t object = ++objects_, bytes = 16384 * draw_.pick(1, 6);
    all_.push_back(last_created_ = builder_.buffer(object, bytes, memory_class()));
    buffers_[object] = bytes;
  }

  void add_image() {
    const std::uint64_t object = ++objects_;
    const auto width = static_cast<std::uint32_t>(draw_.pick(1, 60));
    const auto height = static_cast<std::uint32_t>(draw_.pick(1, 60));
    all_.push_back(last_created_ = builder_.image(object, width, height, memory_class()));
    images_[object] = height;
  }

  void add_program() {
    RandomProgram made =
        RandomProgramMaker::small(seed_ * 7 + static_cast<std::uint32_t>(programs_.size())).make();
    part_arguments(&made.program);
    programs_.push_back({builder_.add_program(made.program), std::move(made.index)});
  }

  template <class Objects>
  std::uint64_t any(const Objects& objects) {
    return std::next(objects.begin(),
                     static_cast<std::ptrdiff_t>(draw_.pick(0, objects.size() - 1)))
        ->first;
  }

  /// A few earlier operations, never one of another kind of trouble: all of them come to an end.
  Causes causes() {
    Causes some;
    for (std::uint64_t n = draw_.pick(0, 2); n > 0; --n) {
      some.push_back(all_[draw_.pick(0, all_.size() - 1)]);
    }
    std::sort(some.begin(), some.end());
    some.erase(std::unique(some.begin(), some.end()), some.end());
    return some;
  }

  void add_step() {
    const std::uint64_t kind = draw_.pick(0, 6);
    // One thread enqueues all commands: a real program waits for events that are there already.
    builder_.on_thread(kind >= 3 ? 0 : static_cast<std::uint32_t>(draw_.pick(0, 1)));
    Causes after = causes();
    const std::uint64_t buffer = any(buffers_), bytes = buffers_.at(buffer);
    // Objects are created by thread 0: thread 1 waits for that.
    after.push_back(last_created_);
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    switch (kind) {
      case 0:
        all_.push_back(builder_.read(buffer, draw_.pick(1, bytes), after, 1 << draw_.pick(9, 16),
                                     draw_.pick(0, 1) == 0));
        break;
      case 1:
        all_.push_back(builder_.map(buffer, draw_.pick(1, bytes), after));
        break;
      case 2:
        all_.push_back(
            builder_.transfer(buffer, draw_.pick(1, bytes), draw_.pick(0, 1) == 0, after));
        break;
      case 3: {
        const std::uint64_t image = any(images_);
        const auto first = static_cast<std::uint32_t>(draw_.pick(0, images_.at(image) - 1));
        const auto rows = static_cast<std::uint32_t>(draw_.pick(1, images_.at(image) - first));
        all_.push_back(builder_.copy(buffer, image, first, rows, draw_.pick(1, bytes),
                                     static_cast<std::uint32_t>(draw_.pick(0, 1)), "", after));
        break;
      }
      case 4:
        all_.push_back(builder_.launch(next_name(), copy_program_, {buffer, any(buffers_)}, after));
        break;
      default:
        add_launch(buffer, after);
    }
  }

  void add_launch(std::uint64_t buffer, const Causes& after) {
    const Program& program = programs_[draw_.pick(0, programs_.size() - 1)];
    const std::uint64_t image = any(images_), other = any(buffers_);
    all_.push_back(builder_.launch(next_name(), program.id, {buffer, image, other}, after));
    for (const auto& [site, values] : program.index) {
      const trace::Site& load =
          builder_.trace().programs[program.id - 1].sites(static_cast<int>(site));
      trace::IndexContents contents;
      contents.set_program(program.id);
      contents.set_site(site);
      contents.set_object(load.argument() == 0 ? buffer : other);
      for (const std::int64_t value : values) contents.add_values(value);
      const auto same = [&](const trace::IndexContents& known) {
        return known.program() == contents.program() && known.site() == site &&
               known.object() == contents.object();
      };
      if (std::none_of(index_.begin(), index_.end(), same)) index_.push_back(contents);
    }
  }

  std::string next_name() { return "L" + std::to_string(launches_++); }

  Draw draw_;
  const std::uint32_t seed_;
  TraceBuilder builder_;
  std::uint64_t objects_ = 0, last_created_ = 0;
  std::uint32_t copy_program_ = 0;
  std::map<std::uint64_t, std::uint64_t> buffers_;  ///< bytes
  std::map<std::uint64_t, std::uint64_t> images_;   ///< rows
  std::vector<Program> programs_;
  std::vector<trace::IndexContents> index_;
  Causes all_;
  std::uint32_t launches_ = 0;
};

}  // namespace fm::test
