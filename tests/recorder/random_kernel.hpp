#pragma once
// Kernels made at random: loops, nested guards with else, plain and named index arithmetic, local
// memory, images and buffers, edge guards and gathers. None is in the catalogue.

#include <random>
#include <string>
#include <vector>

#include "executor/recorder/recording_kernel.hpp"
#include "kernels/catalogue.hpp"

namespace fm {

struct RandomKernel {
  RecordingKernel kernel;
  IndexBuffers index;
};

/// What a generated kernel may contain beside the macros.
struct RandomKernelOptions {
  bool plain_arithmetic = false;  ///< / % << >> in plain C, which the recorder must find by itself
  bool float_indices = false;     ///< an index that no formula explains
};

class RandomKernelGenerator {
 public:
  RandomKernelGenerator(std::uint32_t seed, RandomKernelOptions options)
      : random_(seed), options_(options) {}

  RandomKernel generate() {
    RandomKernel result;
    RecordingKernel& kernel = result.kernel;
    kernel.name = "random_kernel";
    kernel.key = "random";
    kernel.local_size = {pick(1, 8), pick(1, 4), 1};
    kernel.group_count = {pick(1, 11), pick(1, 9), pick(1, 2)};
    kernel.options =
        "-DFM_RECORDING -DFM_KIND_a=buffer_half -DFM_KIND_b=image -DFM_KIND_s=linear_float "
        "-DFM_KIND_v=linear_int -DFM_KIND_c=buffer_float -DFM_ARGUMENT_a=0 -DFM_ARGUMENT_b=2 "
        "-DFM_ARGUMENT_s=4 -DFM_ARGUMENT_v=6 -DFM_ARGUMENT_c=8";
    const auto tensor = [&](DataType dtype, Placement placement, bool index = false) {
      kernel.arguments.emplace_back(RecordedTensor{dtype, placement, index});
      kernel.arguments.emplace_back(IntArgument{integer(20, 90)});  // pitch
    };
    tensor(DataType::f16, Placement::buffer);
    tensor(DataType::f32, Placement::image2d);
    tensor(DataType::f32, Placement::buffer);
    tensor(DataType::i32, Placement::buffer, true);
    tensor(DataType::f32, Placement::buffer);
    for (int i = 0; i < 3; ++i) kernel.arguments.emplace_back(IntArgument{integer(3, 13)});
    for (int i = 0; i < 40; ++i) result.index[6].push_back(integer(0, 500));
    kernel.source = access_macros() + source();
    return result;
  }

 private:
  std::uint32_t pick(std::uint32_t least, std::uint32_t greatest) {
    return least + static_cast<std::uint32_t>(random_() % (greatest - least + 1));
  }
  std::int32_t integer(int least, int greatest) {
    return static_cast<std::int32_t>(
        pick(static_cast<std::uint32_t>(least), static_cast<std::uint32_t>(greatest)));
  }
  bool chance(std::uint32_t percent) { return random_() % 100 < percent; }
  std::string one_of(const std::vector<std::string>& words) {
    return words[random_() % words.size()];
  }
  std::string fresh(const std::string& prefix) { return prefix + std::to_string(names_++); }

  std::string source() {
    variables_ = {"gx", "gy", "gz", "lx", "ly", "FM_GLOBAL_ID(0)", "FM_GLOBAL_ID(1)"};
    naturals_ = variables_;
    std::string body = block(3, true);
    if (options_.float_indices) {
      body += "sum += FM_LOAD4(a, (int)(native_sqrt((float)(FM_GLOBAL_ID(0) + 3)) * 7.7f), ly);\n";
    }
    return "__kernel void random_kernel(FM_TEXELS_READ(a), FM_TEXELS_READ(b), FM_TEXELS_READ(s), "
           "FM_TEXELS_READ(v), FM_TEXELS_WRITE(c), int n0, int n1, int n2 FM_RECORD_PARAMETERS) {\n"
           "FM_BEGIN;\nFM_LOCAL4(tile, 64);\nFM_LOCAL1(sums, 64);\n"
           "const int gx = FM_GROUP_ID(0), gy = FM_GROUP_ID(1), gz = FM_GROUP_ID(2);\n"
           "const int lx = FM_LOCAL_ID(0), ly = FM_LOCAL_ID(1);\nfloat4 sum = (float4)(0);\n" +
           body + "FM_STORE4(c, " + expression() + ", " + expression() + ", sum);\n}\n";
  }

  std::string constant() { return std::to_string(integer(1, 9)); }
  std::string scalar() { return chance(50) ? constant() : one_of({"n0", "n1", "n2"}); }

  /// A sum of a few variables times constants or arguments.
  std::string expression() {
    std::string text = std::to_string(integer(0, 20));
    for (std::uint32_t i = pick(1, 3); i > 0; --i) {
      text += chance(20) ? " - " : " + ";
      text += "(" + one_of(variables_) + ")";
      if (chance(60)) text += " * " + scalar();
    }
    return text;
  }
  /// Never negative.
  std::string natural() {
    std::string text = std::to_string(integer(0, 9));
    for (std::uint32_t i = pick(1, 2); i > 0; --i) {
      text += " + (" + one_of(naturals_) + ")";
      if (chance(60)) text += " * " + scalar();
    }
    return text;
  }

