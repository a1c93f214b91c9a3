#include "sim/stats/unit_peaks.hpp"

#include <algorithm>

namespace fm {
namespace {

constexpr double picoseconds_per_second = 1e12;

class Counters {
 public:
  explicit Counters(const std::map<std::string, double>& counters) : counters_(counters) {}
  double operator()(const std::string& name) const {
    const auto found = counters_.find(name);
    return found == counters_.end() ? 0 : found->second;
  }

 private:
  const std::map<std::string, double>& counters_;
};

}  // namespace

UnitPeaks::UnitPeaks(const DeviceConfig& config, bool half_arithmetic)
    : gpu_hertz_(config.hertz("gpu.clock")),
      cores_(static_cast<double>(config.count("gpu.cores"))),
      engines_(static_cast<double>(config.count("gpu.issue_per_clock"))),
      l2_ports_(static_cast<double>(config.count("l2.slices") * config.count("l2.banks"))),
      slc_ports_(static_cast<double>(config.count("dram.channels"))),
      fma_per_cycle_(config.ratio("gpu.fma_per_clock") *
                     (half_arithmetic ? config.ratio("gpu.fp16_ratio") : 1)),
      link_bytes_(static_cast<double>(config.bytes("noc.bytes_per_clock").count())),
      l2_bytes_(static_cast<double>(config.count("l2.slices") *
                                    config.bytes("l2.bytes_per_clock").count())),
      texture_bytes_(static_cast<double>(config.bytes("texture.bytes_per_clock").count())),
      burst_bytes_(static_cast<double>(dram_burst(config).count())),
      dram_bandwidth_(dram_peak_bandwidth(config)),
      disk_bandwidth_(0),
      copy_bandwidth_(config.bytes_per_second("host.copy_bandwidth")) {
  for (const CurvePoint& point : config.curve("storage.read_bandwidth")) {
    disk_bandwidth_ = std::max(disk_bandwidth_, point.y);
  }
}

std::map<std::string, double> UnitPeaks::of(const UnitWork& work) const {
  std::map<std::string, double> peaks;
  if (work.time.count() == 0) return peaks;
  const Counters counter(work.counters);
  const double ps = static_cast<double>(work.time.count());
  const double seconds = ps / picoseconds_per_second;
  const double core_cycles = seconds * work.gpu_hertz * cores_;
  for (const char* kind : {"fma", "add", "special", "convert", "integer"}) {
    const double share =
        counter(std::string("core.arithmetic_cycles.") + kind) / (core_cycles * engines_);
    peaks[std::string("alu_") + kind] = share;
    peaks["alu"] += share;
  }
  for (const char* unit : {"load_store", "texture", "local"}) {
    peaks[unit] = counter(std::string(unit) + ".busy") / core_cycles;
  }
  peaks["noc"] =
      std::max(counter("noc.bytes_in"), counter("noc.bytes_out")) / (link_bytes_ * core_cycles);
  peaks["l2"] = counter("l2.data_busy") / (ps * l2_ports_);
  peaks["slc"] = counter("slc.data_busy") / (ps * slc_ports_);
  peaks["dram"] = (counter("dram.read_bursts") + counter("dram.write_bursts")) * burst_bytes_ /
                  (dram_bandwidth_ * seconds);
  peaks["disk"] = counter("storage.read_bytes") / (disk_bandwidth_ * seconds);
  peaks["copy"] = counter("copy.written_bytes") / (copy_bandwidth_ * seconds);
  return peaks;
}

ResultRoofline UnitPeaks::roofline(const UnitWork& work) const {
  ResultRoofline roofline;
  const Counters counter(work.counters);
  roofline.flops = 2 * counter("core.operations.fma") + counter("core.operations.add") +
                   counter("core.operations.special");
  const double seconds = static_cast<double>(work.time.count()) / picoseconds_per_second;
  if (roofline.flops == 0 || seconds == 0) return roofline;
  double dram_bursts = 0;
  for (const char* client : {"load_store", "texture"}) {
    for (const char* kind : {"read", "write"}) {
      dram_bursts += counter(std::string("dram.") + client + "_" + kind + "_bursts");
    }
  }
  const double core_rate = cores_ * work.gpu_hertz;
  struct Level {
    const char* name;
    double bytes, bandwidth;
  };
  const Level levels[] = {
      {"dram", dram_bursts * burst_bytes_, dram_bandwidth_},
      {"l2", counter("noc.bytes_in") + counter("noc.bytes_out"),
       std::min(2 * link_bytes_ * cores_, l2_bytes_) * work.gpu_hertz},
      {"texture", counter("texture.busy") * texture_bytes_, texture_bytes_ * core_rate}};
  double attainable = 2 * fma_per_cycle_ * core_rate;
  roofline.bound = "alu";
  for (const Level& level : levels) {
    if (level.bytes == 0) continue;
    const double intensity = roofline.flops / level.bytes;
    roofline.intensity[level.name] = intensity;
    if (intensity * level.bandwidth >= attainable) continue;
    attainable = intensity * level.bandwidth;
    roofline.bound = level.name;
  }
  roofline.achieved_gflops = roofline.flops / seconds * 1e-9;
  roofline.attainable_gflops = attainable * 1e-9;
  return roofline;
}

}  // namespace fm
