#pragma once
#include <libpq-fe.h>
#include <sys/eventfd.h>

static inline int bridge_wake_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
