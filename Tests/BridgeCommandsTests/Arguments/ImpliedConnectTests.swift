import Testing

@testable import BridgeCommands

/// `bridgectl HOST` is `bridgectl connect HOST`, also with options as ssh has them.
@Suite struct ImpliedConnectTests {
  @Test(arguments: [
    "h", "-p 22 h", "-tt h", "-v h", "-p 22 -l me h -- sessions", "-oPort=22 h uptime", "h cp",
  ])
  func aHostOrAnOptionOfConnectIsConnected(line: String) throws {
    let words = line.split(separator: " ").map(String.init)
    #expect(try BridgeCommand.impliedConnect(words) == ["connect"] + words)
  }

  /// A command behind an option is no host: what is wrong is said.
  @Test(arguments: [
    "", "-h", "--help", "--version", "-V", "--generate-completion-script bash", "-v sessions h",
    "-p 22 cp a h:", "connect h", "help cp", "--durable=never h",
  ])
  func whatIsNoneStaysAsItIs(line: String) throws {
    let words = line.split(separator: " ").map(String.init)
    #expect(try BridgeCommand.impliedConnect(words) == words)
  }

  @Test func aCommandWithATypoIsNoHost() {
    #expect(throws: (any Error).self) { try BridgeCommand.impliedConnect(["conect", "h"]) }
    #expect(throws: Never.self) { try BridgeCommand.impliedConnect(["conect.example", "h"]) }
  }
}
