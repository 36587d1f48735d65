#pragma once
#include <sys/prctl.h>
#include <sys/socket.h>
#include <uv.h>

// Declared by the system for GNU sources only.
extern int accept4(int, struct sockaddr *__restrict, socklen_t *__restrict, int);
static inline int bridge_accept(int descriptor, int flags) {
  return accept4(descriptor, 0, 0, flags);
}

// prctl is variadic, which Swift does not import. Names the calling thread (15 bytes are kept).
static inline void bridge_name_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}
