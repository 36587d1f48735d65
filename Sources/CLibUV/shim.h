#pragma once
#include <sys/prctl.h>
#include <uv.h>

// prctl is variadic, which Swift does not import. Names the calling thread (15 bytes are kept).
static inline void bridge_name_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}
