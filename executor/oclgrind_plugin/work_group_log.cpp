#include "executor/oclgrind_plugin/work_group_log.hpp"

#include <core/Memory.h>
#include <core/WorkGroup.h>
#include <core/WorkItem.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include <limits>

#include "core/diagnostics.hpp"
#include "executor/oclgrind_plugin/branch_decision.hpp"
#include "executor/oclgrind_plugin/texel_coordinates.hpp"

namespace fm {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t bound_id = (1U << 20) - 1;
constexpr std::size_t most_words = std::size_t{1} << 28;  // of a work-group: 1 GiB

bool contiguous(const LoggedMemory& a, const LoggedMemory& b) {
  return a.space == b.space && a.object == b.object && a.write == b.write && !a.atomic &&
         !b.atomic && a.x + a.bytes == b.x;
}

/// Operands as a derivation defines them; without effect where the program's are others.
void make_sound(trace::Derivation::Operator op, std::int64_t* left, std::int64_t* right) {
  using trace::Derivation;
  const bool shift = op == Derivation::SHIFT_LEFT || op == Derivation::SHIFT_RIGHT;
  const bool division = op == Derivation::QUOTIENT || op == Derivation::REMAINDER;
  const bool fits = *left >= -most && *left <= most && *right >= -most && *right <= most;
  const bool sound = fits && (!shift || (*left >= 0 && *right >= 0 && *right < 31)) &&
                     (!division || (*left >= 0 && *right > 0));
  if (sound) return;
  *left = 0;
  *right = division ? 1 : 0;
}

/// A mask of the lowest bits, or of all but the lowest, keeps or drops a remainder.
std::int64_t divisor_of_mask(std::int64_t mask) {
  const std::int64_t lowest = mask >= 0 ? mask : ~mask;
  return (lowest & (lowest + 1)) == 0 ? lowest + 1 : 0;
}

/// Saves most instructions the search.
bool may_have_facts(const llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case llvm::Instruction::PHI:
    case llvm::Instruction::GetElementPtr:
    case llvm::Instruction::ICmp:
    case llvm::Instruction::FCmp:
    case llvm::Instruction::Select:
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::ExtractElement:
    case llvm::Instruction::InsertElement:
    case llvm::Instruction::ShuffleVector:
      return false;
    default:
      return !instruction.isCast();
  }
}

}  // namespace

WorkGroupLog::WorkGroupLog(const LaunchShape& shape, const KernelFacts& facts,
                           LaunchObjects& objects,
                           std::vector<LaunchObjects::LocalArray> local_arrays)
    : shape_(shape),
      facts_(facts),
      objects_(objects),
      local_arrays_(std::move(local_arrays)),
      items_(std::size_t{shape.local[0]} * shape.local[1] * shape.local[2]) {}

WorkGroupLog::Item& WorkGroupLog::at(const oclgrind::WorkItem& item) {
  const oclgrind::Size3 local = item.getLocalID();
  return items_[local.x + shape_.local[0] * (local.y + shape_.local[1] * local.z)];
}

void WorkGroupLog::count_words(Item& item) {
  words_ += item.log.words().size() - item.counted;
  item.counted = item.log.words().size();
  if (words_ > most_words) throw UserError("the log of one of its work-groups exceeds 1 GiB");
}

void WorkGroupLog::begin_item(const oclgrind::WorkItem& running) {
  Item& item = at(running);
  item.ran = true;
  const oclgrind::Size3 local = running.getLocalID();
  bound(item, {static_cast<std::uint32_t>(local.x), static_cast<std::uint32_t>(local.y),
               static_cast<std::uint32_t>(local.z)});
  item.frames = {{&facts_.kernel(), true}};
  item.log.enter(facts_.kernel().graph());
}

/// Says that the work-item is one of the launch's.
void WorkGroupLog::bound(Item& item, std::array<std::uint32_t, 3> local) {
  if (&item == &items_.front()) {
    for (std::uint32_t i = 0; i < local_arrays_.size(); ++i) {
      item.log.local_array(i, local_arrays_[i].bytes, local_arrays_[i].name);
    }
  }
  item.bounds = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    if (shape_.global[d] % shape_.local[d] == 0) continue;
    const std::int64_t id = std::int64_t{group_[d]} * shape_.local[d] + local[d];
    item.log.guard(bound_id - static_cast<std::uint32_t>(d),
                   {id, trace::LT, std::int64_t{shape_.global[d]}});
    ++item.bounds;
    if (id >= shape_.global[d]) return;
  }
}

void WorkGroupLog::memory(const oclgrind::WorkItem& running, const oclgrind::Memory& memory,
                          std::size_t address, std::size_t bytes, MemoryUse use) {
  if (memory.getAddressSpace() == oclgrind::AddrSpacePrivate) return;
  const std::optional<Place> place = objects_.find(memory, address);
  if (!place) throw UserError("it accesses memory outside all objects");
  if (place->offset > most) throw UserError("it accesses an object beyond 2 GiB");
  LoggedMemory access;
  access.space = place->space;
  access.object = place->object;
  access.x = place->offset;
  access.bytes = static_cast<std::uint32_t>(bytes);
  access.write = use != MemoryUse::load;
  access.atomic = use == MemoryUse::atomic;
  std::vector<LoggedMemory>& pending = at(running).pending;
  if (!pending.empty() && contiguous(pending.back(), access)) {
    pending.back().bytes += access.bytes;
  } else {
    pending.push_back(access);
  }
}

