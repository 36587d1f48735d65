import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// Limits of a login are for its program: they do not end the keeper, nor cut what it keeps.
/// The thread sanitizer writes a file of its own, which they do not allow.
@Suite(.enabled(if: !TestMachine.isThreadSanitized))
struct LimitTests {
  private static let output = Array((1...100_000).map { "\($0)\n" }.joined().utf8)

  /// What the kernel says of a process's limit: soft and hard.
  private func limit(_ name: String, of process: Int32) -> [String] {
    let limits = FileManager.default.contents(atPath: "/proc/\(process)/limits") ?? Data()
    let lines = String(decoding: limits, as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.hasPrefix(name) }?.dropFirst(name.count) ?? ""
    return line.split(separator: " ").prefix(2).map(String.init)
  }

  @Test func theProgramHasThemAndTheKeeperHasNot() throws {
    let bench = try SessionBench()
    bench.prelude = "ulimit -S -f 100; ulimit -S -t 20; exec"
    let spec = bench.spec("ulimit -f; ulimit -t; seq 1 100000; read word; exit 7")
    _ = try bench.start(spec)
    let keeper = try #require(bench.keepers(of: spec.session).first)
    for name in ["Max cpu time", "Max file size"] {
      #expect(limit(name, of: keeper) == ["unlimited", "unlimited"])
    }
    let client = try bench.attach(spec.session)
    try client.type("on\n")
    try client.pump { $0.end != nil }
    #expect(client.end == .exited(status: 7) && client.notices.isEmpty)
    let isWhole = client.all == Array("100\n20\n".utf8) + Self.output
    #expect(isWhole)
    #expect(try client.close() == 0)
  }

  /// A shell that may lower its limits, and raise none: as of a user without privileges.
  private static let asUser =
    "[ $(id -u) != 0 ] || drop='setpriv --bounding-set=-sys_resource'; exec $drop /bin/sh -c"

  @Test func whatCannotBeRaisedIsAFullDisk() throws {
    let bench = try SessionBench()
    bench.prelude = Self.asUser + #" 'ulimit -f 100; exec "$0" "$@"'"#
    let spec = bench.spec("seq 1 100000; exit 7")
    _ = try bench.start(spec)
    let waiter = try bench.launch(["wait", "--session", spec.session.description])
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    #expect(client.end == .exited(status: 7))
    let isWhole = client.all == Self.output
    #expect(isWhole)
    #expect(try client.close() == 0)
    #expect(waiter.finish().status == 0)
  }

  @Test func aLoginThatMayWriteNothingIsRefused() throws {
    let bench = try SessionBench()
    bench.prelude = Self.asUser + #" 'ulimit -f 0; exec "$0" "$@"'"#
    guard case .refused(let refusal) = try bench.start(bench.spec("exit 7")) else {
      Issue.record("it was started")
      return
    }
    #expect(refusal.code == .storage && refusal.text.contains("File too large"))
    #expect(bench.names.isEmpty)
  }
}
