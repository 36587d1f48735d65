#pragma once
#include <errno.h>
#include <libssh2.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// The private part of an RSA key file in OpenSSH's encrypted form. OpenSSL has no bcrypt_pbkdf, and
// libssh2 gives no key away: a session without a server decrypts the file for a login that then
// cannot be sent, and the private part is taken when the library frees it.

struct bridge_scratch {
  unsigned char *found;
  size_t length;
};

static inline void *bridge_scratch_allocate(size_t count, void **abstract) {
  (void)abstract;
  return calloc(1, count ? count : 1);
}

static inline void bridge_scratch_free(void *block, void **abstract) {
  static const unsigned char mark[11] = {0, 0, 0, 7, 's', 's', 'h', '-', 'r', 's', 'a'};
  struct bridge_scratch *scratch = (struct bridge_scratch *)*abstract;
  if (!block) return;
  size_t length = malloc_usable_size(block);
  unsigned char *bytes = (unsigned char *)block;
  // Two equal numbers that are checked, then the type's name.
  if (!scratch->found && length >= 19 && memcmp(bytes, bytes + 4, 4) == 0 &&
      memcmp(bytes + 8, mark, sizeof mark) == 0 && (scratch->found = (unsigned char *)malloc(length))) {
    memcpy(scratch->found, bytes, length);
    scratch->length = length;
  }
  explicit_bzero(block, length);
  free(block);
}

static inline void *bridge_scratch_reallocate(void *block, size_t count, void **abstract) {
  void *moved = bridge_scratch_allocate(count, abstract);
  if (!moved || !block) return moved;
  size_t old = malloc_usable_size(block);
  memcpy(moved, block, old < count ? old : count);
  explicit_bzero(block, old);
  free(block);
  return moved;
}

static inline ssize_t bridge_scratch_receive(int fd, void *bytes, size_t count, int flags, void **abstract) {
  (void)fd, (void)bytes, (void)count, (void)flags, (void)abstract;
  return -EPIPE;
}

static inline ssize_t bridge_scratch_send(int fd, const void *bytes, size_t count, int flags, void **abstract) {
  (void)fd, (void)bytes, (void)count, (void)flags, (void)abstract;
  return -EPIPE;
}

// 0 where the private part was found; else the library's code (-16: the passphrase is wrong).
static inline int bridge_decrypt_rsa(const char *path, const char *passphrase, struct bridge_scratch *scratch) {
  LIBSSH2_SESSION *session = libssh2_session_init_ex(
      bridge_scratch_allocate, bridge_scratch_free, bridge_scratch_reallocate, scratch);
  if (!session) return LIBSSH2_ERROR_ALLOC;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  libssh2_session_callback_set(session, LIBSSH2_CALLBACK_RECV, (void *)bridge_scratch_receive);
  libssh2_session_callback_set(session, LIBSSH2_CALLBACK_SEND, (void *)bridge_scratch_send);
#pragma GCC diagnostic pop
  int code = libssh2_userauth_publickey_fromfile_ex(session, "x", 1, NULL, path, passphrase);
  libssh2_session_free(session);
  return scratch->found ? 0 : (code == 0 ? LIBSSH2_ERROR_FILE : code);
}

static inline void bridge_scratch_wipe(struct bridge_scratch *scratch) {
  if (scratch->found) explicit_bzero(scratch->found, scratch->length);
  free(scratch->found);
  scratch->found = NULL;
}
