#pragma once
// Registers of a launch's work-items: as real mobile compilers allocate them where a twin of the
// kernel was compiled (compiled_registers.csv, written by tools/isa/compile.py), else as the
// catalogue estimates them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/plan.hpp"

namespace fm {

/// What a compiler says about one twin. Instructions are those of one wave.
struct CompiledTwin {
  std::uint32_t registers = 0;  ///< 32-bit, a work-item, as the hardware allocates them
  std::uint32_t spills = 0, fills = 0;
  std::uint32_t instructions = 0, texture = 0, load_store = 0;
};

/// Where a launch's tensors lie and what it accumulates in, as the table names them.
struct TwinForm {
  std::string memory;      ///< "image", "buffer" or "buffer+image" (activations, weights)
  std::string accumulate;  ///< "float" or "half"
};
TwinForm twin_form(const Plan& plan, const PlanLaunch& launch);

/// The twin of `kernel` with the launch's parameters for `isa` ("valhall", "bifrost", "adreno");
/// none when it was not compiled.
std::optional<CompiledTwin> compiled_twin(const std::string& kernel,
                                          const std::map<std::string, std::string>& parameters,
                                          const TwinForm& form, const std::string& isa);

struct RegisterCounts {
  std::map<std::string, std::uint32_t> by_isa;
  std::string source;  ///< "compiled(mesa 22.3.6)", "estimated: ..", or both with their sets
};
/// For every instruction set a device may have (gpu.isa). Throws std::out_of_range: not in the
/// catalogue.
RegisterCounts register_counts(const Plan& plan, const PlanLaunch& launch);

}  // namespace fm
