// Sources of the catalogue's kernels: macros in front, includes of this folder replaced by their
// text, pipelined loops written out.
#include <set>
#include <sstream>
#include <stdexcept>

#include "kernels/catalogue.hpp"
#include "kernels/embedded_sources.hpp"
#include "kernels/index_function.hpp"
#include "kernels/pipelined_loops.hpp"

namespace fm {
namespace {

const std::string& file_text(const std::string& name) {
  const auto found = embedded_sources().find(name);
  if (found == embedded_sources().end()) throw std::out_of_range("no kernel source " + name);
  return found->second;
}

/// Each file is included once; OpenCL compilers on phones know no include path.
void append_with_includes(const std::string& file, std::set<std::string>& done, std::string& out) {
  if (!done.insert(file).second) return;
  std::istringstream lines(file_text(file));
  const std::string directive = "#include \"";
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, directive.size(), directive) == 0) {
      const std::size_t end = line.find('"', directive.size());
      append_with_includes(line.substr(directive.size(), end - directive.size()), done, out);
    } else {
      out += line + "\n";
    }
  }
}

/// The kernel itself, without the macros it is written in.
std::string kernel_text(const std::string& kernel) {
  catalogue_entry(kernel);
  std::string out;
  std::set<std::string> done;
  append_with_includes(kernel + ".cl", done, out);
  return expand_pipelined_loops(out);
}

}  // namespace

std::string access_macros() {
  return file_text("access_plain.clh") + file_text("access_recording.clh") +
         file_text("access_index.clh");
}

std::string kernel_source(const std::string& kernel) {
  return access_macros() + kernel_text(kernel);
}

std::string kernel_source(const Plan& plan, const PlanLaunch& launch) {
  return index_definitions(plan, launch) + kernel_source(launch.kernel);
}

std::string kernel_source(const Plan& plan, const PlanLaunch& launch, const KernelBuild& build) {
  if (!build.checked && !build.sliced) return kernel_source(plan, launch);
  return index_definitions(plan, launch) + file_text("access_plain.clh") +
         (build.checked ? file_text("access_checked.clh") : "") +
         (build.sliced ? file_text("access_sliced.clh") : "") + file_text("access_index.clh") +
         kernel_text(launch.kernel);
}

}  // namespace fm
