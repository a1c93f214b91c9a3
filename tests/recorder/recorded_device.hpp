#pragma once
// What the recorder's tests share: one OpenCL context, one program cache, and the oracle: the
// accesses as the logs of every work-item list them, read without the tree or the fits.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/access_expander.hpp"
#include "executor/recorder/group_choice.hpp"
#include "executor/recorder/group_recorder.hpp"
#include "executor/recorder/recorder.hpp"

namespace fm {

struct RecordedDevice {
  RecordedDevice() : context(select_device("")), cache(context, "") {}
  OpenClContext context;
  ProgramCache cache;
  static RecordedDevice& get() {
    static RecordedDevice device;
    return device;
  }
};

/// One access as a log states it.
struct LoggedAccess {
  RecordKind kind;
  bool write;
  std::uint32_t argument;  ///< of local accesses: the array's static id
  std::int64_t x, y;       ///< elements, texels
  std::uint32_t epoch;     ///< barriers before it
};

inline std::vector<LoggedAccess> accesses_in(const ItemLog& log) {
  std::vector<LoggedAccess> accesses;
  std::uint32_t epoch = 0;
  for (const std::uint32_t* at = log.begin; at < log.end;) {
    const LogHeader header(*at++);
    const auto word = [&](int i) { return std::int64_t{static_cast<std::int32_t>(at[i])}; };
    const bool write = (header.detail & log_writes) != 0;
    const std::uint32_t argument = header.detail & ~log_writes;
    switch (header.kind) {
      case RecordKind::texel:
      case RecordKind::element:
        accesses.push_back({header.kind, write, argument, word(0), 0, epoch});
        at += 1;
        break;
      case RecordKind::index:
        accesses.push_back({header.kind, write, argument, word(0), 0, epoch});
        at += 2;
        break;
      case RecordKind::image:
        accesses.push_back({header.kind, write, argument, word(0), word(1), epoch});
        at += 2;
        break;
      case RecordKind::local:
        accesses.push_back({header.kind, write, at[1], word(0), 0, epoch});
        at += 2;
        break;
      case RecordKind::loop:
        at += 3;
        break;
      case RecordKind::guard:
      case RecordKind::derivation:
      case RecordKind::arithmetic:
        at += 2;
        break;
      case RecordKind::local_array:
        at += 3 + at[2];
        break;
      case RecordKind::barrier:
        ++epoch;
        break;
      default:
        break;
    }
  }
  return accesses;
}

/// Bytes a logged index counts: recomputed from the arguments.
inline std::int64_t unit_of(const RecordingKernel& kernel, const trace::Site& site,
                            const LoggedAccess& access) {
  if (access.kind == RecordKind::image) return 1;
  if (access.kind == RecordKind::local) return site.bytes();
  const auto& tensor = std::get<RecordedTensor>(kernel.arguments.at(access.argument));
  const auto element = static_cast<std::int64_t>(size_of(tensor.dtype).count());
  return access.kind == RecordKind::texel ? 4 * element : element;
}

/// Index values by site, from the buffers by argument.
inline IndexValues index_values(const trace::AccessProgram& program, const IndexBuffers& buffers) {
  IndexValues values;
  for (int i = 0; i < program.sites_size(); ++i) {
    if (!program.sites(i).index_load()) continue;
    const auto& buffer = buffers.at(program.sites(i).argument());
    values[static_cast<std::uint32_t>(i)].assign(buffer.begin(), buffer.end());
  }
  return values;
}

/// Records every group and compares every access of every work-item with the program's expansion.
/// Returns how many accesses were compared; stops at the first difference.
inline std::uint64_t expect_equal_over_all_groups(const trace::AccessProgram& program,
                                                  const RecordingKernel& kernel,
                                                  const IndexBuffers& index) {
  const IndexValues values = index_values(program, index);
  const AccessExpander expander(program, values);
  GroupRecorder recorder(RecordedDevice::get().context, RecordedDevice::get().cache, kernel, index);
  std::uint64_t compared = 0, different = 0;
  recorder.record(all_groups(kernel.group_count, 0, group_total(program)), [&](GroupLog log) {
    for (std::uint32_t item = 0; item < log.items() && different == 0; ++item) {
      const std::vector<LoggedAccess> logged = accesses_in(log.item(item));
      std::vector<ItemAccess> expanded;
      std::vector<std::uint32_t> epochs;
      expander.wave(
          log.group(), item, 1,
          [&](const WaveAccess& access) {
            expanded.push_back({access.site, access.lanes[0].x, access.lanes[0].y});
            epochs.push_back(access.barrier_epoch);
          },
          nullptr);
      const auto where = [&] {
        return "group " + std::to_string(log.group()[0]) + "," + std::to_string(log.group()[1]) +
               "," + std::to_string(log.group()[2]) + " item " + std::to_string(item);
      };
      EXPECT_EQ(logged.size(), expanded.size()) << where();
      different += logged.size() != expanded.size();
      for (std::size_t i = 0; i < logged.size() && different == 0; ++i) {
        const trace::Site& site = program.sites(static_cast<int>(expanded[i].site));
        const std::int64_t unit = unit_of(kernel, site, logged[i]);
        const bool same = site.write() == logged[i].write && expanded[i].x == logged[i].x * unit &&
                          expanded[i].y == logged[i].y && epochs[i] == logged[i].epoch;
        EXPECT_TRUE(same) << where() << " access " << i << " site " << expanded[i].site << ": ("
                          << expanded[i].x << ", " << expanded[i].y << ") is not "
                          << logged[i].x * unit << ", " << logged[i].y;
        if (logged[i].kind != RecordKind::local) {
          EXPECT_EQ(site.argument(), logged[i].argument) << where();
        }
        different += !same;
        ++compared;
      }
    }
  });
  return compared;
}

}  // namespace fm
