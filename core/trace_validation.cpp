#include <set>

#include "core/access_program.hpp"
#include "core/diagnostics.hpp"
#include "core/trace_file.hpp"

namespace fm {
namespace {

/// References between the parts of one trace.
class TraceValidation {
 public:
  TraceValidation(const Trace& trace, const std::string& path) : trace_(trace), path_(path) {}

  void run() {
    check_features();
    check_quirks();
    for (const trace::AccessProgram& program : trace_.programs) check_program(program);
    for (const trace::HostOperation& operation : trace_.operations) check_operation(operation);
    // After the operations: contents name objects that those create.
    for (const trace::IndexContents& contents : trace_.index_contents) check_contents(contents);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw UserError({path_}, message); }
  [[noreturn]] void fail(const trace::HostOperation& operation, const std::string& message) const {
    fail("host operation " + std::to_string(operation.id()) + ": " + message);
  }

  void check_features() const {
    std::set<std::string> names;
    for (const trace::DeviceFeature& feature : trace_.header.features()) {
      if (feature.name().empty()) fail("a device feature has no name");
      if (!names.insert(feature.name()).second) {
        fail("two device features are named " + feature.name());
      }
      if (feature.used() && feature.found() == "no") {
        fail("device feature " + feature.name() + " was used, but the device had none");
      }
    }
  }

  void check_quirks() const {
    std::set<std::string> names;
    for (const trace::DriverQuirk& quirk : trace_.header.quirks()) {
      if (quirk.name().empty()) fail("a driver quirk has no name");
      if (!names.insert(quirk.name()).second) {
        fail("two driver quirks are named " + quirk.name());
      }
    }
  }

  void check_program(const trace::AccessProgram& program) {
    if (program.id() == 0) fail("an access program has no id");
    if (!programs_.emplace(program.id(), &program).second) {
      fail("two access programs have the id " + std::to_string(program.id()));
    }
    try {
      validate(program);
    } catch (const UserError& error) {
      fail(error.what());
    }
  }

  void check_contents(const trace::IndexContents& contents) const {
    const auto program = programs_.find(contents.program());
    if (program == programs_.end()) {
      fail("index contents name access program " + std::to_string(contents.program()) +
           ", which the trace lacks");
    }
    const auto sites = static_cast<std::uint64_t>(program->second->sites_size());
    if (contents.site() >= sites ||
        !program->second->sites(static_cast<int>(contents.site())).index_load()) {
      fail("index contents of program " + std::to_string(contents.program()) + " name site " +
           std::to_string(contents.site()) + ", which is no index load");
    }
  }

  void check_operation(const trace::HostOperation& operation) {
    if (operation.id() <= last_id_) {
      fail("host operation ids must ascend from 1: " + std::to_string(operation.id()) +
           " follows " + std::to_string(last_id_));
    }
    last_id_ = operation.id();
    for (const std::uint64_t before : operation.after()) {
      if (ids_.count(before) == 0) {
        fail(operation,
             "waits for operation " + std::to_string(before) + ", which does not come before it");
      }
    }
    ids_.insert(operation.id());
    check_kind(operation);
  }

  void check_kind(const trace::HostOperation& operation) {
    switch (operation.operation_case()) {
      case trace::HostOperation::kCreate:
        return create(operation, operation.create());
      case trace::HostOperation::kRelease:
        return release(operation, operation.release().object());
      case trace::HostOperation::kDiskRead: {
        const trace::DiskRead& read = operation.disk_read();
        if (read.request_bytes() == 0) fail(operation, "a disk read needs request_bytes above 0");
        return disk_read(operation, read);
      }
      case trace::HostOperation::kMap:
        return touch_range(operation, operation.map().object(), 0, operation.map().bytes());
      case trace::HostOperation::kUnmap:
        return touch_range(operation, operation.unmap().object(), 0, operation.unmap().bytes());
      case trace::HostOperation::kCopy:
        return copy(operation, operation.copy());
      case trace::HostOperation::kLaunch:
        return launch(operation, operation.launch());
      case trace::HostOperation::kChangeClass:
        return touch_range(operation, operation.change_class().object(), 0,
                           operation.change_class().bytes());
      case trace::HostOperation::kTransfer: {
        const trace::HostTransfer& transfer = operation.transfer();
        return touch_range(operation, transfer.object(), transfer.offset(), transfer.bytes());
      }
      case trace::HostOperation::kWait:
      case trace::HostOperation::kThink:
        return;
      case trace::HostOperation::OPERATION_NOT_SET:
        fail(operation, "it is of a kind this tool does not know");
    }
  }

