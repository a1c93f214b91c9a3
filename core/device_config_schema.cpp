// Every parameter of a device: one line each. Rates are for one shader core and one of its clock
// cycles.
#include "core/device_config.hpp"

namespace fm {
namespace {

using Kind = QuantityKind;

constexpr double kibi = 1024, mebi = kibi * 1024, gibi = mebi * 1024;
constexpr double nanosecond = 1e3, microsecond = 1e6, second = 1e12;

ParameterSchema number(const char* path, Kind kind, double minimum, double maximum,
                       const char* description) {
  ParameterSchema schema;
  schema.path = path;
  schema.kind = kind;
  schema.minimum = minimum;
  schema.maximum = maximum;
  schema.description = description;
  return schema;
}

ParameterSchema word(const char* path, std::vector<std::string> words, const char* description) {
  ParameterSchema schema = number(path, Kind::word, 0, 0, description);
  schema.words = std::move(words);
  return schema;
}

ParameterSchema flag(const char* path, const char* description) {
  return number(path, Kind::flag, 0, 1, description);
}

ParameterSchema curve(const char* path, const char* description) {
  return number(path, Kind::curve, 1, 1e15, description);
}

using Schema = std::vector<ParameterSchema>;

Schema gpu_schema() {
  return {
      word("gpu.isa", {"valhall", "bifrost", "adreno"},
           "instruction set: selects the register count of each kernel in a trace"),
      number("gpu.cores", Kind::count, 1, 64,
             "shader cores, each with its own load/store path and texture unit"),
      number("gpu.clock", Kind::frequency, 50e6, 5e9, "clock of cores and L2"),
      number("gpu.wave_width", Kind::count, 4, 128, "work-items issued together"),
      number("gpu.waves_per_core", Kind::count, 1, 1024, "wave slots of a core"),
      number("gpu.registers_per_core", Kind::count, 1024, 1 << 22, "32-bit registers of a core"),
      number("gpu.full_occupancy_registers", Kind::count, 1, 512,
             "registers a work-item up to which all wave slots may be used; above, half of them "
             "(512: no such step, only registers_per_core limits)"),
      number("gpu.workgroups_per_core", Kind::count, 1, 1024, "work-groups resident in a core"),
      number("gpu.issue_per_clock", Kind::count, 1, 64, "instructions of waves issued a clock"),
      number("gpu.fma_per_clock", Kind::count, 1, 4096, "scalar fp32 FMAs a clock"),
      number("gpu.fp16_ratio", Kind::ratio, 1, 4, "fp16 FMAs a clock over fp32 ones"),
      number("gpu.special_per_clock", Kind::count, 1, 4096,
             "scalar special functions (exp, rsqrt, ..) a clock"),
      number("gpu.convert_per_clock", Kind::count, 1, 4096, "scalar type conversions a clock"),
      number("gpu.integer_per_clock", Kind::count, 1, 4096, "scalar integer operations a clock"),
      number("gpu.workgroup_dispatch", Kind::cycles, 0, 100000,
             "from a free place in a core to the first instruction of the work-group put there"),
      number("gpu.max_outstanding_loads", Kind::count, 1, 1024,
             "loads of one wave under way at a time"),
      word("gpu.scheduler", {"oldest_first", "round_robin"}, "which ready wave issues first"),
      number("gpu.arithmetic_latency", Kind::cycles, 1, 1000,
             "from an arithmetic instruction's issue to the next one of its wave"),
  };
}

Schema core_memory_schema() {
  return {
      number("load_store.cache_size", Kind::bytes, 256, 16 * mebi, "load/store L1 of a core"),
      number("load_store.line", Kind::bytes, 16, 1024, "line of the load/store L1"),
      number("load_store.ways", Kind::count, 1, 1024, "ways of the load/store L1"),
      number("load_store.latency", Kind::cycles, 1, 100000, "issue to use on a hit"),
      number("load_store.bytes_per_clock", Kind::bytes, 1, 1024, "bytes a clock on hits"),
      number("load_store.mshrs", Kind::count, 1, 4096, "lines being fetched at a time"),
      number("load_store.merges", Kind::count, 1, 1024,
             "accesses that wait for one line being fetched, the first included"),
      number("load_store.queue", Kind::count, 1, 1024, "accesses accepted and not yet begun"),
      number("load_store.stores_in_flight", Kind::count, 1, 4096,
             "line writes the L2 has not acknowledged"),
      word("load_store.write_policy", {"write_back", "write_through"},
           "write_back: stores allocate in the L1; write_through: they go to the L2"),
      number("texture.cache_size", Kind::bytes, 256, 16 * mebi, "texture cache of a core"),
      number("texture.line", Kind::bytes, 16, 1024, "line of the texture cache"),
      number("texture.ways", Kind::count, 1, 1024, "ways of the texture cache"),
      number("texture.latency", Kind::cycles, 1, 100000, "issue to use on a hit"),
      number("texture.texels_per_clock", Kind::ratio, 0.25, 256,
             "texels a clock of up to 32 bits, unfiltered, on hits"),
      number("texture.wide_texel_ratio", Kind::ratio, 1, 16,
             "cost of a texel above 32 bits over one of up to 32 bits"),
      number("texture.bytes_per_clock", Kind::bytes, 1, 1024,
             "bytes of texels a clock from the cache to the filter"),
      number("texture.mshrs", Kind::count, 1, 4096, "lines being fetched at a time"),
      number("texture.merges", Kind::count, 1, 1024,
             "accesses that wait for one line being fetched, the first included"),
      number("texture.queue", Kind::count, 1, 1024, "accesses accepted and not yet begun"),
      word("texture.layout", {"mali_u_interleaved", "adreno_tiled", "linear"},
           "order of an image2d's texels in memory"),
      number("texture.block_bytes", Kind::bytes, 16, 64 * kibi,
             "bytes of the smallest rectangle of texels that lies together"),
      number("texture.pitch_alignment", Kind::count, 1, 4096, "texels a row is padded to"),
      number("texture.row_alignment", Kind::count, 1, 4096, "rows an image is padded to"),
      word("texture.image_writes", {"load_store", "l2"}, "path of write_imagef"),
      number("local.size", Kind::bytes, 1 * kibi, 16 * mebi, "local memory of a core"),
      word("local.kind", {"cache_backed", "dedicated"},
           "cache_backed: lines of the load/store L1; dedicated: a memory of its own"),
      number("local.banks", Kind::count, 1, 256, "banks of 4 bytes"),
      number("local.bytes_per_clock", Kind::bytes, 1, 4096, "bytes a clock without conflicts"),
      number("local.latency", Kind::cycles, 1, 100000, "issue to use"),
  };
}

Schema shared_memory_schema() {
  return {
      number("l2.size", Kind::bytes, 4 * kibi, 256 * mebi, "all slices together"),
      number("l2.line", Kind::bytes, 16, 1024, "line"),
      number("l2.ways", Kind::count, 1, 1024, "ways"),
      number("l2.slices", Kind::count, 1, 64, "slices, interleaved by line"),
      number("l2.banks", Kind::count, 1, 64, "banks of a slice"),
      number("l2.latency", Kind::cycles, 1, 100000,
             "from a request's arrival at a slice to its data leaving, on a hit"),
      number("l2.bytes_per_clock", Kind::bytes, 1, 1024, "bytes a clock of one slice"),
      number("l2.mshrs", Kind::count, 1, 4096, "lines a slice is fetching at a time"),
      number("l2.merges", Kind::count, 1, 1024,
             "requests that wait for one line being fetched, the first included"),
      number("l2.write_buffer", Kind::count, 1, 4096,
             "write-backs of a slice not yet acknowledged from below"),
      word("l2.partial_writes", {"fetch", "mask"},
           "fetch: a write of part of an absent line fetches it; mask: it is kept by byte masks"),
      number("noc.latency", Kind::cycles, 1, 100000, "one way between a core and a slice"),
      number("noc.bytes_per_clock", Kind::bytes, 1, 1024, "between a core and the L2, each way"),
      number("noc.port_lines", Kind::count, 1, 4096,
             "lines in flight of a client that is no core: copies, storage, host, display"),
      number("slc.size", Kind::bytes, 64 * kibi, 1 * gibi, "system-level cache, for all clients"),
      number("slc.line", Kind::bytes, 16, 1024, "line"),
      number("slc.ways", Kind::count, 1, 1024, "ways"),
      number("slc.latency", Kind::time, nanosecond, 10 * microsecond,
             "from an L2 miss leaving its slice to the data's return, on a hit"),
      number("slc.bandwidth", Kind::bandwidth, 1e6, 1e13, "between GPU and system-level cache"),
      number("slc.gpu_share", Kind::ratio, 0.01, 1, "part of its ways the GPU may fill"),
      number("slc.mshrs", Kind::count, 1, 4096, "lines being fetched at a time, a DRAM channel"),
      number("mmu.page_size", Kind::bytes, 4 * kibi, 64 * mebi, "page"),
      number("mmu.tlb_entries", Kind::count, 1, 1 << 20, "translations the GPU's TLB holds"),
      number("mmu.miss_latency", Kind::cycles, 1, 100000, "of a TLB miss"),
  };
}

Schema dram_schema() {
  const auto timing = [](const char* path, const char* description) {
    return number(path, Kind::time, 0.1 * nanosecond, 100 * microsecond, description);
  };
  return {
      number("dram.channels", Kind::count, 1, 64, "channels"),
      number("dram.channel_width_bits", Kind::count, 4, 1024, "data pins of a channel"),
      number("dram.data_rate", Kind::frequency, 100e6, 100e9, "transfers a second of a pin"),
      number("dram.banks", Kind::count, 1, 256, "banks of a channel"),
      number("dram.bank_groups", Kind::count, 1, 64, "bank groups of a channel"),
      number("dram.row_size", Kind::bytes, 256, 64 * kibi, "row of a bank"),
      number("dram.burst_length", Kind::count, 1, 64, "transfers of a burst"),
      timing("dram.tRCD", "row activation to column command"),
      timing("dram.tRP", "precharge to activation"),
      timing("dram.tRAS", "activation to precharge"),
      timing("dram.tCL", "read command to data"),
      timing("dram.tCWL", "write command to data"),
      timing("dram.tWR", "last written data to precharge"),
      timing("dram.tRTP", "read command to precharge"),
      timing("dram.tWTR", "last written data to read command"),
      timing("dram.tRRD", "activation to activation of another bank"),
      timing("dram.tFAW", "window of at most four activations"),
      timing("dram.tRFC", "duration of an all-bank refresh"),
      timing("dram.tREFI", "mean time between refreshes"),
      timing("dram.turnaround", "data pins idle when their direction changes"),
      timing("dram.tCCD_L", "column command to column command of the same bank group"),
      timing("dram.controller_latency", "before the scheduler and after the data"),
      timing("dram.max_wait", "a request older than this is overtaken no more"),
      number("dram.queue_depth", Kind::count, 1, 4096, "requests the controller of a channel sees"),
      word("dram.scheduler", {"fr_fcfs", "fcfs"}, "row hits first, or strictly in order"),
      number("dram.interleave", Kind::bytes, 16, 1 * mebi, "bytes before the next channel"),
  };
}

Schema storage_and_host_schema() {
  const auto cost = [](const char* path, const char* description) {
    return number(path, Kind::time, 0, 60 * second, description);
  };
  return {
      curve("storage.read_bandwidth",
            "request size to sustained read bandwidth, queue kept full, rising sizes"),
      cost("storage.command_latency", "added to a request that finds the queue empty"),
      number("storage.queues", Kind::count, 1, 64, "command queues"),
      cost("host.launch_overhead", "GPU time of a launch before its first work-group"),
      cost("host.enqueue_overhead", "host time to enqueue one launch or copy"),
      cost("host.map_overhead", "host time of a map or unmap, cache maintenance apart"),
      number("host.cache_maintenance_bandwidth", Kind::bandwidth, 1e6, 1e13,
             "cleaning or invalidating CPU caches on map and unmap"),
      number("host.copy_bandwidth", Kind::bandwidth, 1e6, 1e13,
             "buffer to image2d copies (unified to texture memory)"),
      cost("host.context_creation", "until the first program can be loaded"),
      cost("host.program_load", "of one program from its cached binary"),
      number("host.transfer_bandwidth", Kind::bandwidth, 1e6, 1e13,
             "host memory to or from a buffer (clEnqueueWriteBuffer, ReadBuffer)"),
      flag("queue.copy_overlaps_compute", "copies of a second queue run beside kernels"),
  };
}

Schema energy_and_limits_schema() {
  const auto energy = [](const char* path, const char* description) {
    return number(path, Kind::energy, 0, 1e9, description);
  };
  return {
      energy("energy.fma", "a scalar fp32 FMA, its operands included"),
      energy("energy.special", "a scalar special function"),
      energy("energy.load_store_access", "a line access of a load/store L1 or local memory"),
      energy("energy.texture_access", "a line access of a texture cache"),
      energy("energy.l2_access", "a line access of the L2"),
      energy("energy.slc_access", "a line access of the system-level cache"),
      energy("energy.noc_byte", "a byte between a core and the L2"),
      energy("energy.dram_bit", "a bit over the DRAM channel"),
      energy("energy.storage_byte", "a byte read from storage"),
      number("energy.static_power", Kind::power, 0, 1e5, "GPU and memory, idle but on"),
      number("limits.image_width", Kind::count, 2048, 1 << 20, "CL_DEVICE_IMAGE2D_MAX_WIDTH"),
      number("limits.image_height", Kind::count, 2048, 1 << 20, "CL_DEVICE_IMAGE2D_MAX_HEIGHT"),
      number("limits.max_allocation", Kind::bytes, 1 * mebi, 1024 * gibi,
             "CL_DEVICE_MAX_MEM_ALLOC_SIZE"),
      number("limits.app_memory", Kind::bytes, 1 * mebi, 1024 * gibi,
             "memory an application may use before it is killed"),
  };
}

}  // namespace

const std::vector<ParameterSchema>& device_config_schema() {
  static const Schema schema = [] {
    Schema all;
    for (const Schema& part :
         {gpu_schema(), core_memory_schema(), shared_memory_schema(), dram_schema(),
          storage_and_host_schema(), energy_and_limits_schema()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return schema;
}

std::string to_string(SourceKind kind) {
  switch (kind) {
    case SourceKind::spec:
      return "spec";
    case SourceKind::measured:
      return "measured";
    case SourceKind::derived:
      return "derived";
    case SourceKind::assumed:
      return "assumed";
  }
  return "unknown";
}

}  // namespace fm
