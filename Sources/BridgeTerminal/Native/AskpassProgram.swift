import BridgeTransport
import Foundation

/// The program named by SSH_ASKPASS: asked by its argument, it answers on its standard output
/// (ssh(1), ENVIRONMENT).
package enum AskpassProgram {
  /// The result of a prompt.
  package enum Answer: Equatable {
    /// The first line it wrote.
    case given([UInt8])
    /// The program declined (a status other than 0), or the task was cancelled.
    case declined
    /// The program could not be started; with the system's text.
    case notStarted(String)
  }

  private static let limit = 64 << 10

  /// Starts `program` and waits for its end.
  package static func ask(_ question: String, program: String) async -> Answer {
    var pipe: [Int32] = [-1, -1]
    guard unsafe Foundation.pipe(&pipe) == 0 else { return .notStarted(words(of: errno)) }
    for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var child = pid_t()
    let code = spawn(program, question, output: pipe[1], as: &child)
    close(pipe[1])
    guard code == 0 else {
      close(pipe[0])
      return .notStarted(words(of: code))
    }
    let reader = DescriptorReader(pipe[0], ownsDescriptor: true)
    var answer: [UInt8] = []
    var isCancelled = false
    reading: while answer.count <= limit {
      switch await reader.read() {
      case .bytes(let bytes): answer += bytes
      case .end: break reading
      case .cancelled:
        isCancelled = true
        break reading
      }
    }
    reader.stop()
    if isCancelled { kill(child, SIGTERM) }
    let isGranted = await succeeds(child)
    guard isGranted, !isCancelled else { return .declined }
    return .given(Array(answer.prefix { $0 != 10 && $0 != 13 }))
  }

  private static func words(of code: Int32) -> String { unsafe String(cString: strerror(code)) }

  private static func succeeds(_ child: pid_t) async -> Bool {
    await withCheckedContinuation { (caller: CheckedContinuation<Bool, Never>) in
      let started = NativeThread.start {
        var status: Int32 = -1
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        caller.resume(returning: status == 0)
      }
      if !started { caller.resume(returning: false) }
    }
  }

  /// Returns 0, or the `errno` of why it could not.
  private static func spawn(
    _ program: String, _ question: String, output: Int32, as child: inout pid_t
  ) -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let words = [program, question]
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    return unsafe posix_spawnp(&child, program, &actions, &attributes, &arguments, environ)
  }
}
