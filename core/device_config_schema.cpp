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

/// `minimum`, `maximum`: of y.
ParameterSchema curve(const char* path, Kind x, Kind y, double minimum, double maximum,
                      const char* description) {
  ParameterSchema schema = number(path, Kind::curve, minimum, maximum, description);
  schema.curve_x = x;
  schema.curve_y = y;
  schema.curve_x_minimum = x == Kind::bytes ? 512 : x == Kind::ratio ? 0.001 : 1;
  schema.curve_x_maximum = x == Kind::bytes ? 1024 * gibi : x == Kind::ratio ? 1 : 4096;
  return schema;
}

using Schema = std::vector<ParameterSchema>;

Schema gpu_schema() {
  return {
      word("gpu.isa", {"valhall", "bifrost", "adreno"},
           "instruction set: selects the register count of each kernel in a trace"),
      number("gpu.cores", Kind::count, 1, 64,
             "shader cores, each with its own load/store path and texture unit"),
      number("gpu.clock", Kind::frequency, 50e6, 5e9, "clock of cores and L2"),
      curve("gpu.operating_points", Kind::ratio, Kind::voltage, 0.1, 5,
            "share of gpu.clock to voltage, of each operating point"),
      number("gpu.wave_width", Kind::count, 4, 128, "work-items issued together"),
      word("gpu.inactive_lanes", {"issued", "skipped"},
           "issued: a wave takes its time whichever of its lanes are active; skipped: only active "
           "ones take time, as where work-items are computed one after another"),
      number("gpu.vector_width", Kind::count, 4, 16,
             "numbers that a work-item computes at once: a texel's four, more where its registers "
             "are wider; decides the planner's tiles"),
      number("gpu.waves_per_core", Kind::count, 1, 1024, "wave slots of a core"),
      number("gpu.registers_per_core", Kind::count, 1024, 1 << 22, "32-bit registers of a core"),
      number("gpu.full_occupancy_registers", Kind::count, 1, 512,
             "registers a work-item up to which all wave slots may be used; above, half of them "
             "(512: no such step, only registers_per_core limits)"),
      number("gpu.streaming_registers", Kind::count, 0, 256,
             "registers a work-item more in a kernel that also transforms streamed weights"),
      number("gpu.workgroups_per_core", Kind::count, 1, 1024, "work-groups resident in a core"),
      number("gpu.issue_per_clock", Kind::count, 1, 64, "instructions of waves issued a clock"),
      number("gpu.fma_per_clock", Kind::ratio, 0.001, 4096, "scalar fp32 FMAs a clock"),
      number("gpu.fp16_ratio", Kind::ratio, 1, 4, "fp16 FMAs a clock over fp32 ones"),
      number("gpu.special_per_clock", Kind::ratio, 0.001, 4096,
             "scalar special functions (exp, rsqrt, ..) a clock"),
      number("gpu.convert_per_clock", Kind::ratio, 0.001, 4096, "scalar type conversions a clock"),
      number("gpu.integer_per_clock", Kind::ratio, 0.001, 4096,
             "scalar integer operations a clock"),
      number("gpu.workgroup_dispatch", Kind::cycles, 0, 100000,
             "from a free place in a core to the first instruction of the work-group put there"),
      number("gpu.work_item_start", Kind::cycles, 0, 10000,
             "an engine spends on a wave before its first access or arithmetic: indices; on every "
             "active lane of it where gpu.inactive_lanes are skipped"),
      number("gpu.max_outstanding_loads", Kind::count, 1, 1024,
             "loads of one wave under way at a time"),
      word("gpu.scheduler", {"oldest_first", "round_robin"}, "which ready wave issues first"),
      number("gpu.arithmetic_latency", Kind::cycles, 1, 1000,
             "from an arithmetic instruction's issue to the next one of its wave"),
  };
}

