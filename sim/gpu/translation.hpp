#pragma once
// Address translation of one core, on the way of its first-level misses to the shared caches.

#include <cstdint>
#include <vector>

#include "sim/gpu/core_link.hpp"
#include "sim/memory/mmu.hpp"
#include "sim/memory/tlb.hpp"

namespace fm {

constexpr std::uint32_t translation_unit = 3;  ///< in the tags of the MMU's answers

/// The core's own TLB. Requests to pages it holds leave at once; others wait here, page by page,
/// until the MMU has answered. Nothing waits behind them, and what waits is bounded by the core's
/// MSHRs and write credits.
class Translation {
 public:
  /// The MMU's answers reach `sink`.
  Translation(const Clock& clock, Mmu* mmu, LineSink* sink, CoreLink* link);

  /// CoreLink::send() once the translation is known, at `earliest` or later.
  void send(const LineRequest& request, std::uint32_t line_bytes, Cycle earliest);
  /// The MMU's answer with this tag came at `cycle`.
  void answer(std::uint32_t tag, Cycle cycle);

  bool idle() const { return asked_ == 0; }
  const std::uint64_t& requests() const { return requests_; }
  const std::uint64_t& hits() const { return hits_; }
  const std::uint64_t& merges() const { return merges_; }
  const std::uint64_t& misses() const { return misses_; }
  const std::uint64_t& answers() const { return answers_; }
  const std::uint64_t& wait_cycles() const { return wait_cycles_; }

 private:
  struct Pending {
    LineRequest request;
    std::uint32_t line_bytes = 0;
    Cycle earliest = 0;
  };
  struct Page {
    std::uint64_t number = 0;
    bool used = false;
    std::vector<Pending> pending;
  };
  void ask(std::uint32_t index, Cycle earliest);

  const Clock clock_;
  Mmu* mmu_;
  CoreLink* link_;
  const std::uint16_t source_;
  const Divider page_bytes_;
  const Cycle latency_;
  Tlb tlb_;
  std::vector<Page> pages_;  ///< that are not in the TLB and wanted
  std::vector<std::uint32_t> free_pages_;
  std::vector<std::uint32_t> queue_;  ///< pages not asked for yet, the first first
  std::uint32_t asked_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t requests_ = 0, hits_ = 0, merges_ = 0, misses_ = 0, answers_ = 0;
  std::uint64_t wait_cycles_ = 0;
};

}  // namespace fm
