#pragma once
// Address translation behind the cores' own TLBs: a shared TLB and page walkers that read page
// tables in memory.

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "sim/memory/block.hpp"
#include "sim/memory/memory_level.hpp"
#include "sim/memory/mmu_parameters.hpp"
#include "sim/memory/tlb.hpp"
#include "sim/memory/wait_graph.hpp"
#include "sim/stats/counter_registry.hpp"

namespace fm {

/// A core asks for the translation of one page.
struct TranslationRequest {
  Ticks time = 0;  ///< of arrival
  std::uint64_t page = 0;
  std::uint64_t sequence = 0;  ///< of its source, ascending
  std::uint32_t tag = 0;       ///< the source's own, returned with the answer
  std::uint16_t source = 0;
};

/// accepted = hits + walks + merges.
struct MmuCounts {
  std::uint64_t requests = 0, hits = 0, walks = 0, merges = 0, answers = 0;
  std::uint64_t leaf_reads = 0, table_reads = 0, table_answers = 0;  ///< table: upper levels
  std::uint64_t upper_reads_saved = 0;                               ///< by the walk cache
  std::uint64_t walk_ticks = 0;    ///< sum over walks, from look-up to the translation
  std::uint64_t queued_ticks = 0;  ///< of it, waiting for a walker
};

/// Tables as of AArch64 with a 4-KB granule (Arm ARM, D8; Mali and the SMMU of Adreno use it): 512
/// entries of 8 bytes a table. A last-level entry maps 4 KB, one of the level above 2 MB. Pages
/// between (64 KB) are runs of last-level entries marked contiguous, of which one is read. The
/// tables of a level lie one after another, in memory where no object lies.
class Mmu : public Block, private LineSink {
 public:
  /// `tables`: where walks read; one way there takes `table_latency`.
  Mmu(sc_core::sc_module_name name, const Clock& clock, const MmuParameters& parameters,
      MemoryLevel* tables, Ticks table_latency);

  /// Answers reach `sink` `latency` after they leave. Returns the source number.
  std::uint16_t attach(LineSink* sink, Ticks latency);
  void receive(const TranslationRequest& request);
  /// From now on a GPU cycle is `cycle` instead of `nominal`: links to cores, and to the L2 where
  /// tables are read through it, are cycles.
  void change_cycle(Ticks cycle, Ticks nominal);

  const MmuParameters& parameters() const { return parameters_; }
  const MmuCounts& counts() const { return counts_; }
  /// Table reads sent and answered.
  const TrafficCounts& traffic() const { return traffic_; }
  bool idle() const { return requests_.empty() && walks_under_way_ == 0; }
  void append_waits(std::vector<Wait>* waits) const;
  void register_counters(CounterRegistry& registry) const;
  void append_checks(std::vector<ResultCheck>* checks) const;

 protected:
  Ticks advance(Ticks now, Ticks end) override;

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct RequestBefore {
    bool operator()(const TranslationRequest& a, const TranslationRequest& b) const {
      if (a.time != b.time) return a.time < b.time;
      if (a.source != b.source) return a.source < b.source;
      return a.sequence < b.sequence;
    }
  };
  struct Source {
    LineSink* sink;
    Ticks nominal, latency;  ///< at the nominal cycle, and now
  };
  struct Waiter {
    std::uint16_t source = 0;
    std::uint32_t tag = 0;
  };
  struct Walk {
    std::uint64_t page = 0;
    std::uint32_t level = 0;  ///< being read, 1 the root; 0: waits for a walker; `none`: free
    Ticks asked = 0;
    std::vector<Waiter> waiters;
  };

  void answer(const LineAnswer& answer) override;
  void look_up(const TranslationRequest& request, Ticks time);
  void start_walk(std::uint32_t walk, Ticks time);
  void read_table(std::uint32_t walk, Ticks time);
  void table_read(std::uint32_t walk, Ticks time);
  void finish(std::uint32_t walk, Ticks time);
  void reply(const Waiter& waiter, Ticks time);
  /// Of the entry that a walk of `page` reads at `level`: its number among all of that level.
  std::uint64_t entry(std::uint64_t page, std::uint32_t level) const;

  const MmuParameters parameters_;
  MemoryLevel* tables_;
  const Ticks nominal_table_latency_;
  Ticks table_latency_;
  const std::uint16_t source_;
  std::uint64_t entries_a_page_;  ///< last-level entries
  Tlb tlb_, walk_cache_;
  TimedQueue<TranslationRequest, RequestBefore> requests_;
  AnswerQueue answers_;
  std::vector<Source> sources_;
  std::vector<Walk> walks_;
  std::vector<std::uint32_t> free_walks_;
  std::deque<std::uint32_t> queue_;  ///< walks that wait for a walker
  std::uint32_t walks_under_way_ = 0, free_walkers_;
  std::uint64_t sequence_ = 0, answer_order_ = 0;
  Ticks pipe_free_ = 0;
  TrafficCounts traffic_;
  MmuCounts counts_;
};

}  // namespace fm
