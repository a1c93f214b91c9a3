#pragma once
// Expanding an access program: every access of every work-item, exactly as the kernel made them.
// This is the reference expander: simple and complete. fmsim has a faster one, tested equal to it.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/trace.pb.h"

namespace fm {

/// One work-item's part in one access.
struct ItemAccess {
  std::uint32_t site = 0;
  std::int64_t x = 0;  ///< byte offset, or texel x before clamping
  std::int64_t y = 0;
  friend bool operator==(const ItemAccess& a, const ItemAccess& b) {
    return a.site == b.site && a.x == b.x && a.y == b.y;
  }
};

/// Lanes of one wave making one access, in lockstep order. Inactive lanes are absent from `lanes`.
struct WaveAccess {
  std::uint32_t site = 0;
  std::uint32_t barrier_epoch = 0;
  struct Lane {
    std::uint32_t lane;
    std::int64_t x, y;
  };
  std::vector<Lane> lanes;
};

/// Contents of index buffers by site, for DATA variables; element 0 lies at the tensor argument's
/// offset.
using IndexValues = std::map<std::uint32_t, std::vector<std::int64_t>>;

std::uint64_t group_total(const trace::AccessProgram& program);
std::uint32_t items_per_group(const trace::AccessProgram& program);
/// x fastest.
std::array<std::uint32_t, 3> group_at(const trace::AccessProgram& program,
                                      std::uint64_t linear_group);

/// Value of a derivation. Throws UserError for a division by zero or a shift out of range.
std::int64_t derive(trace::Derivation::Operator op, std::int64_t left, std::int64_t right);
bool holds(std::int64_t left, trace::Relation relation, std::int64_t right);

/// All accesses of one work-item in program order.
std::vector<ItemAccess> expand_item(const trace::AccessProgram& program, const IndexValues& index,
                                    std::array<std::uint32_t, 3> group, std::uint32_t linear_item);

/// Accesses and arithmetic of one wave (items [wave * width, ...) of a group) in lockstep: a loop
/// runs while any lane is in it, a guard's body runs when any lane takes it.
void expand_wave(const trace::AccessProgram& program, const IndexValues& index,
                 std::array<std::uint32_t, 3> group, std::uint32_t wave, std::uint32_t width,
                 const std::function<void(const WaveAccess&)>& on_access,
                 const std::function<void(const trace::Node::Arithmetic&,
                                          std::uint32_t active_lanes)>& on_arithmetic);

/// Structure is sound: sites, tables, loops and variables exist, steps positive, geometry not
/// empty. Every site, derivation and table is used by one node at most; loop ids are 0, 1, ..; LOOP
/// variables are of enclosing loops, DATA and DERIVED ones of nodes that come before in the same or
/// an enclosing block. Throws UserError.
void validate(const trace::AccessProgram& program);

}  // namespace fm
