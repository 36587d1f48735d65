#pragma once
// System calls that Swift does not import: variadic functions, control message macros, ioctl numbers.
// Every function returns -1 and sets errno on failure, unless it says otherwise.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

// Declared by the headers for _GNU_SOURCE only, which Swift's own view of them does not set.
extern char **environ;
int accept4(int, struct sockaddr *, socklen_t *, int);
int pipe2(int[2], int);

// Names the calling thread (15 bytes are kept).
static inline void bridge_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline char **bridge_environment(void) { return environ; }
static inline int bridge_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
static inline long bridge_random(void *bytes, size_t length) {
  return syscall(SYS_getrandom, bytes, length, 0);
}


// The lock of one open file description: it lives as long as one of its descriptors, in any process.
static inline int bridge_lock(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, 37 /* F_OFD_SETLK */, &lock);
}

// The lock of one byte: 0 gives it back, 1 shares it, 2 takes it alone. Where it waits, for as long as
// another one has it.
static inline int bridge_lock_byte(int fd, long byte, int mode, int waits) {
  short types[] = {F_UNLCK, F_RDLCK, F_WRLCK};
  struct flock lock = {.l_type = types[mode], .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
  int result;
  do {
    result = fcntl(fd, waits ? 38 /* F_OFD_SETLKW */ : 37 /* F_OFD_SETLK */, &lock);
  } while (result != 0 && errno == EINTR);
  return result;
}

// 1 when another open file description holds the lock, 0 when none does.
static inline int bridge_is_locked(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, 36 /* F_OFD_GETLK */, &lock) != 0) return -1;
  return lock.l_type == F_UNLCK ? 0 : 1;
}

static inline int bridge_open_at(int directory, const char *path, int flags, unsigned mode) {
  return openat(directory, path, flags | O_CLOEXEC | O_NOCTTY, mode);
}

static inline int bridge_set_nonblocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

// Lets a pipe or a socket hold so many bytes, where that is allowed: its two ends wait less for each other.
static inline void bridge_widen(int fd, int size) {
  if (fcntl(fd, 1031 /* F_SETPIPE_SZ */, size) < 0)
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

// Lets so much freed memory stay. By default a buffer of 128 KiB or more goes back to the kernel with each free,
// and is cleared by it for the next one (mallopt(3)).
static inline void bridge_keep_freed(int size) {
  mallopt(M_MMAP_THRESHOLD, size);
  mallopt(M_TRIM_THRESHOLD, size);
}

static inline void bridge_return_freed(void) { malloc_trim(0); }

// Raises a limit of this process (getrlimit(2)): to none, or as far as it may be raised.
static inline void bridge_raise_limit(int resource) {
  struct rlimit limit, none = {RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(resource, &none) == 0 || getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(resource, &limit);
}

static inline int bridge_close_on_exec(int fd) { return fcntl(fd, F_SETFD, FD_CLOEXEC); }

static inline int bridge_become_subreaper(void) {
  return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static inline int bridge_peer_user(int fd, unsigned *user) {
  struct {
    int32_t pid;
    uint32_t uid, gid;
  } credentials = {0, 0, 0};
  socklen_t length = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, 17 /* SO_PEERCRED */, &credentials, &length) != 0) return -1;
  *user = credentials.uid;
  return 0;
}

// A socket of a directory, by its descriptor: sun_path has space for 108 bytes only.
static inline struct sockaddr_un bridge_socket_address(int directory, const char *name) {
  struct sockaddr_un address;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory, name);
  return address;
}

static inline int bridge_listen(int directory, const char *name, int is_stream) {
  struct sockaddr_un address = bridge_socket_address(directory, name);
  int type = is_stream ? SOCK_STREAM : SOCK_SEQPACKET;
  int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
      fchmodat(directory, name, 0600, 0) != 0 || listen(fd, 64) != 0) {
    int code = errno;
    close(fd);
    errno = code;
    return -1;
  }
  return fd;
}

// How long sending, receiving and connecting may take, in seconds; 0 for no limit.
static inline void bridge_set_timeout(int fd, int seconds) {
  struct timeval time = {.tv_sec = seconds};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

static inline int bridge_connect(int directory, const char *name) {
  struct sockaddr_un address = bridge_socket_address(directory, name);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  bridge_set_timeout(fd, 10);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    int code = errno;
    close(fd);
    errno = code;
    return -1;
  }
  return fd;
}

