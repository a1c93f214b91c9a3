#include "executor/program_cache.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "core/atomic_file.hpp"
#include "core/diagnostics.hpp"
#include "core/digest.hpp"
#include "executor/driver_quirks.hpp"

namespace fm {
namespace {

// A cached file: this, then the checksum of the binary (8 bytes), then the binary.
constexpr char magic[8] = {'F', 'M', 'C', 'L', 'B', 'I', 'N', '1'};

std::string key_of(const OpenClDevice& device, const std::string& name, const std::string& source,
                   const std::string& options) {
  std::string text;
  for (const std::string& part : {name, source, options, device.name, device.version, device.driver,
                                  device.platform_name, device.platform_version}) {
    text += std::to_string(part.size()) + ":" + part;
  }
  return digest_of(text);
}

std::optional<std::string> read_binary(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  char found[sizeof magic] = {};
  std::uint64_t checksum = 0;
  file.read(found, sizeof found);
  file.read(reinterpret_cast<char*>(&checksum), sizeof checksum);
  if (!file || std::memcmp(found, magic, sizeof magic) != 0) return std::nullopt;
  std::string binary{std::istreambuf_iterator<char>(file), {}};
  if (checksum_of(binary.data(), binary.size()) != checksum) return std::nullopt;
  return binary;
}

/// None from drivers that have none or fail to give it: without one the next run only takes longer.
std::optional<std::string> binary_of(const OpenClProgram& program) {
  std::size_t size = 0;
  if (opencl().clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizeof size, &size,
                                nullptr) != CL_SUCCESS ||
      size == 0) {
    return std::nullopt;
  }
  std::string binary(size, '\0');
  auto* data = reinterpret_cast<unsigned char*>(binary.data());
  if (opencl().clGetProgramInfo(program.get(), CL_PROGRAM_BINARIES, sizeof data, &data, nullptr) !=
      CL_SUCCESS) {
    return std::nullopt;
  }
  return binary;
}

/// The definitions alone, which make the kernel what the plan says: no version of the language is
/// asked for and no optimisation, and the last try forbids those that compilers do unasked.
std::vector<std::string> plainer_options(const std::string& options) {
  std::string plain;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    if (word.compare(0, 4, "-cl-") != 0) plain += (plain.empty() ? "" : " ") + word;
  }
  return {plain, plain + (plain.empty() ? "" : " ") + "-cl-opt-disable"};
}

}  // namespace

std::string default_cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) {
    return std::string(cache) + "/flashmem";
  }
  if (const char* home = std::getenv("HOME"); home && *home) {
    return std::string(home) + "/.cache/flashmem";
  }
  return "";
}

ProgramCache::ProgramCache(const OpenClContext& context, std::string folder)
    : context_(context),
      folder_(has_quirk(context.device(), QuirkEffect::no_binaries) ? "" : std::move(folder)),
      optimises_(!has_quirk(context.device(), QuirkEffect::no_optimisation)) {
  if (folder_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) folder_.clear();  // a read-only home only costs time
}

const OpenClKernel& ProgramCache::kernel(const std::string& name, const std::string& source,
                                         const std::string& planned) {
  const std::string options = optimises_ ? planned : planned + " -cl-opt-disable";
  const std::string key = key_of(context_.device(), name, source, options);
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second.kernel;
  return entries_.emplace(key, make(name, source, options)).first->second.kernel;
}

ProgramCache::Entry ProgramCache::make(const std::string& name, const std::string& source,
                                       const std::string& options) {
  try {
    return load_or_build(name, source, options);
  } catch (const ProgramBuildError& refused) {
    for (const std::string& plainer : plainer_options(options)) {
      if (plainer == options) continue;
      try {
        Entry entry = load_or_build(name, source, plainer);
        fallbacks_.push_back({name, plainer, refused.what()});
        return entry;
      } catch (const ProgramBuildError&) {
        continue;
      }
    }
    throw DeviceError(std::string(refused.what()) +
                      "\nbuilding it without the -cl- options, and with -cl-opt-disable, failed "
                      "too; update the driver, or choose another device with --device");
  }
}

ProgramCache::Entry ProgramCache::load_or_build(const std::string& name, const std::string& source,
                                                const std::string& options) {
  const std::string key = key_of(context_.device(), name, source, options);
  const std::string path =
      folder_.empty() ? "" : folder_ + "/" + key.substr(key.find(':') + 1) + ".clbin";
  Entry entry;
  if (load(path, name, &entry)) return entry;
  entry.program = build_program(context_, name, source, options);
  entry.kernel = create_kernel(entry.program, name);
  ++built_from_source_;
  save(path, entry.program);
  return entry;
}

std::string describe(const BuildFallback& fallback) {
  return "kernel " + fallback.kernel + " was refused as planned, and built with \"" +
         fallback.options + "\" instead: " + fallback.refused;
}

bool ProgramCache::load(const std::string& path, const std::string& name, Entry* entry) {
  if (path.empty() || !std::filesystem::exists(path)) return false;
  if (const std::optional<std::string> binary = read_binary(path)) {
    const auto* data = reinterpret_cast<const unsigned char*>(binary->data());
    const std::size_t size = binary->size();
    const cl_device_id device = context_.device().id;
    cl_int status = CL_SUCCESS, code = CL_SUCCESS;
    OpenClProgram program(opencl().clCreateProgramWithBinary(context_.get(), 1, &device, &size,
                                                             &data, &status, &code));
    if (code == CL_SUCCESS && status == CL_SUCCESS &&
        opencl().clBuildProgram(program.get(), 1, &device, nullptr, nullptr, nullptr) ==
            CL_SUCCESS) {
      OpenClKernel kernel(opencl().clCreateKernel(program.get(), name.c_str(), &code));
      if (code == CL_SUCCESS) {
        entry->program = std::move(program);
        entry->kernel = std::move(kernel);
        ++loaded_from_disk_;
        return true;
      }
    }
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return false;
}

void ProgramCache::save(const std::string& path, const OpenClProgram& program) const {
  if (path.empty()) return;
  const std::optional<std::string> binary = binary_of(program);
  if (!binary) return;
  const std::uint64_t checksum = checksum_of(binary->data(), binary->size());
  try {
    AtomicFile file(path);
    file.stream().write(magic, sizeof magic);
    file.stream().write(reinterpret_cast<const char*>(&checksum), sizeof checksum);
    file.stream().write(binary->data(), static_cast<std::streamsize>(binary->size()));
    file.commit();
  } catch (const std::exception&) {
    return;  // a full or read-only disk only costs time
  }
}

}  // namespace fm
