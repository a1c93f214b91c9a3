#pragma once
// A small valid trace: a weight is read from disk, copied to an image, used by one launch.

#include "core/trace_file.hpp"

namespace fm {

inline trace::AccessProgram small_program(std::uint32_t id) {
  trace::AccessProgram program;
  program.set_id(id);
  program.set_kernel("unary");
  for (const std::uint32_t size : {8, 1, 1}) program.add_local_size(size);
  for (const std::uint32_t count : {4, 2, 1}) program.add_group_count(count);
  program.set_groups_total(8);
  program.set_groups_fitted(4);
  program.set_groups_checked(4);
  for (const std::uint32_t argument : {0, 2}) {
    trace::Site& site = *program.add_sites();
    site.set_space(argument == 0 ? trace::GLOBAL : trace::IMAGE);
    site.set_bytes(8);
    site.set_argument(argument);
    site.set_index_load(argument == 0);
    trace::LinearTerm& term = *site.mutable_x()->add_terms();
    term.set_coefficient(8);
    term.set_variable(trace::LOCAL_X);
    program.add_body()->set_access(static_cast<std::uint32_t>(program.sites_size() - 1));
  }
  return program;
}

inline Trace small_trace() {
  Trace trace;
  trace.header.set_version(trace_version);
  trace.header.set_recorder("test");
  trace.header.set_plan_yaml("plan: 1");
  (*trace.header.mutable_device())["name"] = "PoCL";
  trace.programs.push_back(small_program(1));
  trace.index_contents.emplace_back();
  trace.index_contents[0].set_program(1);
  trace.index_contents[0].set_object(1);
  for (int i = 0; i < 100; ++i) trace.index_contents[0].add_values(i * i - 50);
  const auto add = [&]() -> trace::HostOperation& {
    trace.operations.emplace_back();
    trace.operations.back().set_id(trace.operations.size());
    return trace.operations.back();
  };
  trace::CreateObject& buffer = *add().mutable_create();
  buffer.set_object(1);
  buffer.set_bytes(4096);
  trace::CreateObject& image = *add().mutable_create();
  image.set_object(2);
  image.set_image(true);
  image.set_width(16);
  image.set_height(8);
  image.set_texel_bytes(8);
  image.set_bytes(1024);
  trace::DiskRead& read = *add().mutable_disk_read();
  read.set_object(1);
  read.set_bytes(4096);
  read.set_request_bytes(4096);
  trace::HostOperation& copy = add();
  copy.add_after(3);
  copy.mutable_copy()->set_source(1);
  copy.mutable_copy()->set_destination(2);
  copy.mutable_copy()->set_bytes(1024);
  copy.mutable_copy()->set_rows(8);
  trace::HostOperation& launch = add();
  launch.add_after(4);
  launch.mutable_launch()->set_program(1);
  launch.mutable_launch()->set_launch("L0");
  for (const std::uint32_t index : {0, 2}) {
    trace::Argument& argument = *launch.mutable_launch()->add_arguments();
    argument.set_index(index);
    argument.set_object(index == 0 ? 1 : 2);
  }
  trace::HostOperation& wait = add();
  wait.add_after(5);
  wait.mutable_wait();
  add().mutable_release()->set_object(2);
  return trace;
}

}  // namespace fm
