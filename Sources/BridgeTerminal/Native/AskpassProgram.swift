import BridgeTransport
import Glibc

/// The program named by SSH_ASKPASS: asked by its argument, it answers on its standard output
/// (ssh(1), ENVIRONMENT).
package enum AskpassProgram {
  /// The result of a prompt.
  package enum Answer: Equatable {
    /// The first line it wrote.
    case given([UInt8])
    /// The program declined (a status other than 0), or the task was canceled.
    case declined
    /// The program could not be started; with the system's text.
    case notStarted(String)
  }

  private static let limit = 64 << 10

  /// Starts `program` and waits for its end.
  package static func ask(_ question: String, program: String) async -> Answer {
    var pipe: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&pipe) == 0 else {
      return .notStarted(ChildProgram.StartFailure(errno: errno).words)
    }
    for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let child: pid_t
    do throws(ChildProgram.StartFailure) {
      child = try ChildProgram([program, question], streams: [1: pipe[1]]).start()
      close(pipe[1])
    } catch {
      for end in pipe { close(end) }
      return .notStarted(error.words)
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

  private static func succeeds(_ child: pid_t) async -> Bool {
    await NativeThread.result {
      var status: Int32 = -1
      while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
      return status == 0
    } ?? false
  }
}
