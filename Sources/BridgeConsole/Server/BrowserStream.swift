import BridgeErrors
import BridgeWaiting
import FoundationEssentials
import Hummingbird
import NIOCore

/// Server-sent events for one browser.
protocol ServedEvents: Sendable {
  /// Writes until the browser is gone, or there is no more to say.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws
}

/// The events for one browser, in the form of server-sent events.
struct BrowserStream: ServedEvents {
  let board: Board
  let sessions: Sessions
  let visitor: Visitor
  /// The id of the last event that the browser has had; nil where it is new.
  let lastID: String?
  let now: @Sendable () -> Date

  /// Writes until the browser is gone, the login is over, or the host shuts down. A browser that
  /// reads slowly holds up this function, and nothing else: it goes on where it is, or with the
  /// state as a whole where what it had missed is gone.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
    var beat = 0
    var last: UInt64
    if let number = resumed {
      last = number
      try await writer.write(ByteBuffer(string: "retry: 1000\n: on\n\n"))
    } else {
      last = try await writeState(to: &writer)
    }
    while true {
      // First: what comes from here on wakes it.
      let version = board.changes.version
      guard sessions.isValid(visitor) else { break }
      let (reading, newBeat) = board.read(after: last, beat: beat)
      switch reading {
      case .end: return
      case .nothing: try await board.changes.wait(after: version)
      case .beat: try await writer.write(ByteBuffer(string: ": alive\n\n"))
      case .events(let events):
        try await writer.write(ByteBuffer(string: events.map(text).joined()))
        last = events.last?.number ?? last
      case .missed(let count):
        let text = "event: missed\ndata: {\"count\":\(count)}\n\n"
        try await writer.write(ByteBuffer(string: text))
        last = try await writeState(to: &writer)
      }
      beat = newBeat
    }
    try await writer.write(ByteBuffer(string: "event: loggedOut\ndata: {}\n\n"))
  }

  /// The number of the last event that the browser has, where it is one of this run.
  private var resumed: UInt64? {
    guard let parts = lastID?.split(separator: "-"), parts.count == 2, parts[0] == board.epoch,
      let number = UInt64(parts[1]), number <= board.last
    else { return nil }
    return number
  }

  @concurrent private func writeState(to writer: inout any ResponseBodyWriter) async throws
    -> UInt64
  {
    let state = board.snapshot(for: visitor, at: now())
    let event = ConsoleEvent(number: state.event, name: "state", data: JSON.text(state))
    try await writer.write(ByteBuffer(string: "retry: 1000\n" + text(event)))
    return state.event
  }

  private func text(_ event: ConsoleEvent) -> String {
    "id: \(board.epoch)-\(event.number)\nevent: \(event.name)\ndata: \(event.data)\n\n"
  }
}
