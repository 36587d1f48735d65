import BridgeSessionProtocol

/// The names of a user's sessions. Which one may have a name alone is decided under one lock.
struct SessionNames {
  let roots: [StateRoot]

  private static let lockName = ".names"
  /// 10 seconds: a claim takes milliseconds.
  private static let attempts = 2000

  /// Holds the names until the descriptor is closed.
  func hold() throws(SystemError) -> Descriptor {
    do throws(SystemError) {
      return try lock(in: roots[0].directory)
    } catch {
      // As sessions are kept in the other place then.
      guard error.isUnsuitablePlace, let other = StateRoot.openLast() else { throw error }
      return try lock(in: other.directory)
    }
  }

  private func lock(in directory: Directory) throws(SystemError) -> Descriptor {
    let file = try directory.create(Self.lockName)
    for _ in 0..<Self.attempts {
      if try file.lock() { return file }
      Poller.pause(5)
    }
    throw SystemError("lock of names", 11)
  }

  /// A session of this name that runs, or is being started. One that has ended may have a keeper
  /// still, for those who read it.
  func running(_ name: [UInt8]?, except session: SessionID? = nil) -> SessionID? {
    SessionFiles.all(in: roots).first { files in
      guard files.session != session, let status = files.status(), status.name == name else {
        return false
      }
      return status.state == .running || (status.state == .claimed && files.life != .dead)
    }?.session
  }
}
