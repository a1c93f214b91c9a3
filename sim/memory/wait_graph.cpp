#include "sim/memory/wait_graph.hpp"

#include <algorithm>
#include <sstream>

namespace fm {
namespace {

constexpr std::size_t nobody = ~std::size_t{0};

bool names(const std::string& wanted, const std::string& block) {
  if (block.compare(0, wanted.size(), wanted) != 0) return false;
  return block.size() == wanted.size() || block[wanted.size()] == ' ';
}

std::size_t first_waited_for(const std::vector<Wait>& waits, const Wait& wait) {
  for (const std::string& wanted : wait.waits_for) {
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (names(wanted, waits[i].block)) return i;
    }
  }
  return nobody;
}

std::string chain_of(const std::vector<Wait>& waits) {
  std::vector<std::size_t> chain;
  std::size_t at = 0;
  do {
    const auto seen = std::find(chain.begin(), chain.end(), at);
    if (seen != chain.end()) {
      std::string text = "cycle: ";
      for (auto link = seen; link != chain.end(); ++link) text += waits[*link].block + " -> ";
      return text + waits[at].block;
    }
    chain.push_back(at);
    at = first_waited_for(waits, waits[at]);
  } while (at != nobody);
  std::string text = "chain: ";
  for (const std::size_t link : chain)
    text += (link == chain.front() ? "" : " -> ") + waits[link].block;
  const Wait& last = waits[chain.back()];
  if (last.waits_for.empty()) return text + " (which waits for no other block)";
  return text + " -> " + last.waits_for.front() + " (which has nothing to do)";
}

std::string oldest_of(const std::vector<Wait>& waits) {
  const Wait* oldest = nullptr;
  for (const Wait& wait : waits) {
    if (wait.oldest && (oldest == nullptr || wait.oldest->time < oldest->oldest->time))
      oldest = &wait;
  }
  if (oldest == nullptr) return "";
  return "\n  oldest request: " + describe(*oldest->oldest) + ", in " + oldest->block;
}

}  // namespace

std::string describe(const LineRequest& request) {
  std::ostringstream text;
  text << to_string(request.kind) << " of " << request.bytes << " B at 0x" << std::hex
       << request.address << std::dec << " for " << to_string(request.client) << ", since "
       << request.time << " ps";
  return text.str();
}

std::string wait_report(const std::vector<Wait>& waits) {
  if (waits.empty()) return "\n  nothing waits";
  std::string text = "\n  " + chain_of(waits) + oldest_of(waits);
  for (const Wait& wait : waits) {
    text += "\n  " + wait.block + ": " + wait.state;
    if (wait.oldest) text += "; " + describe(*wait.oldest);
    for (std::size_t i = 0; i < wait.waits_for.size(); ++i) {
      text += (i == 0 ? "; waits for " : ", ") + wait.waits_for[i];
    }
  }
  return text;
}

}  // namespace fm
