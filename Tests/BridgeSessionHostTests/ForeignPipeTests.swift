import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// Standard input and output that this user has not made, as a server makes them that becomes the
/// user afterward (Dropbear): they cannot be opened again.
@Suite struct ForeignPipeTests {
  private static let canBecomeAnother =
    TestMachine.isRoot && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
  private static let other: UInt32 = 65534

  /// `bridge-host` runs as another user than the one who makes its pipes.
  private func bench() throws -> SessionBench {
    let bench = try SessionBench()
    try FileManager.default.setAttributes(
      [.ownerAccountID: Self.other, .groupOwnerAccountID: Self.other, .posixPermissions: 0o700],
      ofItemAtPath: bench.folder.path)
    bench.prelude =
      "exec /usr/bin/setpriv --reuid=\(Self.other) --regid=\(Self.other) --clear-groups"
    return bench
  }

  private func started(_ bench: SessionBench, _ spec: SessionSpec) throws -> AttachedClient {
    let machine = ClientSession(.init(session: spec.session, client: bench.client))
    let client = AttachedClient(machine, bench: bench)
    try client.connect(starting: spec)
    return client
  }

  @Test(.enabled(if: canBecomeAnother))
  func aProgramIsStartedAndItsInputAndOutputAreWhole() throws {
    let bench = try bench()
    let client = try started(bench, bench.spec("cat; exit 5"))
    let text = (0..<60_000).map { "line \($0)\n" }.joined()
    try client.type(text)
    #expect(try client.machine.endInput())
    #expect(try client.close() == 0)
    #expect(client.text == text && client.end == .exited(status: 5))
  }

  /// A reader that takes nothing holds neither the keeper nor another client up.
  @Test(.enabled(if: canBecomeAnother)) func aReaderThatTakesNothingHoldsNoOtherUp() throws {
    let bench = try bench()
    let spec = bench.spec("yes | head -c 3000000; read word; echo got $word")
    let client = try started(bench, spec)
    try client.greet()
    let viewer = try bench.attach(spec.session, client: ClientID(high: 9, low: 9)) {
      $0.role = .viewer
    }
    try viewer.pump { $0.all.count == 3_000_000 }
    try client.type("x\n")
    #expect(try client.close() == 0)
    #expect(client.text.hasSuffix("got x\n"))
  }

  @Test(.enabled(if: canBecomeAnother)) func anEndedSessionIsServedFromItsFiles() throws {
    let bench = try bench()
    let spec = bench.spec("yes | head -c 1000000; exit 3")
    _ = try bench.start(spec)
    let id = spec.session.description
    #expect(try bench.run(["wait", "--session", id]).status == 0)
    try waitUntil { bench.keepers(of: spec.session).isEmpty }
    let client = try bench.attach(spec.session)
    #expect(try client.close() == 0)
    #expect(client.all.count == 1_000_000 && client.end == .exited(status: 3))
  }
}