Schema core_memory_schema() {
  return {
      number("load_store.cache_size", Kind::bytes, 0, 16 * mebi,
             "load/store L1 of a core; 0: none, every line goes to the L2"),
      number("load_store.line", Kind::bytes, 16, 1024, "line of the load/store L1"),
      number("load_store.ways", Kind::count, 1, 1024, "ways of the load/store L1"),
      number("load_store.latency", Kind::cycles, 1, 100000, "issue to use on a hit"),
      number("load_store.bytes_per_clock", Kind::bytes, 1, 1024, "bytes a clock on hits"),
      number("load_store.lanes_per_clock", Kind::ratio, 0.25, 128,
             "work-items whose addresses are taken a clock"),
      number("load_store.max_lane_bytes", Kind::bytes, 4, 128,
             "of one work-item in one access; a wider one is split"),
      number("load_store.atomic_time", Kind::cycles, 1, 1000,
             "between atomic operations of one wave on one word"),
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
      number("texture.texels_per_clock", Kind::ratio, 0.001, 256,
             "texels a clock of up to 32 bits, unfiltered, on hits"),
      number("texture.wide_texel_ratio", Kind::ratio, 1, 16,
             "cost of a texel above 32 bits over one of up to 32 bits"),
      number("texture.bytes_per_clock", Kind::bytes, 1, 1024,
             "bytes of texels a clock from the cache to the filter"),
      number("texture.return_bytes_per_clock", Kind::bytes, 1, 1024,
             "bytes a clock of results to the registers: four components a texel, of 2 bytes in "
             "half precision, else of 4"),
      number("texture.wide_capacity", Kind::ratio, 0.01, 1,
             "part of the cache's ways that texels above 32 bits may fill"),
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
      word("l2.hash", {"none", "xor"},
           "which slice and bank a line falls to. none: the address bits above the line; xor: all "
           "higher ones folded in"),
      number("l2.banks", Kind::count, 1, 64,
             "banks of a slice: they share its bytes_per_clock, and a line occupies one"),
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
      number("cluster.size", Kind::bytes, 0, 16 * mebi,
             "cache between some cores and the L2, of each cluster of cores; 0 B: none"),
      number("cluster.cores", Kind::count, 1, 64, "cores that share one"),
      number("cluster.line", Kind::bytes, 16, 1024, "line"),
      number("cluster.ways", Kind::count, 1, 1024, "ways"),
      number("cluster.slices", Kind::count, 1, 64,
             "parts of one that each take a request a clock, interleaved by line"),
      number("cluster.latency", Kind::cycles, 2, 100000,
             "from a core's request to its data's return, on a hit"),
      number("cluster.bytes_per_clock", Kind::bytes, 1, 1024, "bytes a clock of one slice"),
      number("cluster.mshrs", Kind::count, 1, 4096, "lines a slice is fetching at a time"),
      number("cluster.merges", Kind::count, 1, 1024,
             "requests that wait for one line being fetched, the first included"),
      number("cluster.write_buffer", Kind::count, 1, 4096,
             "writes a slice passed on to the L2 that it has not acknowledged"),
      number("noc.latency", Kind::cycles, 1, 100000,
             "one way between a core (with cluster caches: a cluster) and a slice"),
      number(
          "noc.bytes_per_clock", Kind::bytes, 1, 1024,
          "between a core (or a slice of a cluster's cache) and the L2, each way; and of written "
          "data into a slice"),
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
      number("slc.merges", Kind::count, 1, 1024,
             "requests that wait for one line being fetched, the first included"),
      number("mmu.page_size", Kind::bytes, 4 * kibi, 64 * mebi, "page"),
      number("mmu.core_tlb_entries", Kind::count, 1, 1 << 16,
             "translations a core's own TLB holds"),
      number("mmu.core_tlb_ways", Kind::count, 1, 1 << 16, "ways of a core's own TLB"),
      number("mmu.core_misses", Kind::count, 1, 1024,
             "pages a core asks the shared TLB for at a time"),
      number("mmu.tlb_entries", Kind::count, 1, 1 << 20,
             "translations the TLB that all cores share holds"),
      number("mmu.tlb_ways", Kind::count, 1, 1 << 20, "ways of the shared TLB"),
      number("mmu.tlb_latency", Kind::cycles, 2, 100000,
             "from a core's request to the shared TLB's answer, on a hit"),
      number("mmu.walkers", Kind::count, 1, 1024, "page walks under way at a time"),
      number("mmu.walk_cache_entries", Kind::count, 1, 4096,
             "entries of upper page tables the walkers keep"),
      number(
          "mmu.table_levels", Kind::count, 1, 5,
          "page tables a walk reads when nothing is kept, the last included; of 512 entries each"),
      word("mmu.walk_path", {"l2", "memory"},
           "what walks read page tables through: the L2, or past it the system-level cache"),
  };
}