  void create(const trace::HostOperation& operation, const trace::CreateObject& object) {
    if (object.object() == 0) fail(operation, "object numbers begin at 1");
    if (!ever_created_.insert(object.object()).second) {
      fail(operation, "object " + std::to_string(object.object()) + " is created twice");
    }
    const std::uint64_t texels = std::uint64_t{object.width()} * object.height();
    if (object.image() && (texels == 0 || object.texel_bytes() == 0 ||
                           object.bytes() / object.texel_bytes() != texels ||
                           object.bytes() % object.texel_bytes() != 0)) {
      fail(operation, "an image's bytes must be width * height * texel_bytes, all above 0");
    }
    alive_[object.object()] = &object;
  }

  void release(const trace::HostOperation& operation, std::uint64_t object) {
    known(operation, object);
    alive_.erase(object);
  }

  const trace::CreateObject& known(const trace::HostOperation& operation,
                                   std::uint64_t object) const {
    const auto entry = alive_.find(object);
    if (entry != alive_.end()) return *entry->second;
    fail(operation,
         "object " + std::to_string(object) +
             (ever_created_.count(object) != 0 ? " was released before" : " was never created"));
  }

  void touch_range(const trace::HostOperation& operation, std::uint64_t object,
                   std::uint64_t offset, std::uint64_t bytes) const {
    const trace::CreateObject& target = known(operation, object);
    if (offset <= target.bytes() && bytes <= target.bytes() - offset) return;
    fail(operation, "bytes " + std::to_string(offset) + " + " + std::to_string(bytes) +
                        " lie outside object " + std::to_string(object) + " of " +
                        std::to_string(target.bytes()));
  }

  void disk_read(const trace::HostOperation& operation, const trace::DiskRead& read) const {
    if (read.scattered().empty()) {
      return touch_range(operation, read.object(), read.object_offset(), read.bytes());
    }
    for (const trace::ScatteredRange& range : read.scattered()) {
      touch_range(operation, read.object(), range.object_offset(), read.request_bytes());
    }
    const auto ranges = static_cast<std::uint64_t>(read.scattered_size());
    if (read.bytes() / ranges == read.request_bytes() && read.bytes() % ranges == 0) return;
    fail(operation, "its " + std::to_string(ranges) + " ranges of " +
                        std::to_string(read.request_bytes()) + " bytes are not the " +
                        std::to_string(read.bytes()) + " it reads");
  }

  void copy(const trace::HostOperation& operation, const trace::Copy& copy) const {
    if (copy.source() != 0) {
      touch_range(operation, copy.source(), copy.source_offset(), copy.bytes());
    }
    const trace::CreateObject& image = known(operation, copy.destination());
    if (!image.image()) {
      return touch_range(operation, copy.destination(), copy.destination_offset(), copy.bytes());
    }
    if (std::uint64_t{copy.first_row()} + copy.rows() > image.height()) {
      fail(operation, "rows lie outside image " + std::to_string(copy.destination()));
    }
  }

  void launch(const trace::HostOperation& operation, const trace::Launch& launch) const {
    const auto program = programs_.find(launch.program());
    const bool foreign = launch.program() == 0 && launch.has_kernel();
    if (program == programs_.end() && !foreign) {
      fail(operation, "launch '" + launch.launch() + "' names access program " +
                          std::to_string(launch.program()) + ", which the trace lacks");
    }
    std::set<std::uint32_t> bound;
    for (const trace::Argument& argument : launch.arguments()) {
      const trace::CreateObject& object = known(operation, argument.object());
      if (argument.offset() > object.bytes()) {
        fail(operation,
             "argument " + std::to_string(argument.index()) + " begins outside its object");
      }
      bound.insert(argument.index());
    }
    if (foreign) return;
    for (const trace::Site& site : program->second->sites()) {
      if (site.space() == trace::LOCAL || bound.count(site.argument()) != 0) continue;
      fail(operation, "launch '" + launch.launch() + "' binds no object to argument " +
                          std::to_string(site.argument()) + " of program " +
                          std::to_string(launch.program()));
    }
  }

  const Trace& trace_;
  const std::string& path_;
  std::map<std::uint32_t, const trace::AccessProgram*> programs_;
  std::map<std::uint64_t, const trace::CreateObject*> alive_;
  std::set<std::uint64_t> ever_created_;
  std::set<std::uint64_t> ids_;
  std::uint64_t last_id_ = 0;
};

}  // namespace

Trace read_trace(const std::string& path) {
  TraceReader reader(path);
  Trace trace;
  trace.header = reader.header();
  trace::Frame frame;
  while (reader.next(&frame)) {
    if (frame.has_program()) trace.programs.push_back(std::move(*frame.mutable_program()));
    if (frame.has_index_contents()) {
      trace.index_contents.push_back(std::move(*frame.mutable_index_contents()));
    }
    if (!frame.has_operations()) continue;
    for (trace::HostOperation& operation : *frame.mutable_operations()->mutable_operations()) {
      trace.operations.push_back(std::move(operation));
    }
  }
  trace.left_out = reader.left_out();
  TraceValidation(trace, path).run();
  return trace;
}

}  // namespace fm
