#include "kernels/register_counts.hpp"

#include <sstream>
#include <stdexcept>
#include <vector>

#include "kernels/catalogue.hpp"
#include "kernels/embedded_sources.hpp"

namespace fm {
namespace {

constexpr const char* table_file = "compiled_registers.csv";
const char* const instruction_sets[] = {"valhall", "bifrost", "adreno"};

struct TwinTable {
  std::string source;
  std::map<std::string, std::vector<std::string>> names;  ///< of each kernel's parameters
  std::map<std::string, CompiledTwin> twins;
};

std::string key(const std::string& kernel, const std::string& parameters, const std::string& memory,
                const std::string& accumulate, const std::string& isa) {
  return kernel + "," + parameters + "," + memory + "," + accumulate + "," + isa;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::uint32_t number(const std::string& text) {
  return static_cast<std::uint32_t>(std::stoul(text));
}

void add_row(TwinTable* table, const std::vector<std::string>& columns,
             const std::vector<std::string>& row) {
  const auto column = [&](const std::string& name) {
    for (std::size_t i = 0; i < columns.size() && i < row.size(); ++i) {
      if (columns[i] == name) return row[i];
    }
    throw std::logic_error(std::string(table_file) + ": a row without " + name);
  };
  std::vector<std::string>& names = table->names[column("kernel")];
  if (names.empty()) {
    for (const std::string& word : split(column("parameters"), ' ')) {
      names.push_back(word.substr(0, word.find('=')));
    }
  }
  CompiledTwin twin;
  twin.registers = number(column("registers"));
  twin.spills = number(column("spills"));
  twin.fills = number(column("fills"));
  twin.instructions = number(column("instructions"));
  twin.texture = number(column("texture"));
  twin.load_store = number(column("load_store"));
  table->twins[key(column("kernel"), column("parameters"), column("memory"), column("accumulate"),
                   column("isa"))] = twin;
}

/// `# source: compiled(..)`, other comments, the columns' names, rows.
TwinTable read_table(const std::string& text) {
  const std::string source = "# source: ";
  TwinTable table;
  std::vector<std::string> columns;
  for (const std::string& line : split(text, '\n')) {
    if (line.compare(0, source.size(), source) == 0) table.source = line.substr(source.size());
    if (line.empty() || line[0] == '#') continue;
    if (columns.empty()) {
      columns = split(line, ',');
    } else {
      add_row(&table, columns, split(line, ','));
    }
  }
  return table;
}

const TwinTable& twin_table() {
  static const TwinTable table = read_table(embedded_sources().at(table_file));
  return table;
}

/// Mali gives a work-item 32 registers, or 64 to half as many work-items, and spills beyond (Arm
/// GPU Datasheet v7).
std::uint32_t allocated(std::uint32_t estimate, const std::string& isa) {
  if (isa == "adreno") return estimate;
  return estimate <= 32 ? 32 : 64;
}

}  // namespace

TwinForm twin_form(const Plan& plan, const PlanLaunch& launch) {
  TwinForm form;
  form.accumulate = plan.accumulate == DataType::f16 ? "half" : "float";
  const KernelEntry& entry = catalogue_entry(launch.kernel);
  const auto declared = entry.arguments(launch.parameters);
  std::string weights;
  for (std::size_t i = 0; i < declared.size() && i < launch.arguments.size(); ++i) {
    const auto* argument = std::get_if<TensorArgument>(&launch.arguments[i]);
    if (argument == nullptr) continue;
    const bool image = plan.tensor(argument->tensor).placement == Placement::image2d;
    const std::string where = image ? "image" : "buffer";
    if (form.memory.empty()) form.memory = where;
    if (declared[i].name == "b" || declared[i].name == "filter") weights = where;
  }
  if (!weights.empty() && weights != form.memory) form.memory += "+" + weights;
  return form;
}

std::optional<CompiledTwin> compiled_twin(const std::string& kernel,
                                          const std::map<std::string, std::string>& parameters,
                                          const TwinForm& form, const std::string& isa) {
  const TwinTable& table = twin_table();
  const auto names = table.names.find(kernel);
  if (names == table.names.end()) return std::nullopt;
  std::string words;
  for (const std::string& name : names->second) {
    const auto found = parameters.find(name);
    if (found == parameters.end()) return std::nullopt;
    words += (words.empty() ? "" : " ") + name + "=" + found->second;
  }
  const auto twin = table.twins.find(key(kernel, words, form.memory, form.accumulate, isa));
  // A kernel without accumulators of its own is compiled once, for float.
  if (twin == table.twins.end() && form.accumulate == "half") {
    return compiled_twin(kernel, parameters, {form.memory, "float"}, isa);
  }
  if (twin == table.twins.end()) return std::nullopt;
  return twin->second;
}

RegisterCounts register_counts(const Plan& plan, const PlanLaunch& launch) {
  const std::uint32_t estimate = catalogue_entry(launch.kernel).registers(launch.parameters);
  const TwinForm form = twin_form(plan, launch);
  RegisterCounts counts;
  std::string compiled, estimated;
  for (const std::string isa : instruction_sets) {
    const auto twin = compiled_twin(launch.kernel, launch.parameters, form, isa);
    counts.by_isa[isa] = twin ? twin->registers : allocated(estimate, isa);
    std::string& list = twin ? compiled : estimated;
    list += (list.empty() ? "" : ", ") + isa;
  }
  const std::string rule = "estimated: accumulators, operands and addresses of the source";
  counts.source = estimated.empty()  ? twin_table().source
                  : compiled.empty() ? rule
                                     : twin_table().source + " for " + compiled + "; " + rule +
                                           ", for " + estimated;
  return counts;
}

}  // namespace fm
