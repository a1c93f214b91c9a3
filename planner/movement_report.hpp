#pragma once
// What layout transformation costs: operators of the graph by class, and bytes that launches move
// without computing.

#include <map>
#include <string>

#include "core/graph.hpp"
#include "core/plan.hpp"

namespace fm {

/// Operators after the passes by layout class ("ILD-Variable", ..).
std::map<std::string, std::size_t> operators_by_class(const Graph& graph);

struct MovementTotals {
  std::size_t launches = 0;         ///< that only bring data from one place to another
  Bytes bytes;                      ///< read and written by them, elements that count only
  std::size_t index_functions = 0;  ///< tensor arguments read or written through one
};
MovementTotals movement_totals(const Plan& plan);

}  // namespace fm
