#pragma once
// NumPy's .npz archives: inputs, references and outputs. Arrays are read one at a time, when asked
// for.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/graph.hpp"

namespace fm {

/// Integers up to this are exact as float; larger ones are refused as inputs and outputs.
constexpr std::int64_t largest_exact_integer = std::int64_t{1} << 24;

/// Row-major values; integers and doubles are rounded to float.
struct NpyArray {
  Shape shape;
  std::vector<float> values;
  ElementType type = ElementType::float32;  ///< as which the array is written
  /// Read: every integer is exact as float, and no real number became infinite.
  bool in_range = true;
};

class NpzReader {
 public:
  /// Throws UserError when the file is missing or not a zip archive.
  explicit NpzReader(const std::string& path);
  ~NpzReader();
  NpzReader(const NpzReader&) = delete;
  NpzReader& operator=(const NpzReader&) = delete;

  const std::string& path() const { return path_; }
  /// Of all arrays, without ".npy".
  const std::vector<std::string>& names() const { return names_; }
  bool has(const std::string& name) const;
  /// Throws UserError naming file and array: not there, damaged, Fortran order, or not plain
  /// numbers.
  NpyArray read(const std::string& name) const;

 private:
  std::string path_;
  void* archive_ = nullptr;
  std::vector<std::string> names_;
};

/// Writes arrays of their types, uncompressed as numpy.savez does; the file appears whole or not at
/// all.
void write_npz(const std::string& path, const std::map<std::string, const NpyArray*>& arrays);
void write_npz(const std::string& path, const std::map<std::string, NpyArray>& arrays);

}  // namespace fm
