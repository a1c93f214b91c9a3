#pragma once
// How the suite's microbenchmarks are written down.

#include <string>

#include "core/microbench_label.hpp"
#include "kernels/launch_draft.hpp"
#include "kernels/microbench_suite.hpp"

namespace fm {

using MicrobenchAxes = std::vector<std::pair<std::string, std::int64_t>>;

class MicrobenchDraft {
 public:
  MicrobenchDraft(std::string name, std::string description);

  /// One row of `texels` texels, or `rows` of them. The reference stays valid.
  const PlanTensor& texels(const std::string& id, DataType dtype, Placement placement,
                           std::int64_t texels, std::int64_t rows = 1);
  const PlanTensor& floats(const std::string& id, std::int64_t elements);

  /// Adds a launch of the label's part.
  void launch(PlanLaunch launch, const MicrobenchLabel& label, bool waits = true);
  /// Rounds or hops of a point's three launches.
  struct Amounts {
    std::int64_t warm, brief, full;
  };
  /// `make(amount)` builds the launch that does `amount` rounds or hops, each `work` units. The
  /// measured work is that of full - brief.
  template <class Make>
  void point(const MicrobenchAxes& axes, const std::string& unit, const Amounts& amounts,
             std::int64_t work, const Make& make) {
    const auto part = [&](MicrobenchPart which, std::int64_t amount) {
      launch(make(amount), {axes, which, static_cast<std::uint64_t>(amount * work), unit});
    };
    part(MicrobenchPart::warm, amounts.warm);
    part(MicrobenchPart::brief, amounts.brief);
    part(MicrobenchPart::full, amounts.full);
  }
  void step(MicrobenchStep step) { bench_.steps.push_back(std::move(step)); }

  Microbench take() { return std::move(bench_); }

 private:
  const PlanTensor& add(PlanTensor tensor);
  Microbench bench_;
};

Microbench pointer_chase_buffer();
Microbench pointer_chase_lines();
Microbench pointer_chase_image();
Microbench block_walk_image();
Microbench line_probe_image();
Microbench bandwidth_buffer();
Microbench bandwidth_image();
Microbench bandwidth_write();
Microbench local_memory();
Microbench wave_width();
Microbench occupancy();
/// On devices only. `type`: HALF, INTEGER, INDEX, SPECIAL or EXPONENTIAL.
Microbench arithmetic_rate(const std::string& name, const char* type);
/// On devices only.
Microbench vector_rate();
/// On devices only: the catalogue's own kernel for elementwise operators.
Microbench elementwise();
Microbench launch_latency();
Microbench disk_read();
Microbench copy_to_image();

}  // namespace fm
