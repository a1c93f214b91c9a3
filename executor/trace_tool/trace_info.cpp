#include "executor/trace_tool/trace_info.hpp"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/access_program.hpp"

namespace fm {
namespace {

using Json = nlohmann::ordered_json;

/// Field names of the oneof, as trace.proto spells them.
std::string kind_of(const trace::HostOperation& operation) {
  const auto* field = trace::HostOperation::descriptor()->FindFieldByNumber(
      static_cast<int>(operation.operation_case()));
  return field ? field->name() : "none";
}

Json host_facts(const Trace& trace) {
  std::map<std::string, std::uint64_t> kinds;
  std::uint64_t read = 0, copied = 0, written = 0, fetched = 0, macs = 0;
  for (const trace::HostOperation& operation : trace.operations) {
    ++kinds[kind_of(operation)];
    read += operation.disk_read().bytes();
    copied += operation.copy().bytes();
    const trace::HostTransfer& transfer = operation.transfer();
    (transfer.to_device() ? written : fetched) += transfer.bytes();
    macs += operation.launch().macs();
  }
  Json facts;
  facts["operations"] = trace.operations.size();
  facts["by_kind"] = kinds;
  facts["bytes_read"] = read;
  facts["bytes_copied"] = copied;
  facts["bytes_transferred"] = {{"to_device", written}, {"from_device", fetched}};
  facts["macs"] = macs;
  return facts;
}

Json program_facts(const trace::AccessProgram& program, std::uint64_t launches) {
  std::uint64_t table_values = 0;
  for (const trace::ExplicitTable& table : program.tables()) {
    table_values += static_cast<std::uint64_t>(table.deltas_size());
  }
  Json facts;
  facts["id"] = program.id();
  facts["kernel"] = program.kernel();
  facts["key"] = program.key();
  facts["launches"] = launches;
  facts["local_size"] =
      std::vector<std::uint32_t>(program.local_size().begin(), program.local_size().end());
  facts["group_count"] =
      std::vector<std::uint32_t>(program.group_count().begin(), program.group_count().end());
  facts["sites"] = program.sites_size();
  facts["derivations"] = program.derivations_size();
  facts["tables"] = program.tables_size();
  facts["table_values"] = table_values;
  facts["local_bytes"] = [&] {
    std::uint64_t bytes = 0;
    for (const trace::LocalArray& array : program.local_arrays()) bytes += array.bytes();
    return bytes;
  }();
  facts["registers"] =
      std::map<std::string, std::uint32_t>(program.registers().begin(), program.registers().end());
  facts["registers_source"] = program.registers_source();
  facts["groups_fitted"] = program.groups_fitted();
  facts["groups_checked"] = program.groups_checked();
  facts["groups_total"] = program.groups_total();
  facts["bytes"] = program.ByteSizeLong();
  return facts;
}

/// Launches of other programs' kernels, by kernel.
Json foreign_facts(const Trace& trace) {
  struct Kernel {
    std::uint64_t launches = 0, timed = 0, nanoseconds = 0;
  };
  std::map<std::pair<std::string, std::string>, Kernel> kernels;
  for (const trace::HostOperation& operation : trace.operations) {
    if (!operation.has_launch() || !operation.launch().has_kernel()) continue;
    const trace::ForeignKernel& launched = operation.launch().kernel();
    Kernel& kernel = kernels[{launched.name(), launched.program_digest()}];
    ++kernel.launches;
    kernel.timed += launched.timed() ? 1 : 0;
    kernel.nanoseconds += launched.duration_ns();
  }
  Json facts = Json::array();
  for (const auto& [key, kernel] : kernels) {
    facts.push_back({{"kernel", key.first},
                     {"program_digest", key.second},
                     {"launches", kernel.launches},
                     {"timed", kernel.timed},
                     {"time_ns", kernel.nanoseconds}});
  }
  return facts;
}

/// What was there over the host program, in the order of its operations.
Json object_facts(const Trace& trace) {
  std::uint64_t buffers = 0, images = 0, held = 0, peak = 0;
  std::map<std::uint64_t, std::uint64_t> bytes;
  for (const trace::HostOperation& operation : trace.operations) {
    if (operation.has_create()) {
      const trace::CreateObject& object = operation.create();
      ++(object.image() ? images : buffers);
      bytes[object.object()] = object.bytes();
      held += object.bytes();
      peak = std::max(peak, held);
    }
    if (operation.has_release()) held -= bytes[operation.release().object()];
  }
  return {{"buffers", buffers}, {"images", images}, {"peak_bytes", peak}, {"bytes_at_end", held}};
}

Json feature_facts(const trace::Header& header) {
  Json facts = Json::array();
  for (const trace::DeviceFeature& feature : header.features()) {
    facts.push_back({{"name", feature.name()},
                     {"found", feature.found()},
                     {"used", feature.used()},
                     {"reason", feature.reason()}});
  }
  return facts;
}

Json quirk_facts(const trace::Header& header) {
  Json facts = Json::array();
  for (const trace::DriverQuirk& quirk : header.quirks()) {
    facts.push_back({{"name", quirk.name()},
                     {"symptom", quirk.symptom()},
                     {"effect", quirk.effect()},
                     {"link", quirk.link()}});
  }
  return facts;
}

Json info(const Trace& trace, const std::string& path) {
  std::map<std::uint32_t, std::uint64_t> launches;
  for (const trace::HostOperation& operation : trace.operations) {
    if (operation.has_launch()) ++launches[operation.launch().program()];
  }
  Json json;
  json["file"] = path;
  json["bytes"] = std::filesystem::file_size(path);
  json["version"] = trace.header.version();
  json["recorder"] = trace.header.recorder();
  json["model_digest"] = trace.header.model_digest();
  json["weightless"] = trace.header.weightless();
  json["plan_bytes"] = trace.header.plan_yaml().size();
  json["device"] = std::map<std::string, std::string>(trace.header.device().begin(),
                                                      trace.header.device().end());
  json["features"] = feature_facts(trace.header);
  json["quirks"] = quirk_facts(trace.header);
  json["host"] = host_facts(trace);
  json["objects"] = object_facts(trace);
  json["left_out"] = trace.left_out;
  json["foreign_kernels"] = foreign_facts(trace);
  json["index_contents"] = trace.index_contents.size();
  json["programs"] = Json::array();
  for (const trace::AccessProgram& program : trace.programs) {
    json["programs"].push_back(program_facts(program, launches[program.id()]));
  }
  return json;
}

std::string sizes(const Json& sizes) {
  std::string text;
  for (const Json& size : sizes) text += (text.empty() ? "" : "x") + size.dump();
  return text;
}

void write_features(const Json& features, std::ostream& out) {
  for (const Json& feature : features) {
    out << "feature     " << feature["name"].get<std::string>() << ": "
        << feature["found"].get<std::string>() << "; "
        << (feature["used"].get<bool>() ? "" : "not ")
        << "used: " << feature["reason"].get<std::string>() << "\n";
  }
}

void write_quirks(const Json& quirks, std::ostream& out) {
  for (const Json& quirk : quirks) {
    out << "quirk       " << quirk["name"].get<std::string>() << ": "
        << quirk["symptom"].get<std::string>() << "; " << quirk["effect"].get<std::string>() << " ("
        << quirk["link"].get<std::string>() << ")\n";
  }
}

void write_programs(const Json& programs, std::ostream& out) {
  out << "\n  id  kernel            launches  local      groups       sites  tables  fitted  "
         "checked  "
         "of groups  bytes\n";
  for (const Json& program : programs) {
    out << std::right << std::setw(4) << program["id"].get<std::uint32_t>() << "  " << std::left
        << std::setw(18) << program["kernel"].get<std::string>() << std::right << std::setw(8)
        << program["launches"].get<std::uint64_t>() << "  " << std::left << std::setw(11)
        << sizes(program["local_size"]) << std::setw(13) << sizes(program["group_count"])
        << std::right << std::setw(5) << program["sites"].get<int>() << std::setw(8)
        << program["tables"].get<int>() << std::setw(8)
        << program["groups_fitted"].get<std::uint64_t>() << std::setw(9)
        << program["groups_checked"].get<std::uint64_t>() << std::setw(11)
        << program["groups_total"].get<std::uint64_t>() << std::setw(7)
        << program["bytes"].get<std::uint64_t>() << "\n";
  }
}

void write_foreign_kernels(const Json& kernels, std::ostream& out) {
  out << "\n  kernel                                    launches   timed     time, ms\n";
  for (const Json& kernel : kernels) {
    out << "  " << std::left << std::setw(40) << kernel["kernel"].get<std::string>() << std::right
        << std::setw(10) << kernel["launches"].get<std::uint64_t>() << std::setw(8)
        << kernel["timed"].get<std::uint64_t>() << std::setw(13) << std::fixed
        << std::setprecision(3) << kernel["time_ns"].get<double>() / 1e6 << "\n";
  }
}

}  // namespace

std::string info_json(const Trace& trace, const std::string& path) {
  // Names from a model or a file system may be anything.
  return info(trace, path).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string info_text(const Trace& trace, const std::string& path) {
  const Json facts = info(trace, path);
  std::ostringstream out;
  out << "trace       " << path << ", " << facts["bytes"].get<std::uint64_t>() << " bytes, format "
      << trace.header.version() << "\n"
      << "recorder    " << trace.header.recorder()
      << (trace.header.weightless() ? ", without weights" : "") << "\n"
      << "model       " << trace.header.model_digest() << "\n"
      << "plan        "
      << (trace.header.plan_yaml().empty()
              ? std::string("none")
              : std::to_string(trace.header.plan_yaml().size()) + " bytes, embedded")
      << "\n";
  for (const auto& [name, value] : facts["device"].items()) {
    out << "device      " << name << ": " << value.get<std::string>() << "\n";
  }
  write_features(facts["features"], out);
  write_quirks(facts["quirks"], out);
  const Json& host = facts["host"];
  out << "host        " << host["operations"].get<std::uint64_t>() << " operations:";
  for (const auto& [kind, count] : host["by_kind"].items()) {
    out << " " << count.get<std::uint64_t>() << " " << kind;
  }
  out << "\n            " << host["bytes_read"].get<std::uint64_t>() << " bytes read from disk, "
      << host["bytes_copied"].get<std::uint64_t>() << " copied, "
      << host["macs"].get<std::uint64_t>() << " MACs\n"
      << "accesses    " << trace.programs.size() << " programs, contents of "
      << trace.index_contents.size() << " index buffers\n";
  const Json& objects = facts["objects"];
  out << "objects     " << objects["buffers"].get<std::uint64_t>() << " buffers, "
      << objects["images"].get<std::uint64_t>() << " images, at most "
      << objects["peak_bytes"].get<std::uint64_t>() << " bytes at a time\n";
  for (const auto& [what, times] : trace.left_out) {
    out << "left out    " << what << ": " << times << "\n";
  }
  if (!trace.programs.empty()) write_programs(facts["programs"], out);
  if (!facts["foreign_kernels"].empty()) write_foreign_kernels(facts["foreign_kernels"], out);
  return out.str();
}

}  // namespace fm
