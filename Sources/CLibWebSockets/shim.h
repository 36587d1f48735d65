#pragma once
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
#include <sys/resource.h>
#include <sys/socket.h>

// Room that lws_write() wants in front of a payload; a macro with arithmetic, which Swift does not
// import.
static const int bridge_lws_pre = LWS_PRE;

// What the kernel knows of a TCP socket (tcp(7), TCP_INFO).
struct bridge_tcp {
  int state;                 // enum in netinet/tcp.h
  unsigned int silence;      // milliseconds since data came last
  unsigned long long bytes;  // received in all
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
  return true;
}

// Macros with casts, which Swift does not import.
static inline long bridge_set_ssl_defaults(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}
