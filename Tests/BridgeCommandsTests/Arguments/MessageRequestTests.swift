import ArgumentParser
import BridgeCommands
import BridgeErrors
import BridgeWebSocket
import Testing

@Suite struct MessageRequestTests {
  private func request(_ arguments: String...) throws -> MessageRequest? {
    try ConnectRequest(ConnectOptions.parse(BridgeCommand.normalized(arguments))).messages
  }

  @Test(arguments: [
    ["-H", "a: b", "h"], ["--binary", "h"], ["--ca", "f", "h"], ["--subprotocol", "p", "h"],
    ["--bearer-fd", "3", "h"], ["--pin", "00", "h"], ["-l", "me", "ws://h"], ["-N", "ws://h"],
    ["-t", "ws://h"], ["--known-hosts", "f", "ws://h"], ["--password-fd", "3", "ws://h"],
    ["ws://h", "--", "true"], ["ws://me@h"], ["-H", "nothing", "ws://h"],
    ["-H", ": value", "ws://h"], ["--pin", "xyz", "wss://h"],
    ["--pin", String(repeating: "g", count: 64), "wss://h"],
    ["--ca", "f", "--pin", String(repeating: "a", count: 64), "wss://h"], ["-p", "2", "ws://h:1"],
  ])
  func refusesWhatMakesNoSense(_ arguments: [String]) {
    #expect(throws: (any Error).self) { try ConnectRequest(ConnectOptions.parse(arguments)) }
  }

  @Test func sshHasNone() throws {
    #expect(try request("h") == nil)
  }

  @Test func allIsTakenOver() throws {
    let request = try #require(
      try request(
        "-p", "81", "-H", "X-A: b: c", "--subprotocol", "one", "--subprotocol", "two", "--binary",
        "--bearer-fd", "5", "wss://[::1]/a?b"))
    #expect(request.url.description == "wss://[::1]:81/a")
    #expect(request.url.target == "/a?b")
    #expect(request.headers == [["X-A", "b: c"]])
    #expect(request.subprotocols == ["one", "two"])
    #expect(request.bearerDescriptor == 5)
    #expect(request.isBinary)
  }

  @Test(arguments: [
    String(repeating: "ff", count: 32), Array(repeating: "FF", count: 32).joined(separator: ":"),
    "//////////////////////////////////////////8=",
    "sha256//" + "//////////////////////////////////////////8=",
  ])
  func aPinHasManyForms(_ text: String) throws {
    #expect(try request("--pin", text, "wss://h")?.pin == [UInt8](repeating: 255, count: 32))
  }
}