  /// Statements; loops and guards down to `depth`. Barriers only where all work-items come
  /// (`uniform`).
  std::string block(int depth, bool uniform) {
    const std::size_t variables = variables_.size(), naturals = naturals_.size();
    std::string text;
    for (std::uint32_t i = pick(2, 4); i > 0; --i) text += statement(depth, uniform);
    variables_.resize(variables);
    naturals_.resize(naturals);
    return text;
  }

  std::string statement(int depth, bool uniform) {
    const std::uint32_t kind = pick(0, 99);
    if (depth > 0 && kind < 22) return loop(depth, uniform);
    if (depth > 0 && kind < 44) return guard(depth);
    if (kind < 60) return derivation();
    if (kind < 66) return gather();
    if (kind < 76) return local(uniform);
    if (kind < 80) return "FM_ARITHMETIC(fma, " + constant() + ");\n";
    return access();
  }

  std::string loop(int depth, bool uniform) {
    const std::string i = fresh("i");
    // Bounds that differ between work-items keep barriers out.
    const bool same = uniform && chance(50);
    const std::string begin = same || chance(50) ? "0" : one_of({"lx", "ly", "gx"});
    const std::string end =
        same ? scalar() : begin + " + FM_MIN(" + scalar() + ", 2 + " + one_of(naturals_) + ")";
    std::string text =
        "FM_FOR(" + i + ", " + begin + ", " + end + ", " + one_of({"1", "2", "3"}) + ") {\n";
    variables_.push_back(i);
    naturals_.push_back(i);
    text += block(depth - 1, same);
    variables_.pop_back();
    naturals_.pop_back();
    return text + "}\nFM_END_FOR\n";
  }

  std::string guard(int depth) {
    std::string text = "FM_IF(" + expression() + ", " +
                       one_of({"LT", "LE", "GT", "GE", "EQ", "NE"}) + ", " + expression() +
                       ") {\n" + block(depth - 1, false) + "}\n";
    if (chance(50)) text += "FM_ELSE {\n" + block(depth - 1, false) + "}\n";
    return text + "FM_END_IF\n";
  }

  std::string derivation() {
    const std::string name = fresh("d");
    std::string value;
    bool is_natural = true;
    if (options_.plain_arithmetic && chance(70)) {
      const std::string id = one_of({"gx", "gy", "lx", "FM_GLOBAL_ID(0)", "FM_GLOBAL_ID(1)"});
      const std::string q = one_of({"n0", "n1", "n2", "(n0 * n1)", "4", "3"});
      value = id + one_of({" / ", " % "}) + q;
    } else {
      switch (pick(0, 5)) {
        case 0:
          value = "FM_QUOTIENT(" + natural() + ", " + scalar() + ")";
          break;
        case 1:
          value = "FM_REMAINDER(" + natural() + ", " + scalar() + ")";
          break;
        case 2:
          value = "FM_MIN(" + expression() + ", " + expression() + ")";
          is_natural = false;
          break;
        case 3:
          value = "FM_MAX(" + expression() + ", " + natural() + ")";
          break;
        case 4:
          value = "FM_SHIFT_RIGHT(" + natural() + ", " + one_of({"1", "2", "lx"}) + ")";
          break;
        default:
          value = "FM_PRODUCT(" + one_of(naturals_) + ", " + one_of(naturals_) + ")";
          break;
      }
    }
    variables_.push_back(name);
    if (is_natural) naturals_.push_back(name);
    return "const int " + name + " = " + value + ";\n";
  }

  std::string gather() {
    const std::string name = fresh("x"), at = natural();
    variables_.push_back(name);
    naturals_.push_back(name);
    return "const int " + name + " = FM_LOAD_INDEX(v, FM_REMAINDER(" + at + ", 40));\n";
  }

  std::string local(bool uniform) {
    std::string text = "FM_LOCAL_STORE4(tile, " + natural() + ", sum);\n";
    if (uniform) text += "FM_BARRIER();\n";
    text += "sum += FM_LOCAL_LOAD4(tile, " + expression() + ");\n";
    if (chance(50))
      text += "FM_LOCAL_STORE1(sums, " + expression() + ", FM_LOCAL_LOAD1(sums, lx));\n";
    return text;
  }

  std::string access() {
    const std::string x = expression(), y = expression();
    switch (pick(0, 5)) {
      case 0:
        return "sum += FM_LOAD4(a, " + x + ", " + y + ");\n";
      case 1:
        return "sum += FM_LOAD4(b, " + x + ", " + y + ");\n";
      case 2:
        return "sum.x += FM_LOAD1(s, " + x + ");\n";
      case 3:
        return "sum.y += FM_LOAD_LANE(a, " + x + ", " + y + ", " + one_of({"0", "lx", "3"}) +
               ");\n";
      case 4:
        return "FM_STORE4(c, " + x + ", " + y + ", sum);\n";
      default:
        return "sum += FM_LOAD4(b, FM_MAX(" + x + ", 0), FM_MIN(" + y + ", n1));\n";
    }
  }

  std::mt19937 random_;
  RandomKernelOptions options_;
  std::vector<std::string> variables_;  // in scope
  std::vector<std::string> naturals_;   // of those, never negative
  int names_ = 0;
};

}  // namespace fm
