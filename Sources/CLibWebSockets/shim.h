#pragma once
#include <fcntl.h>
#include <malloc.h>
#include <libwebsockets.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

// Space that lws_write() wants in front of a payload; a macro with arithmetic, which Swift does not
// import.
static const int bridge_lws_pre = LWS_PRE;

// A name as X509_NAME_print_ex() writes it in one line; likewise.
static const unsigned long bridge_name_in_one_line = XN_FLAG_ONELINE;

// Whether the frame that came last was masked, which a server's must not be (RFC 6455, 5.1).
//
// libwebsockets 4.1 unmasks such a frame with a key that its own sending overwrites, and has no
// accessor that tells. The bit lies right behind the buffer that lws_get_close_payload() returns
// (struct _lws_websocket_related in its lib/roles/ws/private-lib-roles-ws.h); no build option moves
// it. Its neighbours have accessors: where these do not agree, or the version is another, nothing
// is claimed.
static inline bool bridge_lws_is_masked(struct lws *connection) {
#if LWS_LIBRARY_VERSION_MAJOR == 4 && LWS_LIBRARY_VERSION_MINOR == 1
  const struct {
    unsigned char close_payload[128 - 3];
    unsigned int is_final : 1, is_binary : 1, : 1, is_masked : 1, : 10, is_first : 1;
  } *seen = (const void *)lws_get_close_payload(connection);
  return seen->is_masked && seen->is_binary == (unsigned)lws_frame_is_binary(connection) &&
         seen->is_first == (unsigned)lws_is_first_fragment(connection);
#else
  return false;
#endif
}

// What the kernel knows of a TCP socket (tcp(7), TCP_INFO).
struct bridge_tcp {
  int state;                 // enum in netinet/tcp.h
  unsigned int silence;      // milliseconds since data came last
  unsigned long long bytes;  // received in all
  unsigned long long acknowledged;  // of ours, in all
};

// False where the descriptor is no TCP socket. glibc's tcp_info ends before the byte counters that
// the kernel has had since 4.1 (linux/tcp.h, which cannot be included beside it).
static inline bool bridge_tcp_look(int descriptor, struct bridge_tcp *seen) {
  struct {
    struct tcp_info old;
    unsigned long long pacing, most_pacing, acked, received;
  } info = {0};
  _Static_assert(sizeof(struct tcp_info) == 104, "tcp_info has grown");
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  seen->state = info.old.tcpi_state;
  seen->silence = info.old.tcpi_last_data_recv;
  seen->bytes = info.received;
  seen->acknowledged = info.acked;
  return true;
}

// What is known of a stream socket of which the kernel keeps no such counts (unix(7)).
struct bridge_stream {
  bool is_finished;  // the peer sends no more (poll(2), POLLRDHUP)
  bool is_gone;      // an error ended it
  int unsent;        // bytes that the peer has not taken, with what the kernel keeps beside them
};

#ifndef POLLRDHUP
#define POLLRDHUP 0x2000  // for GNU sources only
#endif

static inline void bridge_stream_look(int descriptor, struct bridge_stream *seen) {
  struct pollfd event = {.fd = descriptor, .events = POLLRDHUP};
  const bool is_known = poll(&event, 1, 0) > 0;
  seen->is_finished = is_known && (event.revents & (POLLRDHUP | POLLHUP)) != 0;
  seen->is_gone = is_known && (event.revents & (POLLERR | POLLNVAL)) != 0;
  if (ioctl(descriptor, TIOCOUTQ, &seen->unsent) != 0 || seen->unsent < 0) seen->unsent = 0;
}

// Declared by the system for GNU sources only. Descriptor `old` becomes one of the open socket that
// `made` is one of; what it was before is closed.
extern int dup3(int, int, int);
static inline bool bridge_replace(int old, int made) {
  return dup3(made, old, O_CLOEXEC) == old;
}

// Macros with casts, which Swift does not import.
static inline long bridge_set_ssl_defaults(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}
