// The floor: what plain C over libssh2 costs, with no runtime around it. Built and run by scripts/bench.
//   ssh_floor PORT KEYFILE exec N | down PATH | up BYTES      (user root, 127.0.0.1, any host key)
// Prints one JSON line with the fields of bridge-bench. QUICKACK=1 asks for immediate acknowledgements.
#include <arpa/inet.h>
#include <errno.h>
#include <libssh2.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int port, quick;
static const char *key;

static double wall(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static double processor(void) {
  struct rusage r;
  getrusage(RUSAGE_SELF, &r);
  return r.ru_utime.tv_sec + r.ru_stime.tv_sec + (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "ssh_floor: %s\n", what);
  exit(1);
}

static ssize_t receive(libssh2_socket_t fd, void *bytes, size_t count, int flags, void **context) {
  (void)context;
  ssize_t got = recv(fd, bytes, count, flags);
  int failure = errno, one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
  return got < 0 ? -failure : got;
}

static LIBSSH2_SESSION *dial(int *fd) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  int one = 1;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  *fd = socket(AF_INET, SOCK_STREAM, 0);
  check(connect(*fd, (void *)&to, sizeof to) == 0, "connect");
  setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  LIBSSH2_SESSION *session = libssh2_session_init();
  if (quick) libssh2_session_callback_set(session, LIBSSH2_CALLBACK_RECV, receive);
  libssh2_session_method_pref(session, LIBSSH2_METHOD_CRYPT_CS, "aes128-ctr");
  libssh2_session_method_pref(session, LIBSSH2_METHOD_CRYPT_SC, "aes128-ctr");
  check(libssh2_session_handshake(session, *fd) == 0, "handshake");
  check(libssh2_userauth_publickey_fromfile(session, "root", NULL, key, NULL) == 0, "key");
  return session;
}

static LIBSSH2_CHANNEL *run(LIBSSH2_SESSION *session, const char *command) {
  LIBSSH2_CHANNEL *channel = libssh2_channel_open_session(session);
  check(channel && libssh2_channel_exec(channel, command) == 0, "exec");
  return channel;
}

static void finish(LIBSSH2_SESSION *session, LIBSSH2_CHANNEL *channel, int fd) {
  libssh2_channel_close(channel);
  libssh2_channel_wait_closed(channel);
  libssh2_channel_free(channel);
  libssh2_session_disconnect(session, "done");
  libssh2_session_free(session);
  close(fd);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static long transfer(const char *mode, const char *argument) {
  static char bytes[1 << 18];
  long moved = 0;
  ssize_t got;
  int fd;
  char command[4096];
  LIBSSH2_SESSION *session = dial(&fd);
  snprintf(command, sizeof command, "cat %s", strcmp(mode, "down") ? ">/dev/null" : argument);
  LIBSSH2_CHANNEL *channel = run(session, command);
  if (strcmp(mode, "down")) {
    for (long left = atol(argument); left > 0; left -= got, moved += got) {
      got = libssh2_channel_write(channel, bytes, left < (long)sizeof bytes ? left : (long)sizeof bytes);
      check(got > 0, "write");
    }
    libssh2_channel_send_eof(channel);
    while (libssh2_channel_read(channel, bytes, sizeof bytes) > 0) {}
  } else {
    while ((got = libssh2_channel_read(channel, bytes, sizeof bytes)) > 0) moved += got;
  }
  finish(session, channel, fd);
  return moved;
}

int main(int count, char **words) {
  check(count == 5, "PORT KEYFILE exec N | down PATH | up BYTES");
  port = atoi(words[1]), key = words[2], quick = getenv("QUICKACK") != NULL;
  libssh2_init(0);
  double start = wall(), used = processor();
  if (strcmp(words[3], "exec")) {
    long moved = transfer(words[3], words[4]);
    double took = wall() - start;
    printf("{\"bytes\":%ld,\"MBps\":%.1f,\"wall\":%.4f,\"cpu\":%.4f}\n", moved, moved / took / 1e6, took,
           processor() - used);
    return 0;
  }
  int rounds = atoi(words[4]), fd;
  double *times = calloc(rounds, sizeof *times);
  for (int i = 0; i < rounds; i++) {
    char byte[64];
    double begun = wall();
    LIBSSH2_SESSION *session = dial(&fd);
    LIBSSH2_CHANNEL *channel = run(session, "true");
    while (libssh2_channel_read(channel, byte, sizeof byte) > 0) {}
    finish(session, channel, fd);
    times[i] = (wall() - begun) * 1e3;
  }
  qsort(times, rounds, sizeof *times, ascending);
  printf("{\"median_ms\":%.2f,\"max_ms\":%.2f,\"wall\":%.4f,\"cpu\":%.4f}\n", times[rounds / 2],
         times[rounds - 1], wall() - start, processor() - used);
}