/// What the part's standard fixes; JEDEC's names.
Schema dram_part_schema() {
  const auto timing = [](const char* path, const char* description) {
    return number(path, Kind::time, 0, 100 * microsecond, description);
  };
  const auto clocks = [](const char* path, double minimum, const char* description) {
    return number(path, Kind::count, minimum, 1000, description);
  };
  return {
      number("dram.channel_width_bits", Kind::count, 4, 1024, "data pins of a channel"),
      number("dram.data_rate", Kind::frequency, 100e6, 100e9, "transfers a second of a pin"),
      clocks("dram.transfers_per_clock", 1,
             "transfers of a pin a command clock: 2, or 8 with LPDDR5's WCK of 4:1"),
      number("dram.banks", Kind::count, 1, 64, "banks of a channel"),
      number("dram.bank_groups", Kind::count, 1, 64, "bank groups of a channel"),
      number("dram.rows", Kind::count, 1, 1 << 24, "rows of a bank"),
      number("dram.row_size", Kind::bytes, 256, 64 * kibi, "row of a bank"),
      number("dram.burst_length", Kind::count, 1, 64, "transfers of a burst"),
      clocks("dram.RL", 1, "read command to data, command clocks"),
      clocks("dram.WL", 1, "write command to data, command clocks"),
      timing("dram.tRCD", "row activation to column command"),
      timing("dram.tRP", "precharge of a bank to its activation"),
      timing("dram.tRPab", "precharge of all banks to activation"),
      timing("dram.tRAS", "activation to precharge"),
      timing("dram.tRTP", "read command to precharge"),
      timing("dram.tWR", "last written data to precharge"),
      timing("dram.tWTR_S", "last written data to read command, other bank group"),
      timing("dram.tWTR_L", "last written data to read command, same bank group"),
      timing("dram.tRRD_S", "activation to activation, other bank group"),
      timing("dram.tRRD_L", "activation to activation, same bank group"),
      timing("dram.tFAW", "window of at most four activations"),
      clocks("dram.tCCD_S", 1, "column command to column command, other bank group, clocks"),
      clocks("dram.tCCD_L", 1, "column command to column command, same bank group, clocks"),
      clocks("dram.tPPD", 0, "precharge to precharge, clocks"),
      clocks("dram.turnaround", 0, "data pins idle between read and write data, clocks"),
      timing("dram.tRFCab", "duration of an all-bank refresh"),
      timing("dram.tRFCpb", "duration of a per-bank refresh"),
      timing("dram.tREFI", "mean time between all-bank refreshes"),
      timing("dram.tpbR2act", "per-bank refresh to activation of another bank"),
      clocks("dram.refresh_sets", 0, "per-bank refreshes that cover all banks; 0: part has none"),
      clocks("dram.tAAD", 0, "most clocks between ACT-1 and ACT-2; 0: activation is one command"),
      flag("dram.wck_sync", "a stopped data clock needs a CAS command before a column command"),
      clocks("dram.tWCKPST", 0, "data clock runs on after the last data, command clocks"),
      clocks("dram.activate_clocks", 1, "command bus taken by an activation"),
      clocks("dram.column_clocks", 1, "command bus taken by a column command"),
      clocks("dram.precharge_clocks", 1, "command bus taken by a precharge or refresh"),
  };
}

/// The device's choice: channels and their controller.
Schema dram_controller_schema() {
  return {
      curve("dram.operating_points", Kind::ratio, Kind::voltage, 0.1, 5,
            "share of dram.data_rate, the inverse of a whole number, to voltage, of each operating "
            "point"),
      number("dram.channels", Kind::count, 1, 64, "channels"),
      number("dram.interleave", Kind::bytes, 16, 1 * mebi, "bytes before the next channel"),
      word("dram.mapping", {},
           "fields of an address of a channel, high bits first (row, bank, group, column); "
           "name:N is a piece of N bits; they lie above the bytes of a request"),
      word("dram.hash", {"none", "row", "column"},
           "bits that flip the bank's, so that strides spread over banks"),
      number("dram.queue_depth", Kind::count, 1, 4096, "reads the scheduler of a channel sees"),
      number("dram.write_queue_depth", Kind::count, 1, 4096, "writes it sees"),
      number("dram.write_high", Kind::ratio, 0.01, 1, "of the write queue: writes go first"),
      number("dram.write_low", Kind::ratio, 0, 1, "of the write queue: reads go first again"),
      word("dram.scheduler", {"fr_fcfs", "fcfs"}, "what is ready first, or strictly in order"),
      number("dram.row_hit_limit", Kind::count, 1, 1 << 20,
             "column commands to a row before a request for another row may close it"),
      word("dram.page_policy", {"open", "closed", "timeout"},
           "rows stay open, close after their last request, or close after a time unused"),
      number("dram.page_timeout", Kind::time, 0, 100 * microsecond, "time of that policy"),
      word("dram.refresh", {"all_bank", "per_bank", "none"}, "how rows are refreshed"),
      number("dram.max_wait", Kind::time, nanosecond, 100 * microsecond,
             "a request older than this is overtaken no more"),
      number("dram.controller_latency", Kind::time, 0, 100 * microsecond,
             "before the scheduler, and again after the data"),
  };
}

