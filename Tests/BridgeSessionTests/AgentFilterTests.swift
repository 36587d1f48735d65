import BridgeSession
import Testing

@Suite("What a host may ask of a forwarded agent") struct AgentFilterTests {
  private static func extended(_ name: String) -> [UInt8] {
    [27, 0, 0, 0, UInt8(name.utf8.count)] + Array(name.utf8)
  }

  @Test(arguments: [[11], [13, 0, 0, 0, 0], extended("session-bind@openssh.com") + [1, 2]])
  func keysMayBeListedAndUsed(_ request: [UInt8]) {
    #expect(AgentFilter.passes(request))
  }

  /// Draft-miller-ssh-agent, 5.1: 17 to 26 add, remove, lock and unlock; 1 to 9 are of version 1.
  @Test func nothingIsChangedThere() {
    let others = (0...255).filter { ![11, 13, 27].contains($0) }.map { [UInt8($0), 0, 0, 0, 0] }
    let extensions = ["query", "restrict-destination-v00@openssh.com", "session-bind@openssh.comx"]
    for request in others + extensions.map(Self.extended) + [[], [27]] {
      #expect(!AgentFilter.passes(request), "\(request)")
    }
  }
}
