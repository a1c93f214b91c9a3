#include "sim/gpu/stall_cause.hpp"

namespace fm {

std::string to_string(StallCause cause) {
  switch (cause) {
    case StallCause::idle:
      return "idle";
    case StallCause::arithmetic:
      return "arithmetic";
    case StallCause::load:
      return "load";
    case StallCause::texture:
      return "texture";
    case StallCause::local:
      return "local";
    case StallCause::load_store_pipe:
      return "load_store_pipe";
    case StallCause::texture_pipe:
      return "texture_pipe";
    case StallCause::local_pipe:
      return "local_pipe";
    case StallCause::mshr:
      return "mshr";
    case StallCause::write_buffer:
      return "write_buffer";
    case StallCause::barrier:
      return "barrier";
    case StallCause::drain:
      return "drain";
  }
  return "?";
}

std::string describe(StallCause cause) {
  switch (cause) {
    case StallCause::idle:
      return "no wave was on the engine";
    case StallCause::arithmetic:
      return "its oldest wave waited for a result of its own";
    case StallCause::load:
      return "its oldest wave waited for the load/store unit's data (Adreno SP_STALL_CYCLES_UCHE)";
    case StallCause::texture:
      return "its oldest wave waited for texels (Adreno SP_STALL_CYCLES_TP)";
    case StallCause::local:
      return "its oldest wave waited for local memory's data";
    case StallCause::load_store_pipe:
      return "the load/store unit's queue was full";
    case StallCause::texture_pipe:
      return "the texture unit's queue was full";
    case StallCause::local_pipe:
      return "local memory's queue was full";
    case StallCause::mshr:
      return "a memory unit stood still for an MSHR, merge list or way";
    case StallCause::write_buffer:
      return "a memory unit stood still for a write credit";
    case StallCause::barrier:
      return "its oldest wave waited at a barrier";
    case StallCause::drain:
      return "caches were cleaned at the end of a launch";
  }
  return "?";
}

}  // namespace fm
