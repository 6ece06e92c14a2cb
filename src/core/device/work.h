// The resources of a job.
#pragma once

#include <cstdint>

#include "core/device/backend.h"

namespace ancify {

struct Work {
  Backend backend;          // with its threads
  std::int64_t memory = 0;  // bytes of this machine
  bool half = false;        // whether GPUs compute in half precision
  bool progress = false;    // whether the session shows progress, which every job reports
};

}  // namespace ancify