static inline int bridge_accept(int fd) {
  return accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

// Sends one message and `count` descriptors (at most 2).
static inline long bridge_send(int fd, const void *bytes, size_t length, const int *fds, int count) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(2 * sizeof(int))];
  } control;
  memset(&control, 0, sizeof control);
  struct iovec vector = {.iov_base = (void *)bytes, .iov_len = length};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  if (count > 0) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = 1 /* SCM_RIGHTS */;
    header->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
    memcpy(CMSG_DATA(header), fds, (size_t)count * sizeof(int));
  }
  return sendmsg(fd, &message, MSG_NOSIGNAL);
}

// Writes two parts in one call, without waiting; a descriptor that is no socket must not wait itself.
static inline long bridge_write_parts(int fd, int is_socket, const void *first, size_t first_length,
                                      const void *second, size_t second_length) {
  struct iovec parts[2] = {{.iov_base = (void *)first, .iov_len = first_length},
                           {.iov_base = (void *)second, .iov_len = second_length}};
  if (!is_socket) return writev(fd, parts, 2);
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Receives one message and at most 2 descriptors; more of them are closed by the kernel.
static inline long bridge_receive(int fd, void *bytes, size_t length, int *fds, int *count) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(2 * sizeof(int))];
  } control;
  struct iovec vector = {.iov_base = bytes, .iov_len = length};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control,
                           .msg_controllen = sizeof control};
  *count = 0;
  long received = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  if (received < 0) return received;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != 1) continue;
    int found = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int index = 0; index < found; index++) {
      int passed;
      memcpy(&passed, CMSG_DATA(header) + (size_t)index * sizeof(int), sizeof passed);
      if (*count < 2) fds[(*count)++] = passed; else close(passed);
    }
  }
  return received;
}

// Opens a terminal's master; `number` becomes N of /dev/pts/N.
static inline int bridge_open_master(int *number) {
  int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  int unlock = 0;
  if (ioctl(fd, TIOCSPTLCK, &unlock) != 0 || ioctl(fd, TIOCGPTN, number) != 0) {
    int code = errno;
    close(fd);
    errno = code;
    return -1;
  }
  return fd;
}

static inline int bridge_set_size(int fd, unsigned short columns, unsigned short rows,
                                  unsigned short width, unsigned short height) {
  struct winsize size = {.ws_row = rows, .ws_col = columns, .ws_xpixel = width, .ws_ypixel = height};
  return ioctl(fd, TIOCSWINSZ, &size);
}

// The foreground process group of a terminal's slave, asked at its master.
static inline int bridge_foreground(int fd) {
  int group = -1;
  return ioctl(fd, TIOCGPGRP, &group) != 0 ? -1 : group;
}

// 1 while a terminal collects lines.
static inline int bridge_is_canonical(int fd) {
  struct termios state;
  return tcgetattr(fd, &state) != 0 ? -1 : (state.c_lflag & ICANON) != 0;
}

static inline int bridge_open_process(int pid) { return (int)syscall(434 /* pidfd_open */, pid, 0); }
static inline int bridge_signal_process(int fd, int number) {
  return (int)syscall(424 /* pidfd_send_signal */, fd, number, NULL, 0);
}

// A descriptor that is readable when a child ended or SIGUSR1 came; both are blocked in this thread.
static inline int bridge_child_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGUSR1);
  if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -1;
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static inline void bridge_ignore(int number) { signal(number, SIG_IGN); }

