#include "executor/trace_tool/trace_dump.hpp"

#include <algorithm>
#include <ostream>

#include "core/access_expander.hpp"
#include "core/diagnostics.hpp"
#include "executor/trace_tool/program_text.hpp"

namespace fm {
namespace {

std::string lower(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return word;
}

std::string sizes(const google::protobuf::RepeatedField<std::uint64_t>& sizes) {
  std::string text;
  for (const std::uint64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string foreign_words(const trace::ForeignKernel& kernel) {
  std::string words = kernel.name() + " " + sizes(kernel.global_size());
  if (kernel.local_size_size() > 0) words += " in groups of " + sizes(kernel.local_size());
  if (kernel.timed()) return words + ", " + std::to_string(kernel.duration_ns()) + " ns measured";
  return words + ", not timed";
}

std::string operation_words(const trace::HostOperation& operation) {
  using Case = trace::HostOperation;
  const auto object = [](std::uint64_t id) { return "object " + std::to_string(id); };
  const auto bytes = [](std::uint64_t count) { return ", " + std::to_string(count) + " bytes"; };
  switch (operation.operation_case()) {
    case Case::kCreate: {
      const trace::CreateObject& create = operation.create();
      return "create " + object(create.object()) + " " + create.name() + bytes(create.bytes()) +
             (create.image() ? ", image " + std::to_string(create.width()) + "x" +
                                   std::to_string(create.height())
                             : ", buffer") +
             ", " + lower(trace::MemoryClass_Name(create.memory_class()));
    }
    case Case::kRelease:
      return "release " + object(operation.release().object());
    case Case::kDiskRead: {
      const trace::DiskRead& read = operation.disk_read();
      if (!read.scattered().empty()) {
        return "disk_read " + read.weight() + bytes(read.bytes()) + " in " +
               std::to_string(read.scattered_size()) + " ranges to " + object(read.object());
      }
      return "disk_read " + read.weight() + " at " + std::to_string(read.file_offset()) +
             bytes(read.bytes()) + " to " + object(read.object()) + " + " +
             std::to_string(read.object_offset());
    }
    case Case::kMap:
      return "map " + object(operation.map().object()) + bytes(operation.map().bytes());
    case Case::kUnmap:
      return "unmap " + object(operation.unmap().object()) + bytes(operation.unmap().bytes());
    case Case::kCopy: {
      const trace::Copy& copy = operation.copy();
      const std::string source =
          copy.source() == 0 ? "pattern"
                             : object(copy.source()) + " + " + std::to_string(copy.source_offset());
      const std::string place = copy.rows() == 0
                                    ? " + " + std::to_string(copy.destination_offset())
                                    : " rows " + std::to_string(copy.first_row()) + "..." +
                                          std::to_string(copy.first_row() + copy.rows());
      return "copy " + copy.launch() + " " + source + " to " + object(copy.destination()) + place +
             bytes(copy.bytes()) + ", queue " + std::to_string(copy.queue());
    }
    case Case::kLaunch: {
      const trace::Launch& launch = operation.launch();
      std::string words = "launch " + launch.launch() + " ";
      words += launch.has_kernel()
                   ? foreign_words(launch.kernel())
                   : launch.operation() + ", program " + std::to_string(launch.program());
      words += ", queue " + std::to_string(launch.queue());
      for (const trace::Argument& argument : launch.arguments()) {
        words += ", " + std::to_string(argument.index()) + "=" +
                 (launch.has_kernel() ? object(argument.object()) : argument.tensor());
      }
      return words;
    }
    case Case::kWait:
      return "wait";
    case Case::kThink:
      return "think " + std::to_string(operation.think().nanoseconds()) + " ns, " +
             lower(trace::Think::Phase_Name(operation.think().phase()));
    case Case::kChangeClass:
      return "change_class " + object(operation.change_class().object()) + " " +
             lower(trace::MemoryClass_Name(operation.change_class().from())) + " -> " +
             lower(trace::MemoryClass_Name(operation.change_class().to())) +
             bytes(operation.change_class().bytes());
    case Case::kTransfer:
      return std::string("transfer ") + (operation.transfer().to_device() ? "to " : "from ") +
             object(operation.transfer().object()) + " + " +
             std::to_string(operation.transfer().offset()) + bytes(operation.transfer().bytes());
    case Case::OPERATION_NOT_SET:
      break;
  }
  return "none";
}

/// Counts lines and says when enough were written.
class Lines {
 public:
  Lines(std::ostream& out, std::uint64_t limit) : out_(out), limit_(limit) {}
  bool full() const { return limit_ != 0 && written_ >= limit_; }
  void write(const std::string& line) {
    if (full()) return;
    out_ << line << "\n";
    ++written_;
  }

 private:
  std::ostream& out_;
  std::uint64_t limit_;
  std::uint64_t written_ = 0;
};

void dump_operations(const Trace& trace, Lines& lines) {
  for (const trace::HostOperation& operation : trace.operations) {
    if (lines.full()) return;
    std::string line = std::to_string(operation.id()) + " thread " +
                       std::to_string(operation.thread()) + ": " + operation_words(operation);
    for (int i = 0; i < operation.after_size(); ++i) {
      line += (i == 0 ? ", after " : " ") + std::to_string(operation.after(i));
    }
    lines.write(line);
  }
}

const trace::AccessProgram& program_of(const Trace& trace, std::uint32_t id) {
  for (const trace::AccessProgram& program : trace.programs) {
    if (program.id() == id) return program;
  }
  throw UserError("the trace has no access program " + std::to_string(id));
}

const trace::Launch& launch_of(const Trace& trace, const std::string& id) {
  std::vector<std::string> ids;
  for (const trace::HostOperation& operation : trace.operations) {
    if (!operation.has_launch()) continue;
    if (operation.launch().launch() == id) return operation.launch();
    ids.push_back(operation.launch().launch());
  }
  throw UserError("the trace has no launch '" + id + "': " + accepted_words(id, ids));
}

std::string access_line(const trace::AccessProgram& program, std::uint32_t wave,
                        const WaveAccess& access) {
  const trace::Site& site = program.sites(static_cast<int>(access.site));
  std::string line = "wave " + std::to_string(wave) + " site " + std::to_string(access.site) + " " +
                     site_words(program, access.site) + ", epoch " +
                     std::to_string(access.barrier_epoch) + ":";
  for (const WaveAccess::Lane& lane : access.lanes) {
    line += " " + std::to_string(lane.lane) + "=" + std::to_string(lane.x);
    if (site.space() == trace::IMAGE) line += "," + std::to_string(lane.y);
  }
  return line;
}

void dump_accesses(const Trace& trace, const DumpSelection& selection, Lines& lines) {
  const trace::Launch& launch = launch_of(trace, selection.launch);
  if (launch.program() == 0) {
    throw UserError("launch " + selection.launch + " (" + launch.kernel().name() +
                    ") is another program's: its accesses were not described");
  }
  const trace::AccessProgram& program = program_of(trace, launch.program());
  const auto group = selection.group.value_or(std::array<std::uint32_t, 3>{0, 0, 0});
  for (std::size_t d = 0; d < 3; ++d) {
    if (group[d] >= program.group_count(static_cast<int>(d))) {
      throw UserError("launch " + selection.launch + " has " +
                      std::to_string(program.group_count(0)) + "x" +
                      std::to_string(program.group_count(1)) + "x" +
                      std::to_string(program.group_count(2)) + " work-groups");
    }
  }
  const std::uint32_t waves = (items_per_group(program) + selection.width - 1) / selection.width;
  if (selection.wave && *selection.wave >= waves) {
    throw UserError("a work-group of launch " + selection.launch + " has " + std::to_string(waves) +
                    " waves of " + std::to_string(selection.width));
  }
  const IndexValues index = index_values_of(trace, program, launch);
  const AccessExpander expander(program, index);
  for (std::uint32_t wave = 0; wave < waves; ++wave) {
    if (selection.wave && *selection.wave != wave) continue;
    expander.wave(
        group, wave, selection.width,
        [&](const WaveAccess& access) { lines.write(access_line(program, wave, access)); },
        nullptr);
  }
}

}  // namespace

IndexValues index_values_of(const Trace& trace, const trace::AccessProgram& program,
                            const trace::Launch& launch) {
  IndexValues values;
  for (const trace::IndexContents& contents : trace.index_contents) {
    if (contents.program() != program.id()) continue;
    const trace::Site& site = program.sites(static_cast<int>(contents.site()));
    for (const trace::Argument& argument : launch.arguments()) {
      if (argument.index() != site.argument() || argument.object() != contents.object()) continue;
      values[contents.site()].assign(contents.values().begin(), contents.values().end());
    }
  }
  return values;
}

void dump(const Trace& trace, const DumpSelection& selection, std::ostream& out) {
  Lines lines(out, selection.limit);
  if (selection.program) {
    out << program_text(program_of(trace, *selection.program));
  } else if (!selection.launch.empty()) {
    dump_accesses(trace, selection, lines);
  } else {
    dump_operations(trace, lines);
  }
}

}  // namespace fm
