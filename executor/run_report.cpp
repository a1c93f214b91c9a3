#include "executor/run_report.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>

#include "core/figures_text.hpp"
#include "executor/driver_quirks.hpp"
#include "executor/held_memory.hpp"

namespace fm {
namespace {

std::string gigaflops(std::uint64_t macs, std::uint64_t nanoseconds) {
  if (macs == 0 || nanoseconds == 0) return "";
  std::ostringstream text;
  text << std::fixed << std::setprecision(2)
       << 2.0 * static_cast<double>(macs) / static_cast<double>(nanoseconds);
  return text.str();
}

std::string size_text(const std::array<std::uint64_t, 3>& size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

std::string kernel_of(const PlanLaunch& launch) {
  return launch.kind == LaunchKind::copy ? "copy to image" : launch.kernel;
}

std::uint64_t duration(const LaunchTimes& times) { return times.ended - times.started; }

std::uint64_t median_duration(const Measurement& measured, std::size_t launch) {
  std::vector<std::uint64_t> durations;
  for (const RunTimes& run : measured.runs) durations.push_back(duration(run.launches[launch]));
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>((durations.size() - 1) / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  return *middle;
}

void print_by_kernel(const Plan& plan, const Measurement& measured, std::ostream& out) {
  struct Total {
    std::uint64_t nanoseconds = 0, macs = 0, launches = 0;
  };
  std::map<std::string, Total> totals;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const std::uint64_t time = median_duration(measured, i);
    Total& total = totals[kernel_of(plan.launches[i])];
    total.nanoseconds += time;
    total.macs += plan.launches[i].macs;
    ++total.launches;
    all += time;
  }
  std::vector<std::pair<std::string, Total>> order(totals.begin(), totals.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.nanoseconds > b.second.nanoseconds;
  });
  out << "by kernel            launches          time       %   GFLOP/s\n";
  for (const auto& [kernel, total] : order) {
    out << "  " << std::left << std::setw(20) << kernel << std::right << std::setw(7)
        << total.launches << std::setw(14) << milliseconds(total.nanoseconds) << std::setw(8)
        << std::fixed << std::setprecision(1)
        << (all ? 100.0 * static_cast<double>(total.nanoseconds) / static_cast<double>(all) : 0.0)
        << std::setw(10) << gigaflops(total.macs, total.nanoseconds) << "\n";
  }
}

void print_memory(const Measurement& measured, std::ostream& out) {
  out << "device memory peak   " << mebibytes(measured.memory.peak) << " (average "
      << mebibytes(measured.memory.average)
      << "); by class: " << by_class(measured.memory.peak_by_class) << "\n";
  out << "process memory       peak RSS " << mebibytes(measured.process.peak_resident) << " (now "
      << mebibytes(measured.process.resident_anonymous) << " anonymous, "
      << mebibytes(measured.process.resident_file) << " of files, "
      << mebibytes(measured.process.swapped) << " swapped)\n";
  if (!measured.driver.any()) return;
  out << "driver's memory      " << mebibytes(measured.driver.drm) << " of DRM, "
      << mebibytes(measured.driver.mapped) << " of mapped device files, "
      << mebibytes(measured.driver.dma_buf) << " of shared buffers\n";
}

}  // namespace

std::uint64_t execution_ns(const RunTimes& run) {
  std::uint64_t start = UINT64_MAX, end = 0;
  for (const LaunchTimes& launch : run.launches) {
    start = std::min(start, launch.started);
    end = std::max(end, launch.ended);
  }
  return run.launches.empty() ? 0 : end - start;
}

const RunTimes& median_run(const std::vector<RunTimes>& runs) {
  std::vector<const RunTimes*> order;
  order.reserve(runs.size());
  for (const RunTimes& run : runs) order.push_back(&run);
  std::sort(order.begin(), order.end(), [](const RunTimes* a, const RunTimes* b) {
    return execution_ns(*a) < execution_ns(*b);
  });
  return *order.at((order.size() - 1) / 2);
}

std::string summary_text(const Plan& plan, const Measurement& measured) {
  std::ostringstream out;
  std::uint64_t least = UINT64_MAX;
  for (const RunTimes& run : measured.runs) least = std::min(least, execution_ns(run));
  std::uint64_t first_start = UINT64_MAX;
  for (const LaunchTimes& launch : measured.first.launches) {
    first_start = std::min(first_start, launch.started);
  }
  out << "device               " << measured.device.name << " (" << measured.device.platform_name
      << ", driver " << measured.device.driver << ")\n";
  out << "plan                 " << plan.policy << ", " << plan.launches.size() << " launches, "
      << measured.programs << " programs (" << measured.programs_built << " built from source)\n";
  for (const DriverQuirk& quirk : quirks_of(measured.device)) {
    out << "driver quirk         " << describe(quirk) << "\n";
  }
  for (const BuildFallback& fallback : measured.fallbacks) {
    out << "kernel fallback      " << fallback.kernel << ", built with " << fallback.options
        << "\n";
  }
  if (measured.host_timed > 0) {
    out << "launch clock         the host's: the driver gave no times of " << measured.host_timed
        << " launches and copies\n";
  }
  if (const RunTimes& run = measured.runs.back(); run.split > 0) {
    out << "launch cap           " << run.split << " launches in " << run.slices << " slices\n";
  }
  out << "initialisation       " << milliseconds(first_start)
      << " until the first launch, of which " << milliseconds(measured.startup_ns)
      << " context and programs\n";
  out << "inference            min " << milliseconds(least) << ", median "
      << milliseconds(execution_ns(median_run(measured.runs))) << " of " << measured.runs.size()
      << (measured.runs.size() == 1 ? " run\n" : " runs\n");
  out << "read from disk       " << mebibytes(measured.bytes_read) << "\n";
  print_memory(measured, out);
  print_by_kernel(plan, measured, out);
  return out.str();
}

std::string models_text(const std::vector<ResultModel>& models) {
  std::ostringstream out;
  for (const ResultModel& model : models) {
    out << "model                " << model.name << ": starts at "
        << milliseconds(model.start.count()) << ", outputs at "
        << milliseconds(model.integrated.count()) << ", peak " << mebibytes(model.peak) << "\n";
  }
  return out.str();
}

std::string profile_text(const Plan& plan, const Measurement& measured) {
  std::ostringstream out;
  out << std::left << std::setw(8) << "launch" << std::setw(18) << "kernel" << std::setw(22)
      << "operation" << std::setw(16) << "global" << std::setw(12) << "local" << std::right
      << std::setw(14) << "time" << std::setw(10) << "GFLOP/s"
      << "\n";
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const PlanLaunch& launch = plan.launches[i];
    const std::uint64_t time = median_duration(measured, i);
    out << std::left << std::setw(8) << launch.id << std::setw(18) << kernel_of(launch)
        << std::setw(22) << launch.operation << std::setw(16) << size_text(launch.global)
        << std::setw(12) << size_text(launch.local) << std::right << std::setw(14)
        << milliseconds(time) << std::setw(10) << gigaflops(launch.macs, time) << "\n";
  }
  return out.str();
}

}  // namespace fm
