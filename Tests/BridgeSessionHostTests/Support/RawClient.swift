import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

extension SessionBench {
  /// Sends bytes to an attachment of its own and reads until the channel is closed; what came after
  /// the marker and the exit status.
  func attachRaw(
    _ session: SessionID, _ bytes: [UInt8]
  ) throws -> (output: [UInt8], status: Int32) {
    let verb = ["attach", "--session", session.description]
    let process = try launch(verb + ["--marker", Self.marker])
    var (sent, received) = (0, [UInt8]())
    while true {
      if sent < bytes.count, case .wrote(let count)? = process.input?.write(bytes, from: sent) {
        sent += count
      }
      switch process.output.read(256 << 10) {
      case .bytes(let more): received += more
      case .nothing: process.wait(writes: sent < bytes.count)
      case .end:
        let answer = received.dropFirst(Self.marker.utf8.count)
        guard case .whole(let greeting) = Greeting.read(answer) else { return ([], -1) }
        return (Array(answer.dropFirst(greeting.bytes.count)), process.exitStatus())
      }
    }
  }

  /// A hello of a new client.
  func hello(_ session: SessionID, _ change: (inout Hello) -> Void = { _ in }) -> [UInt8] {
    var hello = Hello(
      session: session, client: ClientID(high: Machine.entropy(), low: Machine.entropy()))
    change(&hello)
    return Frame.hello(hello).encoded
  }

  /// The most memory that a process had, in KiB.
  static func peakMemory(of process: Int32) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let found = text.firstMatch(of: /VmHWM:\s+([0-9]+)/)?.output.1
    return found.flatMap { Int($0) } ?? .max
  }

  /// Waits until a session has printed this many bytes.
  func wait(for session: SessionID, toPrint count: UInt64) throws {
    try waitUntil { try status(session)?.newest ?? 0 >= count }
  }

  func waitForEnd(_ session: SessionID) throws {
    _ = try run(["wait", "--session", session.description])
    try waitUntil { keepers(of: session).isEmpty }
  }

  func place(of session: SessionID) -> String {
    sessionsFolder.appending(path: session.description).path
  }
}
