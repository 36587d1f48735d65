package import BridgeErrors
import BridgeTransport
import FoundationEssentials
import Glibc

/// The environment of the process.
package struct LocalEnvironment: Sendable {
  /// The environment's variables.
  package var variables: [String: String]
  /// The home directory, without a slash at its end.
  package var home: String
  /// The local user's name.
  package var user: String
  /// The local user's number.
  package var userID: UInt32
  /// This machine's name.
  package var hostName: String
  /// The process that leads its session (setsid(2)): the program that its terminal was made for.
  package var sessionLeader: Int32 = 0
  /// Which of the standard descriptors are terminals.
  package var inputIsTerminal: Bool
  package var outputIsTerminal: Bool
  package var errorIsTerminal: Bool
  /// Whether a person can be asked: the process has a terminal.
  package var hasTerminal: Bool

  /// Whether the terminal shows more than ASCII (locale(7)).
  package var isUnicode: Bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { variables[$0] }
    let locale = names.first { !$0.isEmpty }?.lowercased() ?? ""
    return locale.contains("utf-8") || locale.contains("utf8")
  }

  /// Whether the terminal says what it is, and can do more than type lines (terminfo(5), TERM).
  package var canMoveCursor: Bool { !["", "dumb"].contains(variables["TERM", default: ""]) }

  /// This process's.
  package static func current() -> LocalEnvironment {
    let own = ProcessIdentity.current()
    let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    if terminal >= 0 { close(terminal) }
    return LocalEnvironment(
      variables: own.variables, home: own.home, user: own.user, userID: own.userID,
      hostName: own.hostName, sessionLeader: getsid(0),
      inputIsTerminal: isatty(0) == 1, outputIsTerminal: isatty(1) == 1,
      errorIsTerminal: isatty(2) == 1, hasTerminal: terminal >= 0)
  }

  /// Opens what is closed of the standard descriptors, so that nothing of ours takes their numbers
  /// and gets what is meant for them. Call it first.
  package static func openStandardDescriptors() {
    _ = inherited
    for descriptor in Int32(0)...2 where !isOpen(descriptor) {
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }

  /// Puts nothing in the place of standard input.
  package static func closeInput() {
    let nothing = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard nothing >= 0 else { return }
    dup2(nothing, 0)
    close(nothing)
  }

  /// Whether standard input is a directory, from which nothing can be read.
  package static var inputIsDirectory: Bool {
    var status = stat()
    return unsafe fstat(0, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Opens the file at `path` to write to, made where there is none: at its end, or emptied.
  ///
  /// - Throws: `fileWriteError` with the system's words.
  package static func openFile(_ path: String, appends: Bool) throws(AppError) -> Int32 {
    // A pipe that no program reads would hold up the run, before it has said anything.
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (appends ? O_APPEND : O_TRUNC | O_NONBLOCK)
    let descriptor = unsafe Glibc.open(path, flags, 0o600)
    guard descriptor < 0 else { return descriptor }
    let code = errno
    throw .fileWriteError(
      path: PeerText.escaped(path, limit: 1024),
      reason: code == ENXIO
        ? "it is a pipe that no program reads" : unsafe String(cString: strerror(code)))
  }

  /// Writes all of `bytes` to the file at `path` that `openFile` opened.
  ///
  /// - Throws: `fileWriteError` with the system's words.
  package static func write(
    _ bytes: [UInt8], to descriptor: Int32, at path: String
  ) throws(AppError) {
    guard let errno = DescriptorWriter.failure(writing: bytes, to: descriptor) else { return }
    throw .fileWriteError(
      path: PeerText.escaped(path, limit: 1024), reason: unsafe String(cString: strerror(errno)))
  }

  /// Whether a unix socket is at `path`.
  package static func isSocket(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  /// Makes sure that `descriptor`, which `option` names, was opened by the parent process, and
  /// keeps it from the programs that we start. Descriptors of our own are none of the caller's.
  ///
  /// - Throws: `validationError` that names both.
  package static func check(
    _ descriptor: Int32?, of option: String, isWritten: Bool
  ) throws(AppError) {
    guard let descriptor else { return }
    guard descriptor <= 2 || inherited.contains(descriptor), isOpen(descriptor) else {
      throw .validationError(field: option, message: "Descriptor \(descriptor) is not open.")
    }
    let access = fcntl(descriptor, F_GETFL) & O_ACCMODE
    guard access == O_RDWR || access == (isWritten ? O_WRONLY : O_RDONLY) else {
      let purpose = isWritten ? "writing" : "reading"
      throw .validationError(
        field: option, message: "Descriptor \(descriptor) is not open for \(purpose).")
    }
    if descriptor > 2 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
  }

  /// Whether standard input is a pipe, a socket or a file: what has bytes of its own for a program.
  package static var hasStreamedInput: Bool {
    var status = stat()
    guard unsafe fstat(0, &status) == 0 else { return false }
    return [S_IFIFO, S_IFSOCK, S_IFREG].contains(status.st_mode & S_IFMT)
  }

  /// Whether as many descriptors could be opened when the process began as a connection takes
  /// (getrlimit(2), RLIMIT_NOFILE). The concurrency runtime needs three for its timers, and ends
  /// the process where it cannot have them: with fewer than these, leave them to it.
  package static let hasDescriptors = descriptorsLeft >= 16

  /// Whether the concurrency runtime can have the two of its first thread and the three of its
  /// timers: without them it ends the process.
  package static let canRunTasks = descriptorsLeft >= 5

  /// Whether as many threads can run at once as a connection takes (RLIMIT_NPROC, the pids of a
  /// control group), with memory beside them (RLIMIT_AS). The concurrency runtime waits without an
  /// end for one that it cannot have, one for each processor at most.
  package static func hasThreads() -> Bool {
    let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    defer { unsafe gate.deallocate() }
    unsafe pthread_mutex_init(gate, nil)
    defer { unsafe pthread_mutex_destroy(gate) }
    unsafe pthread_mutex_lock(gate)
    let count = min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 16) + 6
    var threads: [pthread_t] = []
    while threads.count < count {
      var thread = pthread_t()
      let code = unsafe pthread_create(
        &thread, nil,
        { gate in
          guard let gate = unsafe gate?.assumingMemoryBound(to: pthread_mutex_t.self) else {
            return nil
          }
          unsafe pthread_mutex_lock(gate)
          unsafe pthread_mutex_unlock(gate)
          return nil
        }, gate)
      guard code == 0 else { break }
      threads.append(thread)
    }
    let memory = unsafe mmap(
      nil, Self.memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    let hasMemory = unsafe memory != MAP_FAILED
    if hasMemory { unsafe munmap(memory, Self.memory) }
    unsafe pthread_mutex_unlock(gate)
    for thread in threads { pthread_join(thread, nil) }
    return threads.count == count && hasMemory
  }

  /// What a connection takes beside its threads, in bytes.
  private static let memory = 32 << 20

  private static let descriptorsLeft: Int = {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(7), &limit) == 0 else { return .max }
    return Int(clamping: limit.rlim_cur) - inherited.count
  }()

  /// The descriptors that were open before any of ours.
  private static let inherited: Set<Int32> = {
    let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    let numbers = names?.compactMap { Int32($0) } ?? Array(0..<1024)
    return Set(numbers.filter(isOpen))
  }()

  private static func isOpen(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }
}
