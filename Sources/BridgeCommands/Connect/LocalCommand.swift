import BridgeErrors
import BridgeReactor
import BridgeTransport

/// What LocalCommand of ssh_config(5) runs here once logged in, on this process's own streams.
enum LocalCommand {
  private static let threads = BlockingThreads(name: "bridge-local", limit: 1)

  /// Runs `line` by `shell` to its end; as with ssh, what it ends with does not matter.
  ///
  /// - Returns: why it could not be run.
  static func run(_ line: String, by shell: String) async -> String? {
    let problem = await threads.run { () -> String in
      do throws(ChildProgram.StartFailure) {
        _ = try ChildProgram([shell, "-c", line]).run(within: limit)
        return ""
      } catch {
        return
          "LocalCommand cannot be run by \(PeerText.escaped(shell, limit: 256)): \(error.words)"
      }
    }
    return problem?.isEmpty == false ? problem : nil
  }

  /// One that takes longer is ended: a login would wait for it.
  private static let limit = Duration.seconds(24 * 3600)
}