void WorkGroupLog::executed(const oclgrind::WorkItem& running,
                            const llvm::Instruction& instruction) {
  if (!may_have_facts(instruction)) return;
  const InstructionFacts* const facts = facts_.find(&instruction);
  if (facts == nullptr) return;
  Item& item = at(running);
  const Frame frame = item.frames.back();
  const bool counted = frame.counted && frame.function->graph().counts(facts->block);
  if (counted) {
    for (const auto& [kind, count] : facts->arithmetic) {
      item.log.arithmetic(facts->id, kind, count, 0);
    }
  }
  switch (facts->kind) {
    case InstructionFacts::Kind::memory:
      return log_accesses(item, *facts);
    case InstructionFacts::Kind::part:
      item.pending.clear();
      return;
    case InstructionFacts::Kind::texel:
      item.pending.clear();
      return log_texel(item, running, instruction, *facts);
    case InstructionFacts::Kind::barrier:
      return item.log.barrier(facts->id);
    case InstructionFacts::Kind::call:
      item.frames.push_back({facts->callee, counted});
      return item.log.enter(facts->callee->graph());
    case InstructionFacts::Kind::leave:
      item.frames.pop_back();
      return item.log.leave();
    case InstructionFacts::Kind::branch:
      return log_branch(item, running, instruction, *facts);
    case InstructionFacts::Kind::derivation:
      if (counted) log_derivation(item, running, instruction, *facts);
      return;
  }
}

void WorkGroupLog::log_accesses(Item& item, const InstructionFacts& facts) {
  for (const LoggedMemory& access : item.pending) item.log.access(facts.id, access);
  item.pending.clear();
}

void WorkGroupLog::log_texel(Item& item, const oclgrind::WorkItem& running,
                             const llvm::Instruction& instruction, const InstructionFacts& facts) {
  const auto& call = llvm::cast<llvm::CallInst>(instruction);
  const auto* image =
      *reinterpret_cast<oclgrind::Image* const*>(running.getOperand(call.getArgOperand(0)).data);
  const std::optional<std::uint32_t> argument = objects_.image(image->address);
  if (!argument) throw UserError("it accesses an image that is none of its arguments");
  LoggedMemory access;
  access.space = trace::IMAGE;
  access.write = facts.write;
  access.object = *argument;
  for (const LaunchObjects::Argument& known : objects_.arguments()) {
    if (known.index == *argument) {
      access.bytes = static_cast<std::uint32_t>(known.image->texel_bytes);
    }
  }
  const Texel texel = texel_of(call, running, *image, facts.write);
  access.x = texel.x;
  access.y = texel.y;
  item.log.access(facts.id, access);
}

void WorkGroupLog::log_derivation(Item& item, const oclgrind::WorkItem& running,
                                  const llvm::Instruction& instruction,
                                  const InstructionFacts& facts) {
  std::int64_t left = signed_value(instruction.getOperand(0), running);
  std::int64_t right = signed_value(instruction.getOperand(1), running);
  if (instruction.getOpcode() == llvm::Instruction::And) {
    right = divisor_of_mask(right);
    if (right <= 1) right = 0;
  }
  make_sound(facts.op, &left, &right);
  item.log.derivation(facts.id, facts.op, left, right);
}

void WorkGroupLog::log_branch(Item& item, const oclgrind::WorkItem& running,
                              const llvm::Instruction& instruction, const InstructionFacts& facts) {
  const FunctionFacts& function = *item.frames.back().function;
  BranchDecision taken =
      branch_decision(instruction, running, function.graph().guards(facts.block));
  const std::uint32_t to = function.block(taken.to);
  const CountedLoop* const loop = function.counted_loop(to);
  const FlowGraph& graph = function.graph();
  if (loop != nullptr && !graph.loops()[graph.loop_of(to)].contains[facts.block]) {
    taken.decision.counter = counter_of(*loop, *instruction.getParent(), running, shape_);
    if (taken.decision.counter->step <= 0 || taken.decision.counter->step > most) {
      throw UserError("it has a loop whose step is not above 0");
    }
  }
  item.log.go(facts.block, to, taken.decision);
  count_words(item);
}

GroupLog WorkGroupLog::finish() {
  std::vector<std::uint32_t> words;
  std::vector<std::size_t> first{0};
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    const auto linear = static_cast<std::uint32_t>(i);
    if (!item.ran) {
      bound(item, {linear % shape_.local[0], linear / shape_.local[0] % shape_.local[1],
                   linear / shape_.local[0] / shape_.local[1]});
    }
    if (!item.frames.empty()) throw UserError("a work-item did not return");
    item.log.end_guards(item.bounds);
    words.insert(words.end(), item.log.words().begin(), item.log.words().end());
    first.push_back(words.size());
    item.log.clear();
    item.counted = 0;
    item.ran = false;
  }
  words_ = 0;
  return {group_, shape_.local, std::move(words), std::move(first)};
}

}  // namespace fm
