import BridgeErrors
import BridgeSSH
import BridgeTransport

/// The user's keyboard while a live shell owns it: everything goes to the remote side but the
/// escapes.
final class Keyboard: Sendable {
  /// What the escapes do that need more than the session.
  struct Commands: Sendable {
    /// `~s`: the lines to show.
    var status: @Sendable () async -> [String]
    /// `~r`.
    var reconnect: @Sendable () async -> Void
  }

  private let parser = Mutex(EscapeParser())
  private let screen = Mutex(ScreenTracker())
  private let outbox = Outbox()
  private let reporter: Reporter
  private let commands: Commands

  init(reporter: Reporter, commands: Commands) {
    self.reporter = reporter
    self.commands = commands
  }

  static let help = """
    Escapes, at the start of a line:\r
      ~.   leave; the shell ends\r
      ~r   reconnect now\r
      ~s   what the link is like\r
      ~?   this\r
      ~~   a tilde\r

    """

  /// What the remote side shows.
  func see(_ bytes: [UInt8]) {
    screen.withLock { $0.see(bytes) }
  }

  /// What puts the screen back after the remote side was cut off; empty when nothing is needed.
  func takeReset() -> String {
    screen.withLock { screen in
      defer { screen = ScreenTracker() }
      return screen.reset
    }
  }

  /// Carries what is typed until the channel takes no more; true when the user leaves.
  func carry(from input: DescriptorReader, to channel: SSHChannel) async -> Bool {
    await withTaskGroup(of: Bool?.self) { group in
      group.addTask {
        await self.send(to: channel)
        return nil
      }
      group.addTask { await self.listen(to: input) }
      for await isLeaving in group {
        if let isLeaving {
          group.cancelAll()
          return isLeaving
        }
      }
      return false
    }
  }

  private func send(to channel: SSHChannel) async {
    do throws(AppError) {
      while let bytes = await outbox.take() { try await channel.write(bytes) }
      if !Task.isCancelled { try await channel.finishInput() }
    } catch {
      // It takes no more; how it ends is told by its status.
      _ = outbox.drop()
    }
  }

  private func listen(to input: DescriptorReader) async -> Bool {
    while true {
      switch await input.read() {
      case .cancelled: return false
      case .end:
        outbox.close()
        return false
      case .bytes(let bytes):
        for token in parser.withLock({ $0.take(bytes) }) where await act(on: token) {
          return true
        }
      }
    }
  }

  /// True when the user leaves.
  private func act(on token: EscapeParser.Token) async -> Bool {
    switch token {
    case .bytes(let bytes): await outbox.append(bytes)
    case .leave: return true
    case .reconnect: await commands.reconnect()
    case .help: reporter.show("\r\n" + Self.help)
    case .status:
      let lines = await commands.status()
      reporter.show("\r\n" + lines.map { $0 + "\r\n" }.joined())
    }
    return false
  }
}
