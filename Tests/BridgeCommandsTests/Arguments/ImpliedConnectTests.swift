import ArgumentParser
import Testing

@testable import BridgeCommands

/// `bridgectl HOST` is `bridgectl connect HOST`, also with options as ssh has them.
@Suite struct ImpliedConnectTests {
  @Test(arguments: [
    "h", "-p 22 h", "-tt h", "-v h", "-p 22 -l me h -- sessions", "-oPort=22 h uptime", "h cp",
    "--retry 3 h true", "--durable=never h", "--wait=5s h",
  ])
  func aHostOrAnOptionOfConnectIsConnected(line: String) throws {
    let words = line.split(separator: " ").map(String.init)
    #expect(try BridgeCommand.impliedConnect(words) == ["connect"] + words)
  }

  /// What is wrong is said.
  @Test(arguments: ["-v sessions h", "-p 22 cp a h:"])
  func aCommandBehindAnOptionIsNoHost(line: String) {
    let words = line.split(separator: " ").map(String.init)
    let error = #expect(throws: ValidationError.self) { try BridgeCommand.impliedConnect(words) }
    #expect("\(String(describing: error))".contains("stands before the command"))
  }

  @Test(arguments: [
    "", "-h", "--help", "--version", "-V", "--generate-completion-script bash", "connect h",
    "help cp", "---completion connect -- positional@0 2 4 bridgectl connect me@b",
  ])
  func whatIsNoneStaysAsItIs(line: String) throws {
    let words = line.split(separator: " ").map(String.init)
    #expect(try BridgeCommand.impliedConnect(words) == words)
  }

  @Test func helpIsOfACommandThatExists() {
    #expect(throws: ValidationError.self) { try BridgeCommand.impliedConnect(["help", "nope"]) }
    #expect(throws: Never.self) { try BridgeCommand.impliedConnect(["help", "-h"]) }
    #expect(throws: Never.self) { try BridgeCommand.impliedConnect(["help"]) }
  }

  @Test func aCommandWithATypoIsNoHost() {
    #expect(throws: (any Error).self) { try BridgeCommand.impliedConnect(["conect", "h"]) }
    #expect(throws: Never.self) { try BridgeCommand.impliedConnect(["conect.example", "h"]) }
  }
}
