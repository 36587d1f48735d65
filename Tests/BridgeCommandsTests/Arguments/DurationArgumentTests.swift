import ArgumentParser
import BridgeCommands
import BridgeErrors
import BridgeTransport
import Testing

@Suite struct DurationArgumentTests {
  @Test(arguments: [
    "", "3", "s", "ms", "-1s", "+1s", "1.5s", "1 s", "1S", "1d", "3sec", "0s", "0ms", "٣s", "1s\n",
    "169h", "9223372036854775807h", "99999999999999999999s",
  ])
  func refusesWhatIsNoTime(_ text: String) {
    #expect(throws: AppError.self) { try DurationArgument.parse(text, field: "--timeout") }
  }

  @Test(arguments: [
    ("250ms", Duration.milliseconds(250)), ("3s", .seconds(3)), ("2m", .seconds(120)),
    ("1h", .seconds(3600)), ("168h", .seconds(604_800)), ("007s", .seconds(7)),
  ])
  func readsNumberAndUnit(_ text: String, _ time: Duration) throws {
    #expect(try DurationArgument.parse(text, field: "--timeout") == time)
  }

  @Test func noTimeIsATimeWhereItIsAllowed() throws {
    #expect(try DurationArgument.parse("0s", field: "--keepalive", allowsZero: true) == .zero)
  }

  @Test(arguments: ["0s", "250ms", "1500ms", "5s", "60s", "3600s"])
  func aTimeIsWrittenAsItIsRead(_ text: String) throws {
    let time = try DurationArgument.parse(text, field: "--keepalive", allowsZero: true)
    #expect(DurationArgument.text(time) == text)
  }

  @Test func theHelpHasTheDefaults() {
    let help = ConnectCommand.helpMessage()
      .split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    let keepalive = DurationArgument.text(LivenessPolicy.defaultKeepalive)
    #expect(help.contains("the link is probed (\(keepalive)); 0s never probes."))
    let deadAfter = DurationArgument.text(LivenessPolicy.defaultDeadAfter)
    #expect(help.contains("is declared dead (\(deadAfter);"))
  }

  @Test func theErrorNamesTheOptionAndTheForm() {
    #expect {
      try DurationArgument.parse("5", field: "--dead-after")
    } throws: { error in
      guard case .validationError("--dead-after", let message)? = error as? AppError else {
        return false
      }
      return message.contains("no unit") && message.contains("3s")
    }
  }
}
