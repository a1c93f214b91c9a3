#include "sim/memory/dram_mapping.hpp"

#include <array>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <charconv>
#include <map>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

std::uint32_t log2_of(std::uint64_t value) {
  std::uint32_t bits = 0;
  while ((std::uint64_t{1} << (bits + 1)) <= value) ++bits;
  return bits;
}

[[noreturn]] void refuse(const std::string& mapping, const std::string& why) {
  throw UserError("dram.mapping (" + mapping + ") " + why +
                  "; a mapping names row, bank, group and column from high to low address bits, "
                  "for example: row column bank group column:2");
}

}  // namespace

DramMapping::DramMapping(const DramParameters& parameters) {
  const std::string& text = parameters.mapping;
  const std::map<std::string, Field> names = {{"row", Field::row},
                                              {"bank", Field::bank},
                                              {"group", Field::group},
                                              {"column", Field::column}};
  burst_shift_ = log2_of(parameters.burst_bytes);
  group_bits_ = log2_of(parameters.bank_groups);
  bank_bits_ = log2_of(parameters.banks / parameters.bank_groups);
  request_bits_ = log2_of(std::max(1u, parameters.line_bytes / parameters.burst_bytes));
  std::array<std::uint32_t, 4> rest = {
      log2_of(parameters.rows), bank_bits_, group_bits_,
      log2_of(parameters.row_bytes / parameters.burst_bytes) - request_bits_};
  struct Word {
    Field field;
    std::uint32_t bits;
    bool open;
  };
  std::vector<std::string> parts;
  boost::split(parts, text, boost::is_space(), boost::token_compress_on);
  std::vector<Word> words;
  for (const std::string& part : parts) {
    const std::size_t colon = part.find(':');
    const auto found = names.find(part.substr(0, colon));
    if (found == names.end()) refuse(text, "has an unknown field '" + part + "'");
    Word word{found->second, 0, colon == std::string::npos};
    if (!word.open) {
      const char* const end = part.data() + part.size();
      const auto [stop, error] = std::from_chars(part.data() + colon + 1, end, word.bits);
      std::uint32_t& left = rest[static_cast<std::size_t>(word.field)];
      if (error != std::errc() || stop != end || word.bits > left) {
        refuse(text, "gives " + found->first + " more bits than the " + std::to_string(left) +
                         " it has left");
      }
      left -= word.bits;
    }
    words.push_back(word);
  }
  for (Word& word : words) {
    if (!word.open) continue;
    word.bits = rest[static_cast<std::size_t>(word.field)];
    rest[static_cast<std::size_t>(word.field)] = 0;
  }
  for (const auto& [name, field] : names) {
    const std::uint32_t left = rest[static_cast<std::size_t>(field)];
    if (left != 0) refuse(text, "leaves out " + std::to_string(left) + " bits of " + name);
  }
  std::uint32_t shift = burst_shift_ + request_bits_;
  std::array<std::uint32_t, 4> placed{};
  placed[static_cast<std::size_t>(Field::column)] = request_bits_;
  pieces_.push_back({Field::column, static_cast<std::uint8_t>(burst_shift_), 0,
                     (std::uint64_t{1} << request_bits_) - 1});
  for (std::size_t i = words.size(); i-- != 0;) {
    const Word& word = words[i];
    if (word.bits == 0) continue;
    std::uint32_t& low = placed[static_cast<std::size_t>(word.field)];
    const bool top = i == 0 && word.field == Field::row;  // an address beyond the chips: more rows
    pieces_.push_back({word.field, static_cast<std::uint8_t>(shift), static_cast<std::uint8_t>(low),
                       top ? ~std::uint64_t{0} : (std::uint64_t{1} << word.bits) - 1});
    low += word.bits;
    shift += word.bits;
  }
  hash_row_ = parameters.hash == "row";
  hash_column_ = parameters.hash == "column";
}

DramPlace DramMapping::locate(std::uint64_t local) const {
  std::array<std::uint64_t, 4> fields{};
  for (const Piece& piece : pieces_) {
    fields[static_cast<std::size_t>(piece.field)] |= ((local >> piece.address_shift) & piece.mask)
                                                     << piece.field_shift;
  }
  DramPlace place;
  place.row = fields[0];
  place.column = static_cast<std::uint32_t>(fields[3]);
  std::uint32_t bank = static_cast<std::uint32_t>(fields[2] << bank_bits_ | fields[1]);
  if (hash_row_)
    bank ^= static_cast<std::uint32_t>(place.row) & ((1u << (bank_bits_ + group_bits_)) - 1);
  if (hash_column_) {
    const std::uint32_t bits = place.column >> request_bits_;
    const std::uint32_t group = bits & ((1u << group_bits_) - 1);
    bank ^= group << bank_bits_ | ((bits >> group_bits_) & ((1u << bank_bits_) - 1));
    place.row ^= bits >> (group_bits_ + bank_bits_);
  }
  place.bank = bank;
  place.group = bank >> bank_bits_;
  return place;
}

bool DramMapping::named(const std::string& name, std::string* words, std::string* hash) {
  struct Known {
    const char *name, *words, *hash;
  };
  // The order of the names is from high to low bits, but Ramulator's RoBaRaCoCh has its bank groups
  // below its banks.
  static constexpr std::array<Known, 8> known = {{
      {"RoBaRaCoCh", "row bank group column", "none"},
      {"rochrababgco", "row bank group column", "none"},
      {"rorabachcobg", "row bank column group", "none"},
      {"MOP4CLXOR", "row column bank group column:2", "column"},
      {"ChRaBaRoCo", "group bank row column", "none"},
      {"row-bank-col", "row bank group column", "none"},
      {"bank-col-row", "bank group row column", "none"},
      {"row-col-bank", "row column bank group", "none"},
  }};
  for (const Known& each : known) {
    if (name != each.name) continue;
    *words = each.words;
    *hash = each.hash;
    return true;
  }
  return false;
}

}  // namespace fm
