#include "planner/operator_table.hpp"

namespace fm {

const OperatorTable& operator_table() {
  static const OperatorTable table = [] {
    OperatorTable entries;
    add_elementwise_operators(&entries);
    add_movement_operators(&entries);
    add_selection_operators(&entries);
    add_spatial_operators(&entries);
    add_contraction_operators(&entries);
    return entries;
  }();
  return table;
}

}  // namespace fm
