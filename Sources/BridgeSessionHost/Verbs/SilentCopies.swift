import BridgeFiles

/// Copies whose client is gone and whose host has not noticed: a link that was lost without a word
/// stays open for sshd, for hours by default. Nothing would write their files again.
enum SilentCopies {
  /// How long a copy is observed that holds a file which another one wants, in milliseconds. One
  /// whose client lives writes sooner.
  private static let silence: UInt64 = 10_000
  private static let look: Int32 = 100

  /// Ends the copies of this user that hold a file, unless one of them writes to it meanwhile;
  /// false where none is ended.
  static func end(holding file: OpenFile) -> Bool {
    guard let first = try? file.status() else { return false }
    let end = Machine.milliseconds + silence
    while Machine.milliseconds < end {
      Poller.pause(look)
      guard let now = try? file.status(), !now.hasChanged(since: first) else { return false }
    }
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
