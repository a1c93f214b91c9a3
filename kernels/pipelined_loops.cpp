#include "kernels/pipelined_loops.hpp"

#include <sstream>
#include <stdexcept>
#include <vector>

namespace fm {
namespace {

const std::string loop_word = "FM_PIPELINED_FOR(";
const std::string end_word = "FM_END_PIPELINED_FOR";

struct Loop {
  std::string counter, end, step;
  std::string body;  ///< with its closing brace
};

std::string without_indent(const std::string& line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at == std::string::npos ? "" : line.substr(at);
}

/// The three arguments of `FM_PIPELINED_FOR(i, end, step) {`.
Loop loop_of(const std::string& header) {
  std::vector<std::string> arguments(1);
  int depth = 0;
  for (std::size_t at = loop_word.size(); at < header.size(); ++at) {
    const char c = header[at];
    if (c == ')' && depth == 0) break;
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0) {
      arguments.emplace_back();
    } else if (c != ' ' || !arguments.back().empty()) {
      arguments.back() += c;
    }
  }
  if (arguments.size() != 3) throw std::logic_error("not a pipelined loop: " + header);
  return {arguments[0], arguments[1], arguments[2], ""};
}

std::string loop_text(const Loop& loop, const std::string& from, const std::string& to,
                      const std::string& before, const std::string& after) {
  return "FM_FOR(" + loop.counter + ", " + from + ", " + to + ", " + loop.step + ") {\n" + before +
         loop.body + after + "FM_END_FOR\n";
}

std::string streaming_loop(const Loop& loop, int slot) {
  const std::string s = std::to_string(slot);
  const std::string stream = "stream" + s;
  const std::string distance = loop.counter + " - " + stream + "_begin";
  const std::string step =
      loop.step == "1" ? distance : "FM_QUOTIENT(" + distance + ", " + loop.step + ")";
  return "#if STREAMS > " + s + "\n" +
         loop_text(loop, stream + "_begin", stream + "_end",
                   "const int " + stream + "_step = " + step + ";\nFM_STREAM_LOAD(" + s +
                       ", _piped, " + stream + "_step)\n{\n",
                   "FM_ARITHMETIC(convert, 4);\nFM_STREAM_STORE(" + s + ", _piped)\n}\n") +
         "#endif\n";
}

std::string expanded(const Loop& loop) {
  std::string text = "FM_PIPELINE((" + loop.end + "), " + loop.step + ")\n";
  for (int slot = 0; slot < most_streams; ++slot) text += streaming_loop(loop, slot);
  return text + loop_text(loop, "FM_PIPELINE_END", loop.end, "", "") + "FM_PIPELINE_AFTER\n";
}

}  // namespace

std::string expand_pipelined_loops(const std::string& source) {
  std::istringstream lines(source);
  std::string out;
  Loop loop;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    const std::string word = without_indent(line);
    if (word.compare(0, loop_word.size(), loop_word) == 0) {
      loop = loop_of(word);
      inside = true;
    } else if (inside && word == end_word) {
      out += expanded(loop);
      inside = false;
    } else {
      (inside ? loop.body : out) += line + "\n";
    }
  }
  if (inside) throw std::logic_error("a pipelined loop without " + end_word);
  return out;
}

}  // namespace fm
