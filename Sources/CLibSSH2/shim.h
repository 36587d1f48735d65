#pragma once
#include <errno.h>
#include <fcntl.h>
#include <libssh2.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// Declared by the system for GNU sources only.
extern int pipe2(int ends[2], int flags);
static inline int bridge_private_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

// Sets a callback (LIBSSH2_CALLBACK_...). libssh2_session_callback_set is deprecated since 1.11.1, and
// what takes its place came with it.
static inline void bridge_set_callback(LIBSSH2_SESSION *session, int kind, void *callback) {
#if LIBSSH2_VERSION_NUM >= 0x010b01
  libssh2_session_callback_set2(session, kind, (libssh2_cb_generic *)callback);
#else
  libssh2_session_callback_set(session, kind, callback);
#endif
}

// The private part of a key file in OpenSSH's encrypted form. OpenSSL has no bcrypt_pbkdf, and
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

// Two equal numbers that are checked, then the type's name, which is also the name of the method.
static inline bool bridge_is_private_part(const unsigned char *bytes, size_t length) {
  static const char *const types[] = {"ssh-rsa", "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
                                      "ecdsa-sha2-nistp521"};
  if (length < 32 || memcmp(bytes, bytes + 4, 4) != 0 || bytes[8] || bytes[9] || bytes[10]) return false;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (bytes[11] == strlen(types[i]) && memcmp(bytes + 12, types[i], bytes[11]) == 0) return true;
  }
  return false;
}

static inline void bridge_scratch_free(void *block, void **abstract) {
  struct bridge_scratch *scratch = (struct bridge_scratch *)*abstract;
  if (!block) return;
  size_t length = malloc_usable_size(block);
  unsigned char *bytes = (unsigned char *)block;
  if (!scratch->found && bridge_is_private_part(bytes, length) && (scratch->found = (unsigned char *)malloc(length))) {
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
static inline int bridge_decrypt_key(const char *path, const char *passphrase, struct bridge_scratch *scratch) {
  LIBSSH2_SESSION *session = libssh2_session_init_ex(
      bridge_scratch_allocate, bridge_scratch_free, bridge_scratch_reallocate, scratch);
  if (!session) return LIBSSH2_ERROR_ALLOC;
  bridge_set_callback(session, LIBSSH2_CALLBACK_RECV, (void *)bridge_scratch_receive);
  bridge_set_callback(session, LIBSSH2_CALLBACK_SEND, (void *)bridge_scratch_send);
  int code = libssh2_userauth_publickey_fromfile_ex(session, "x", 1, NULL, path, passphrase);
  libssh2_session_free(session);
  return scratch->found ? 0 : (code == 0 ? LIBSSH2_ERROR_FILE : code);
}

static inline void bridge_scratch_wipe(struct bridge_scratch *scratch) {
  if (scratch->found) explicit_bzero(scratch->found, scratch->length);
  free(scratch->found);
  scratch->found = NULL;
}