// Starts a program as the leader of a session of its own, with default signals and an empty mask.
// Its descriptors are fds[0..<count] and no others; with `terminal`, 0 to 2 are that terminal,
// which becomes its controlling one. Returns an errno value.
static inline int bridge_spawn(pid_t *pid, const char *path, char *const argv[], char *const envp[],
                               const char *directory, const char *terminal, const int *fds, int count) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  int copies[8], code = 0;
  if (count > 8) return EINVAL;
  sigemptyset(&none);
  // sigfillset(3) leaves out 32 and 33, the C library's own: posix_spawn(3) of glibc ignores them then.
  memset(&all, 0xff, sizeof all);
  if ((code = posix_spawn_file_actions_init(&actions)) != 0) return code;
  if ((code = posix_spawnattr_init(&attributes)) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return code;
  }
  // Copies above every target, so that no dup2 overwrites a source.
  for (int index = 0; index < count; index++) copies[index] = fcntl(fds[index], F_DUPFD_CLOEXEC, 16);
  if (terminal) {
    code = posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0);
    if (!code) code = posix_spawn_file_actions_adddup2(&actions, 0, 1);
    if (!code) code = posix_spawn_file_actions_adddup2(&actions, 0, 2);
  }
  for (int index = 0; index < count && !code; index++) {
    code = copies[index] < 0 ? EMFILE : posix_spawn_file_actions_adddup2(&actions, copies[index], index);
  }
  if (!code) code = posix_spawn_file_actions_addclosefrom_np(&actions, terminal ? 3 : count);
  if (!code && directory) code = posix_spawn_file_actions_addchdir_np(&actions, directory);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | 0x80 /* SETSID */);
  if (!code) code = posix_spawn(pid, path, &actions, &attributes, argv, envp);
  for (int index = 0; index < count; index++) {
    if (copies[index] >= 0) close(copies[index]);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

// The same, but the program becomes a child of init, or of the nearest subreaper: what ends a tree of
// processes by descent does not find it below its starter. For a process with one thread only.
static inline int bridge_spawn_apart(const char *path, char *const argv[], char *const envp[],
                                     const char *directory, const int *fds, int count) {
  int status = 0;
  pid_t between = fork();
  if (between < 0) return errno;
  if (between == 0) {
    pid_t pid;
    int code = bridge_spawn(&pid, path, argv, envp, directory, 0, fds, count);
    _exit(code < 0 || code > 255 ? EIO : code);
  }
  while (waitpid(between, &status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

// Sets modes of RFC 4254, 8: a terminal's special characters and flags, by their opcodes.
static inline int bridge_set_modes(int fd, const uint8_t *modes, size_t length) {
  static const struct { uint8_t opcode; int index; } characters[] = {
    {1, VINTR}, {2, VQUIT}, {3, VERASE}, {4, VKILL}, {5, VEOF}, {6, VEOL}, {7, VEOL2}, {8, VSTART},
    {9, VSTOP}, {10, VSUSP}, {12, VREPRINT}, {13, VWERASE}, {14, VLNEXT}, {18, VDISCARD}};
  static const struct { uint8_t opcode; tcflag_t flag; } inputs[] = {
    {30, IGNPAR}, {31, PARMRK}, {32, INPCK}, {33, ISTRIP}, {34, INLCR}, {35, IGNCR}, {36, ICRNL},
    {38, IXON}, {39, IXANY}, {40, IXOFF}, {41, IMAXBEL}, {42, IUTF8}};
  static const struct { uint8_t opcode; tcflag_t flag; } locals[] = {
    {50, ISIG}, {51, ICANON}, {53, ECHO}, {54, ECHOE}, {55, ECHOK}, {56, ECHONL}, {57, NOFLSH},
    {58, TOSTOP}, {59, IEXTEN}, {60, ECHOCTL}, {61, ECHOKE}};
  static const struct { uint8_t opcode; tcflag_t flag; } outputs[] = {
    {70, OPOST}, {72, ONLCR}, {73, OCRNL}, {74, ONOCR}, {75, ONLRET}};
  struct termios state;
  if (tcgetattr(fd, &state) != 0) return -1;
#define BRIDGE_FLAGS(table, field)                                         \
  for (size_t row = 0; row < sizeof table / sizeof *table; row++) {        \
    if (table[row].opcode != opcode) continue;                             \
    if (value) state.field |= table[row].flag; else state.field &= ~table[row].flag; \
  }
  for (size_t at = 0; at + 5 <= length; at += 5) {
    uint8_t opcode = modes[at];
    uint32_t value = (uint32_t)modes[at + 1] << 24 | (uint32_t)modes[at + 2] << 16 |
                     (uint32_t)modes[at + 3] << 8 | modes[at + 4];
    if (opcode == 0) break;
    for (size_t row = 0; row < sizeof characters / sizeof *characters; row++) {
      if (characters[row].opcode != opcode) continue;
      state.c_cc[characters[row].index] = value == 255 ? 0 : (cc_t)value;
    }
    BRIDGE_FLAGS(inputs, c_iflag)
    BRIDGE_FLAGS(locals, c_lflag)
    BRIDGE_FLAGS(outputs, c_oflag)
  }
#undef BRIDGE_FLAGS
  return tcsetattr(fd, TCSANOW, &state);
}
