#pragma once
// Which bank, row and column an address of a channel falls into.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/memory/dram_parameters.hpp"

namespace fm {

struct DramPlace {
  std::uint32_t bank = 0;  ///< of the channel: group x banks of a group + bank of the group
  std::uint32_t group = 0;
  std::uint64_t row = 0;
  std::uint32_t column = 0;  ///< in bursts
};

/// An address mapping as a list of words from high to low address bits:
///
///   row bank group column             neighbours share a row; then banks of different groups
///   row column bank group column:2    four requests, then the next group
///
/// They are the bits above a request: its own bytes are always the lowest columns of a row. A field
/// may come in pieces: all but one give their number of bits; pieces of a field ascend from
/// low to high address bits. `hash` spreads strides over banks:
/// `row` flips the bank number's bits by the low bits of the row; `column` flips those of group,
/// bank and row by the bits of the column above a request, from the lowest on (MOP4CLXOR in
/// Ramulator).
class DramMapping {
 public:
  /// `line_bytes` is the size of a request. Throws UserError when the words are not a mapping of
  /// this channel.
  explicit DramMapping(const DramParameters& parameters);
  DramPlace locate(std::uint64_t local) const;

  /// Names of other simulators for the same thing ("RoBaRaCoCh", "rochrababgco", ...), as words and
  /// hash; false when `name` is none of them.
  static bool named(const std::string& name, std::string* words, std::string* hash);

 private:
  enum class Field : std::uint8_t { row, bank, group, column };
  struct Piece {
    Field field;
    std::uint8_t address_shift, field_shift;
    std::uint64_t mask;
  };
  std::vector<Piece> pieces_;
  std::uint32_t burst_shift_ = 0, bank_bits_ = 0, group_bits_ = 0, request_bits_ = 0;
  bool hash_row_ = false, hash_column_ = false;
};

}  // namespace fm