Schema storage_and_host_schema() {
  const auto cost = [](const char* path, const char* description) {
    return number(path, Kind::time, 0, 60 * second, description);
  };
  return {
      curve("storage.read_bandwidth", Kind::bytes, Kind::bandwidth, 1, 1e15,
            "request size to sustained read bandwidth of requests that begin where the one before "
            "ended, queue kept full"),
      curve("storage.random_ratio", Kind::bytes, Kind::ratio, 0.001, 1,
            "request size to the bandwidth of all other requests, over storage.read_bandwidth"),
      curve("storage.random_range", Kind::bytes, Kind::ratio, 0.1, 100,
            "bytes between the first and last of the newest 32 requests to their bandwidth, over "
            "that of a wide range"),
      curve("storage.depth_share", Kind::count, Kind::ratio, 0.001, 1,
            "commands in the queue to the part of the sustained bandwidth they reach, "
            "storage.command_latency apart"),
      cost("storage.command_latency",
           "from a command entering the device's queue to its first byte, beside the others there"),
      number("storage.queue_depth", Kind::count, 1, 65536, "commands a queue holds"),
      number("storage.queues", Kind::count, 1, 64, "command queues"),
      number("storage.buffer", Kind::bytes, 4096, 1 << 30,
             "data of a queue off the flash that wait for memory; with more the flash waits"),
      curve("host.operating_points", Kind::ratio, Kind::voltage, 0.1, 5,
            "share of the CPU's fastest clock to voltage, of each operating point; host times are "
            "those of the fastest"),
      cost("host.launch_overhead", "GPU time of a launch before its first work-group"),
      cost("host.enqueue_overhead", "host time to enqueue one launch or copy"),
      cost("host.disk_request_cpu", "host time of one read request, before the storage's"),
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

Schema allocator_schema() {
  return {
      number("allocator.address_space", Kind::bytes, 1 * mebi, 1024 * 1024 * gibi,
             "addresses for memory objects"),
      word("allocator.placement", {"first_fit", "best_fit"},
           "which hole an object takes: the lowest, or the smallest that is large enough"),
      number("allocator.buffer_alignment", Kind::bytes, 1, 64 * mebi,
             "of a buffer's address, at least mmu.page_size"),
      number("allocator.image_alignment", Kind::bytes, 1, 64 * mebi,
             "of an image's address, at least mmu.page_size"),
      number("allocator.base_cost", Kind::time, 0, second, "host time of creating an object"),
      number("allocator.page_cost", Kind::time, 0, second,
             "host time of taking and mapping one page (mmu.page_size)"),
      flag("allocator.zero_pages", "the host writes zeros over new pages"),
      number("allocator.zeroing_bandwidth", Kind::bandwidth, 1e6, 1e13, "of those writes"),
      word("allocator.release", {"immediate", "delayed", "when_idle"},
           "when released memory is given back: at once, after allocator.release_delay, or once no "
           "command is enqueued or running"),
      number("allocator.release_delay", Kind::time, 0, 60 * second,
             "with allocator.release: delayed"),
  };
}

Schema clocks_schema() {
  return {
      word("governor.gpu", {"fixed", "ramp"},
           "fixed: always the fastest operating point; ramp: from the slowest, a point at a time"),
      word("governor.dram", {"fixed", "ramp"}, "the same of the DRAM's clock"),
      word("governor.cpu", {"fixed", "ramp"}, "the same of the CPU's"),
      number("governor.gpu_interval", Kind::time, microsecond, 60 * second,
             "between looks at the GPU's load, and at the temperature"),
      number("governor.dram_interval", Kind::time, microsecond, 60 * second,
             "between looks at the DRAM's traffic"),
      number("governor.dram_up_threshold", Kind::ratio, 0, 1,
             "share of the present data rate used above which it goes up"),
      number("governor.dram_down_threshold", Kind::ratio, 0, 1, "share below which it goes down"),
      number("governor.cpu_interval", Kind::time, microsecond, 60 * second,
             "between looks at the CPU's load"),
      number("governor.up_threshold", Kind::ratio, 0, 1,
             "share of an interval busy above which the clock goes up"),
      number("governor.down_threshold", Kind::ratio, 0, 1, "share below which it goes down"),
      flag("thermal.throttling", "the GPU goes a point lower while above thermal.limit"),
      number("thermal.ambient", Kind::temperature, -40, 85, "around the phone"),
      number("thermal.start", Kind::temperature, -40, 125, "of the phone when the run begins"),
      number("thermal.limit", Kind::temperature, 0, 125, "above it the GPU slows down"),
      number("thermal.hysteresis", Kind::temperature_difference, 0, 50,
             "so far below the limit it may go faster again"),
      number("thermal.resistance", Kind::thermal_resistance, 0.01, 1000,
             "from the phone to the air"),
      number("thermal.capacity", Kind::heat_capacity, 1e-6, 1e5, "heat that warms it by 1 K"),
      number("traffic.display_bandwidth", Kind::bandwidth, 0, 1e12,
             "reads of the display's refresh"),
      number("traffic.display_burst", Kind::bytes, 64, 16 * mebi, "of them at a time"),
      number("traffic.background_bandwidth", Kind::bandwidth, 0, 1e12,
             "reads and writes of everything else on the phone"),
      number("traffic.background_burst", Kind::bytes, 64, 16 * mebi, "of them at a time"),
  };
}

Schema energy_and_limits_schema() {
  const auto energy = [](const char* path, const char* description) {
    return number(path, Kind::energy, 0, 1e9, description);
  };
  return {
      energy("energy.fma", "a scalar fp32 FMA"),
      energy("energy.fma_half", "a scalar fp16 FMA"),
      energy("energy.add", "a scalar fp32 addition, or another operation of one FLOP"),
      energy("energy.add_half", "the same of fp16"),
      energy("energy.special", "a scalar special function"),
      energy("energy.convert", "a scalar type conversion"),
      energy("energy.integer", "a scalar integer operation"),
      energy("energy.load_store_read", "a line read of a load/store L1"),
      energy("energy.load_store_write", "a line written to it, by a store or a fill"),
      energy("energy.local_access", "a wave's access to dedicated local memory"),
      energy("energy.texture_read", "a line read of a texture cache"),
      energy("energy.texture_write", "a line filled into it"),
      energy("energy.noc_byte", "a byte between a core and the L2"),
      energy("energy.l2_read", "a line read of the L2"),
      energy("energy.l2_write", "a line written to it, by a write or a fill"),
      energy("energy.slc_read", "a line read of the system-level cache"),
      energy("energy.slc_write", "a line written to it, by a write or a fill"),
      energy("energy.dram_activate", "a row's activation and precharge"),
      energy("energy.dram_read_bit", "a bit read: column access and channel"),
      energy("energy.dram_write_bit", "a bit written: column access and channel"),
      energy("energy.dram_refresh", "an all-bank refresh of a channel"),
      energy("energy.storage_byte", "a byte read from storage"),
      number("energy.cpu_active", Kind::power, 0, 1e5, "a CPU core that works, above static_cpu"),
      number("energy.static_gpu", Kind::power, 0, 1e5, "GPU and L2, on"),
      number("energy.static_memory", Kind::power, 0, 1e5,
             "system-level cache, controller and DRAM, on; refresh apart"),
      number("energy.static_cpu", Kind::power, 0, 1e5, "CPU cores, on"),
      number("energy.static_storage", Kind::power, 0, 1e5, "flash and its controller, on"),
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
         {gpu_schema(), core_memory_schema(), shared_memory_schema(), dram_part_schema(),
          dram_controller_schema(), storage_and_host_schema(), allocator_schema(),
          energy_and_limits_schema()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    const Schema clocks = clocks_schema();
    all.insert(all.end(), clocks.begin(), clocks.end());
    return all;
  }();
  return schema;
}

std::string ParameterSchema::range() const {
  const auto between = [](double least, double most, Kind unit) {
    return quantity_text(least, unit) + " to " + quantity_text(most, unit);
  };
  switch (kind) {
    case Kind::word: {
      if (words.empty()) return "any text";
      std::string text;
      for (const std::string& word : words) text += (text.empty() ? "one of " : ", ") + word;
      return text;
    }
    case Kind::flag:
      return "true or false";
    case Kind::curve:
      return between(curve_x_minimum, curve_x_maximum, curve_x) + ", " +
             between(minimum, maximum, curve_y);
    default:
      return between(minimum, maximum, kind);
  }
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
