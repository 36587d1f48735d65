#pragma once
#include <sys/socket.h>
#include <uv.h>

// Declared by the system for GNU sources only.
extern int accept4(int, struct sockaddr *__restrict, socklen_t *__restrict, int);
static inline int bridge_accept(int descriptor, int flags) {
  return accept4(descriptor, 0, 0, flags);
}
