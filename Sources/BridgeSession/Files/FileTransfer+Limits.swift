import BridgeFiles
import BridgeSessionProtocol

// How long the host's end may take.
extension FileTransfer {
  /// In milliseconds: a minute, what 8 MiB a second hash, ten minutes for a tree of the host.
  var answerLimit: Milliseconds {
    let part = receiver?.progress.bytes ?? sender?.progress.bytes ?? 0
    let compared = max(part, job.isRecursive ? 0 : compared)
    return 60_000 + compared / 8389 + (job.isRecursive && job.role == .get ? 600_000 : 0)
  }

  /// The length of a single file that is here: its part there may be as long.
  private var compared: UInt64 {
    job.role == .put ? (try? OpenFile.status(named: job.local))?.size ?? 0 : 0
  }
}
