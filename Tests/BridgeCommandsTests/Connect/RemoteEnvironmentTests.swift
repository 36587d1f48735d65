import ArgumentParser
import BridgeCommands
import BridgeErrors
import BridgeSSH
import Testing

/// SendEnv and SetEnv, as ssh_config(5) has them.
@Suite struct RemoteEnvironmentTests {
  private func settings(
    _ config: String, _ local: [String: String], options: [String] = []
  ) throws -> ConnectSettings {
    try ConnectSettingsTests().settings(options + ["h"], config: config, environment: local)
  }

  private static let local = [
    "LANG": "C.UTF-8", "LC_ALL": "C", "LC_TIME": "de", "SECRET": "x", "EDITOR": "vi",
  ]

  @Test(
    arguments: [
      ("", []), ("SendEnv LANG", ["LANG=C.UTF-8"]),
      ("SendEnv LANG LC_*", ["LANG=C.UTF-8", "LC_ALL=C", "LC_TIME=de"]),
      ("SendEnv LC_*\nSendEnv EDITO?", ["EDITOR=vi", "LC_ALL=C", "LC_TIME=de"]),
      ("SendEnv LC_* LANG\nSendEnv -LC_*", ["LANG=C.UTF-8"]),
      ("SendEnv LC_*\nSendEnv -*\nSendEnv EDITOR", ["EDITOR=vi"]),
      ("SendEnv -LANG\nSendEnv LANG", ["LANG=C.UTF-8"]),
      ("SendEnv MISSING", []), ("SetEnv A=1 \"B=2 3\"", ["A=1", "B=2 3"]),
      ("SetEnv A=1\nSetEnv B=2", ["A=1"]), ("SetEnv A=1 A=2", ["A=1"]), ("SetEnv A=", ["A="]),
      ("SetEnv LANG=mine\nSendEnv LANG", ["LANG=mine"]),
    ])
  func theVariablesAre(_ config: String, _ expected: [String]) throws {
    #expect(try settings(config, Self.local).environment.map(\.assignment) == expected)
  }

  @Test func anOptionComesFirst() throws {
    let options = ["-o", "SetEnv=A=option", "-o", "SendEnv=EDITOR"]
    let settings = try settings("SetEnv A=file\nSendEnv -EDITOR LANG", Self.local, options: options)
    #expect(settings.environment.map(\.assignment) == ["A=option", "LANG=C.UTF-8"])
  }

  @Test(arguments: ["SendEnv A=1", "SetEnv A", "SetEnv =1", "SetEnv", "SendEnv"])
  func aMalformedLineIsRefusedWithItsPlace(_ line: String) {
    let failure = #expect(throws: CommandFailure.self) { try settings("\n\(line)\n", [:]) }
    guard case .validationError(_, let message) = failure?.error else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(message.contains("config:2"))
  }

  /// Foundation puts U+FFFD in the place of bytes that it cannot read.
  @Test func whatIsNotUTF8IsNotSentChanged() throws {
    let settings = try settings("SendEnv A B", ["A": "\u{FFFD}\u{FFFD}", "B": "b"])
    #expect(settings.environment.map(\.assignment) == ["B=b"])
    #expect(
      settings.warnings == ["A of SendEnv or SetEnv is not sent: its value is not UTF-8"])
  }

  @Test func moreThanTheBoundIsNamed() throws {
    var local = Dictionary(uniqueKeysWithValues: (0..<200).map { ("V\($0)", "x") })
    local["VLONG"] = String(repeating: "x", count: RemoteEnvironment.longest)
    let settings = try settings("SendEnv V*", local)
    #expect(settings.environment.count == RemoteEnvironment.limit)
    #expect(
      settings.warnings.contains { $0.hasPrefix("73 of 201 variables of SendEnv and SetEnv") })
  }
}
