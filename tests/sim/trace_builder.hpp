#pragma once
// Small traces for tests, written by hand.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace_file.hpp"
#include "tests/sim/program_builder.hpp"

namespace fm::test {

using Causes = std::vector<std::uint64_t>;

/// Adds host operations in order; every adder returns the operation's id.
class TraceBuilder {
 public:
  TraceBuilder() {
    trace_.header.set_version(trace_version);
    trace_.header.set_recorder("a test");
  }

  /// A program that reads `bytes_each` x items of argument 0 and writes them to argument 1, one
  /// after the other.
  std::uint32_t add_copy_program(std::uint32_t items, std::uint32_t groups,
                                 std::uint32_t bytes_each = 16, std::uint32_t fma = 4) {
    trace::AccessProgram program = empty_program({items, 1, 1}, {groups, 1, 1});
    const auto each = static_cast<std::int64_t>(bytes_each);
    const trace::Expression x = expression(
        0, {{each, trace::LOCAL_X}, {each * static_cast<std::int64_t>(items), trace::GROUP_X}});
    add_access(&program, program.mutable_body(), trace::GLOBAL, false, bytes_each, 0, x);
    add_arithmetic(program.mutable_body(), trace::FMA, fma);
    add_access(&program, program.mutable_body(), trace::GLOBAL, true, bytes_each, 1, x);
    return add_program(program);
  }
  std::uint32_t add_program(trace::AccessProgram program) {
    program.set_id(static_cast<std::uint32_t>(trace_.programs.size() + 1));
    trace_.programs.push_back(program);
    return program.id();
  }

  TraceBuilder& on_thread(std::uint32_t thread) {
    thread_ = thread;
    return *this;
  }

