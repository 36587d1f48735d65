import BridgeAgentHost
import BridgeErrors
import BridgeWaiting
import FoundationEssentials
import Hummingbird
import NIOCore

/// The screen of an agent for one browser, in the form of server-sent events: `screen` (a
/// `ScreenFrame`), and `over` with a message. A browser that reads slowly gets fewer frames, the
/// next one always with what is to be seen then.
struct ScreenStream: ServedEvents {
  private struct Over: Encodable {
    var message: String
  }

  let screen: AgentScreen
  let board: Board
  let sessions: Sessions
  let visitor: Visitor
  let now: @Sendable () -> Date
  /// Reasons to look again.
  private let changes = Changes()
  private let over = Mutex<Over?>(nil)
  /// The time between two frames.
  private static let pause = Duration.milliseconds(50)
  /// For so many pauses an update of the program (mode 2026) may last, as for terminals.
  private static let longestUpdate = 20

  init(
    _ screen: AgentScreen, _ board: Board, _ sessions: Sessions, _ visitor: Visitor,
    now: @escaping @Sendable () -> Date
  ) {
    (self.screen, self.board, self.sessions, self.visitor) = (screen, board, sessions, visitor)
    self.now = now
  }

  /// Writes until the browser is gone, the login or the session is over, or the host shuts down.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await follow() }
      group.addTask { try await pass(on: board.changes) }
      group.addTask {
        while true {
          let version = screen.version
          changes.announce()
          try await screen.change(after: version)
        }
      }
      defer { group.cancelAll() }
      try await writeFrames(to: &writer)
    }
  }

  private func follow() async {
    var message = "The session is over."
    do throws(AppError) {
      try await screen.follow()
    } catch {
      message = error.shownMessage().shown
    }
    over.withLock { $0 = Over(message: message) }
    changes.announce()
  }

  private func pass(on others: Changes) async throws {
    while true {
      let version = others.version
      changes.announce()
      try await others.wait(after: version)
    }
  }

  @concurrent private func writeFrames(to writer: inout any ResponseBodyWriter) async throws {
    var shown: ScreenPicture?
    var (beat, withheld) = (board.pulse.beats, 0)
    while true {
      // First: what comes from here on wakes it.
      let version = changes.version
      let pulse = board.pulse
      guard !pulse.isOver, sessions.isValid(visitor) else { return }
      let over = over.withLock { $0 }
      let current = screen.current
      let picture = ScreenPicture(current.terminal, current.standing)
      if picture.isUpdating, shown != nil, over == nil, withheld < Self.longestUpdate {
        withheld += 1
        try await ContinuousClock().sleep(for: Self.pause)
        continue
      }
      withheld = 0
      if let frame = picture.frame(after: shown, at: now().milliseconds) {
        try await write("screen", frame, to: &writer)
        shown = picture
        try await ContinuousClock().sleep(for: Self.pause)
      } else if pulse.beats > beat {
        try await writer.write(ByteBuffer(string: ": alive\n\n"))
      }
      beat = pulse.beats
      if let over { return try await write("over", over, to: &writer) }
      try await changes.wait(after: version)
    }
  }

  @concurrent private func write(
    _ name: String, _ value: some Encodable, to writer: inout any ResponseBodyWriter
  ) async throws {
    let text = "event: \(name)\ndata: \(JSON.text(value))\n\n"
    try await writer.write(ByteBuffer(string: text))
  }
}
