import BridgeFiles
import BridgeSessionProtocol

/// Copies whose client is gone and whose host has not noticed, or not yet: a link that was lost
/// without a word stays open for sshd, for hours by default. Nothing would write their files again.
enum SilentCopies {
  /// How long a copy is observed that holds a file which another one wants, in milliseconds. One
  /// whose client lives writes sooner; 2 MiB that are under way at 200 KB/s are written by then.
  private static let silence: UInt64 = 10_000
  private static let look: Milliseconds = 100

  /// Waits for the end of a copy that holds a file: one that was interrupted still writes what is
  /// under way. Ends those of this user that write nothing meanwhile.
  ///
  /// - Parameter isFree: tries to take the file.
  /// - Returns: whether it is taken, or may be.
  static func end(holding file: OpenFile, _ isFree: () -> Bool) -> Bool {
    guard let first = try? file.status() else { return false }
    let end = Machine.milliseconds + silence
    while Machine.milliseconds < end {
      // Nothing is begun for a client that is gone itself.
      guard !Poller.isAbandoned(1, within: look) else { return false }
      if isFree() { return true }
    }
    guard let last = try? file.status(), !last.hasChanged(since: first) else { return false }
    let node = first.identity.prefix(16)
    return Programs.endOthers(running: FilesVerb.name) { process in
      let folder = "/proc/\(process)/fd"
      let names = (try? Directory(folder))?.names() ?? []
      return names.contains { name in
        let path = Array("\(folder)/\(name)".utf8)
        return (try? OpenFile.status(named: path))?.identity.prefix(16) == node
      }
    }
  }
}