  std::uint64_t buffer(std::uint64_t object, std::uint64_t bytes,
                       trace::MemoryClass memory_class = trace::ACTIVATIONS,
                       const Causes& after = {}) {
    trace::HostOperation operation;
    auto* create = operation.mutable_create();
    create->set_object(object);
    create->set_memory_class(memory_class);
    create->set_bytes(bytes);
    create->set_name("object" + std::to_string(object));
    return add(operation, after);
  }
  std::uint64_t image(std::uint64_t object, std::uint32_t width, std::uint32_t height,
                      trace::MemoryClass memory_class = trace::TM_IN_FLIGHT,
                      const Causes& after = {}) {
    trace::HostOperation operation;
    auto* create = operation.mutable_create();
    create->set_object(object);
    create->set_memory_class(memory_class);
    create->set_image(true);
    create->set_width(width);
    create->set_height(height);
    create->set_texel_bytes(8);
    create->set_bytes(std::uint64_t{8} * width * height);
    create->set_name("image" + std::to_string(object));
    return add(operation, after);
  }
  std::uint64_t release(std::uint64_t object, const Causes& after = {}) {
    trace::HostOperation operation;
    operation.mutable_release()->set_object(object);
    return add(operation, after);
  }
  std::uint64_t read(std::uint64_t object, std::uint64_t bytes, const Causes& after = {},
                     std::uint64_t request_bytes = 1 << 20, bool direct = true,
                     std::uint64_t file_offset = 0) {
    trace::HostOperation operation;
    auto* disk_read = operation.mutable_disk_read();
    disk_read->set_file_offset(file_offset);
    disk_read->set_object(object);
    disk_read->set_bytes(bytes);
    disk_read->set_request_bytes(request_bytes);
    disk_read->set_direct(direct);
    disk_read->set_weight("w" + std::to_string(object));
    return add(operation, after);
  }
  /// Ranges at the begins of `ranges` parts of object and file, each `apart` from the next.
  std::uint64_t read_scattered(std::uint64_t object, int ranges, std::uint64_t range_bytes,
                               std::uint64_t apart) {
    trace::HostOperation operation;
    auto* disk_read = operation.mutable_disk_read();
    disk_read->set_object(object);
    disk_read->set_bytes(range_bytes * static_cast<std::uint64_t>(ranges));
    disk_read->set_request_bytes(range_bytes);
    disk_read->set_weight("w" + std::to_string(object));
    for (int i = 0; i < ranges; ++i) {
      auto* range = disk_read->add_scattered();
      range->set_file_offset(apart * static_cast<std::uint64_t>(i));
      range->set_object_offset(apart * static_cast<std::uint64_t>(i));
    }
    return add(operation, {});
  }
  std::uint64_t map(std::uint64_t object, std::uint64_t bytes, const Causes& after = {}) {
    trace::HostOperation operation;
    operation.mutable_map()->set_object(object);
    operation.mutable_map()->set_bytes(bytes);
    return add(operation, after);
  }
  std::uint64_t copy(std::uint64_t source, std::uint64_t image, std::uint32_t first_row,
                     std::uint32_t rows, std::uint64_t bytes, std::uint32_t queue,
                     const std::string& launch = "", const Causes& after = {}) {
    trace::HostOperation operation;
    auto* given = operation.mutable_copy();
    given->set_source(source);
    given->set_destination(image);
    given->set_first_row(first_row);
    given->set_rows(rows);
    given->set_bytes(bytes);
    given->set_queue(queue);
    given->set_launch(launch);
    return add(operation, after);
  }
  /// Arguments 0, 1, .. are `objects`.
  std::uint64_t launch(const std::string& name, std::uint32_t program,
                       const std::vector<std::uint64_t>& objects, const Causes& after = {},
                       std::uint64_t macs = 0) {
    trace::HostOperation operation;
    auto* given = operation.mutable_launch();
    given->set_launch(name);
    given->set_program(program);
    given->set_macs(macs);
    given->set_operation("Test");
    for (std::size_t i = 0; i < objects.size(); ++i) {
      auto* argument = given->add_arguments();
      argument->set_index(static_cast<std::uint32_t>(i));
      argument->set_object(objects[i]);
      argument->set_tensor("w" + std::to_string(objects[i]));
    }
    return add(operation, after);
  }
  /// Of a kernel nobody described, on `queue`; without `nanoseconds` nobody measured it either.
  std::uint64_t foreign_launch(const std::string& name, std::optional<std::uint64_t> nanoseconds,
                               const std::vector<std::uint64_t>& objects = {},
                               const Causes& after = {}, std::uint32_t queue = 0) {
    trace::HostOperation operation;
    auto* given = operation.mutable_launch();
    given->set_launch(name);
    given->set_queue(queue);
    given->mutable_kernel()->set_name("foreign");
    given->mutable_kernel()->set_timed(nanoseconds.has_value());
    given->mutable_kernel()->set_duration_ns(nanoseconds.value_or(0));
    for (const std::uint64_t object : objects) given->add_arguments()->set_object(object);
    return add(operation, after);
  }
  /// Between buffers; from object 0 a fill.
  std::uint64_t copy_buffer(std::uint64_t source, std::uint64_t destination, std::uint64_t bytes) {
    trace::HostOperation operation;
    auto* given = operation.mutable_copy();
    given->set_source(source);
    given->set_destination(destination);
    given->set_bytes(bytes);
    return add(operation, {});
  }
  std::uint64_t wait(const Causes& after) {
    trace::HostOperation operation;
    operation.mutable_wait();
    return add(operation, after);
  }
  std::uint64_t think(trace::Think::Phase phase, std::uint64_t nanoseconds,
                      std::uint32_t programs = 0) {
    trace::HostOperation operation;
    operation.mutable_think()->set_phase(phase);
    operation.mutable_think()->set_nanoseconds(nanoseconds);
    operation.mutable_think()->set_programs(programs);
    return add(operation, {});
  }
  std::uint64_t change_class(std::uint64_t object, trace::MemoryClass from, trace::MemoryClass to,
                             std::uint64_t bytes, const Causes& after = {}) {
    trace::HostOperation operation;
    auto* change = operation.mutable_change_class();
    change->set_object(object);
    change->set_from(from);
    change->set_to(to);
    change->set_bytes(bytes);
    return add(operation, after);
  }
  std::uint64_t transfer(std::uint64_t object, std::uint64_t bytes, bool to_device,
                         const Causes& after = {}) {
    trace::HostOperation operation;
    auto* given = operation.mutable_transfer();
    given->set_object(object);
    given->set_bytes(bytes);
    given->set_to_device(to_device);
    return add(operation, after);
  }

  const Trace& trace() const { return trace_; }

 private:
  std::uint64_t add(trace::HostOperation operation, const Causes& after) {
    operation.set_id(trace_.operations.size() + 1);
    operation.set_thread(thread_);
    for (const std::uint64_t cause : after) operation.add_after(cause);
    trace_.operations.push_back(operation);
    return operation.id();
  }

  Trace trace_;
  std::uint32_t thread_ = 0;
};

}  // namespace fm::test
