#pragma once
// The reference expander as an object: decodes a program's tables once and expands any of its
// waves. Use it rather than the free functions of access_program.hpp when expanding many items of
// one program.

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/access_program.hpp"

namespace fm {

using OnWaveAccess = std::function<void(const WaveAccess&)>;
using OnWaveArithmetic =
    std::function<void(const trace::Node::Arithmetic&, std::uint32_t active_lanes)>;

/// Keeps references to the program and the index values: both must outlive it. Immutable, so one
/// expander may serve several threads.
class AccessExpander {
 public:
  AccessExpander(const trace::AccessProgram& program, const IndexValues& index);

  /// All accesses of one work-item in program order.
  std::vector<ItemAccess> item(std::array<std::uint32_t, 3> group, std::uint32_t linear_item) const;

  /// Accesses and arithmetic of items [wave * width, ...) of a group, in lockstep.
  /// Throws UserError where an index load reads beyond the contents given.
  void wave(std::array<std::uint32_t, 3> group, std::uint32_t wave, std::uint32_t width,
            const OnWaveAccess& on_access, const OnWaveArithmetic& on_arithmetic) const;

 private:
  struct Table {
    std::vector<std::uint64_t> first;  ///< of each work-item of the launch, plus one past the end
    std::vector<std::int64_t> values;
  };
  friend class WaveWalk;

  const trace::AccessProgram& program_;
  const IndexValues& index_;
  std::vector<Table> tables_;
  std::uint32_t loops_ = 0;  ///< highest loop id + 1
};

}  // namespace fm
