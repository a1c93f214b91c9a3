#include "executor/recorder/recorder.hpp"

#include "executor/recorder/access_recording.hpp"
#include "executor/recorder/group_recorder.hpp"

namespace fm {

trace::AccessProgram record_accesses(const OpenClContext& context, ProgramCache& cache,
                                     const RecordingKernel& kernel, const IndexBuffers& index) {
  GroupRecorder groups(context, cache, kernel, index);
  return record_accesses(kernel, groups, Groups::chosen);
}

}  // namespace fm
