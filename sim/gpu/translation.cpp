#include "sim/gpu/translation.hpp"

#include <algorithm>

namespace fm {

Translation::Translation(const Clock& clock, Mmu* mmu, LineSink* sink, CoreLink* link)
    : clock_(clock),
      mmu_(mmu),
      link_(link),
      source_(mmu->attach(sink, mmu->parameters().answer_cycles * clock.period)),
      page_bytes_(mmu->parameters().page_bytes),
      latency_(mmu->parameters().request_cycles),
      tlb_(mmu->parameters().core_entries, mmu->parameters().core_ways) {}

void Translation::send(const LineRequest& request, std::uint32_t line_bytes, Cycle earliest) {
  const std::uint64_t number = page_bytes_.quotient(request.address);
  ++requests_;
  if (tlb_.find(number)) {
    ++hits_;
    link_->send(request, line_bytes, earliest);
    return;
  }
  if (asked_ != 0) {
    for (Page& page : pages_) {
      if (!page.used || page.number != number) continue;
      ++merges_;
      page.pending.push_back({request, line_bytes, earliest});
      return;
    }
  }
  ++misses_;
  if (free_pages_.empty()) {
    free_pages_.push_back(static_cast<std::uint32_t>(pages_.size()));
    pages_.emplace_back();
  }
  const std::uint32_t index = free_pages_.back();
  free_pages_.pop_back();
  Page& page = pages_[index];
  page.number = number;
  page.used = true;
  page.pending.assign(1, {request, line_bytes, earliest});
  if (asked_ == mmu_->parameters().core_misses) {
    queue_.push_back(index);
  } else {
    ask(index, earliest);
  }
}

void Translation::ask(std::uint32_t index, Cycle earliest) {
  ++asked_;
  TranslationRequest request;
  request.time = clock_.at(earliest + latency_);
  request.page = pages_[index].number;
  request.sequence = sequence_++;
  request.tag = translation_unit << unit_tag_shift | index;
  request.source = source_;
  mmu_->receive(request);
}

void Translation::answer(std::uint32_t tag, Cycle cycle) {
  const std::uint32_t index = tag & ((1u << unit_tag_shift) - 1);
  ++answers_;
  --asked_;
  Page& page = pages_[index];
  tlb_.insert(page.number);
  for (const Pending& pending : page.pending) {
    const Cycle start = std::max(pending.earliest, cycle);
    wait_cycles_ += start - pending.earliest;
    link_->send(pending.request, pending.line_bytes, start);
  }
  page.used = false;
  free_pages_.push_back(index);
  if (queue_.empty()) return;
  const std::uint32_t next = queue_.front();
  queue_.erase(queue_.begin());
  ask(next, std::max(pages_[next].pending.front().earliest, cycle));
}

}  // namespace fm
