import BridgeErrors
import Foundation
import Testing

@Suite("Recovery options")
struct ErrorRecoveryOptionTests {
  static let table:
    [(ErrorRecoveryOption, ErrorRecoveryOption.Kind, String, String, String, Character)] = [
      (.retry, .retry, "Retry", "arrow.clockwise", "primary", "r"),
      (.cancel, .cancel, "Cancel", "xmark", "secondary", "c"),
      (.dismiss, .dismiss, "OK", "checkmark", "primary", "o"),
      (.reconnect, .reconnect, "Reconnect", "arrow.triangle.2.circlepath", "primary", "r"),
      (.checkSettings, .checkSettings, "Settings", "gear", "secondary", "s"),
      (.openSettings, .openSettings, "Open Settings", "gear", "secondary", "s"),
      (.abort, .abort, "Abort", "xmark.octagon", "destructive", "a"),
      (.waitForCompletion, .waitForCompletion, "Wait", "clock", "secondary", "w"),
      (.browse, .browse, "Browse", "folder", "secondary", "b"),
      (
        .retryWithPermission, .retryWithPermission, "Grant Permission", "checkmark.shield",
        "primary", "g"
      ),
      (.skipTool, .skipTool, "Skip", "forward", "secondary", "k"),
    ]

  @Test func theStaticOnesLookAsSpecified() async {
    for (option, kind, title, icon, style, key) in Self.table {
      #expect(option.kind == kind)
      #expect(option.title == title)
      #expect(option.icon == icon)
      #expect(option.style.rawValue == style)
      #expect(option.kind.key == key)
      #expect(kind.option == option)
      #expect(kind.option?.id == option.id)
      await option.action()
    }
    #expect(ErrorRecoveryOption.Kind.allCases.count == Self.table.count + 1)
    #expect(ErrorRecoveryOption.Kind.custom.option == nil)
    #expect(ErrorRecoveryOption.Kind.custom.key == "x")
  }

  @Test func noErrorOffersTwoOptionsUnderOneKey() {
    for error in ErrorCatalogue.examples {
      let keys = error.recoveryOptions.map(\.kind.key)
      #expect(Set(keys).count == keys.count, "\(error.caseName)")
    }
  }

  @Test func anotherActionKeepsIdentityAndLooks() async {
    await confirmation { ran in
      let option = ErrorRecoveryOption.retry.performing { ran() }
      #expect(option.id == ErrorRecoveryOption.retry.id)
      #expect(option == .retry)
      #expect(option.hashValue == ErrorRecoveryOption.retry.hashValue)
      await option.action()
    }
  }

  @Test func anOptionOfAnApplicationRunsItsAction() async {
    await confirmation { ran in
      let option = ErrorRecoveryOption(title: "Call", icon: "phone", style: .primary) { ran() }
      #expect(option.kind == .custom)
      #expect(option != ErrorRecoveryOption(title: "Call", icon: "phone", style: .secondary) {})
      #expect(option != ErrorRecoveryOption(title: "Call", icon: "tel", style: .primary) {})
      #expect(option != ErrorRecoveryOption(title: "Dial", icon: "phone", style: .primary) {})
      #expect(option != .retry)
      await option.action()
    }
  }
}

@Suite("Severity")
struct ErrorSeverityTests {
  @Test func severitiesAreOrdered() {
    #expect(ErrorSeverity.allCases.sorted() == [.info, .warning, .error, .critical])
    #expect(ErrorSeverity.info < .warning && ErrorSeverity.error < .critical)
    #expect(ErrorSeverity.allCases.map(\.name) == ["info", "warning", "error", "critical"])
  }
}

@Suite("Presented errors")
struct PresentedErrorTests {
  private let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  @Test func aFailedRecoveryUpdatesTheTextUnderTheSameID() {
    var shown = PresentedError(id: id, error: .networkUnavailable, source: "a")
    let first = "Check your internet connection and try again."
    #expect(shown.message == first)
    shown.recoveryFailed()
    #expect(shown.message == first + " Retry failed (attempt 1).")
    shown.recoveryFailed(with: ConnectionError(.networkUnavailable))
    #expect(shown.message == first + " Retry failed (attempt 2).")
    #expect(shown.id == id && shown.attempts == 2 && shown.count == 1)
  }

  @Test func aRecoveryThatEndsOtherwiseTakesItsPlace() {
    let context = FailureContext(kind: .refused, phase: .dial, host: "h")
    var shown = PresentedError(id: id, error: .agentBusy, attempts: 3, context: context)
    let newer = FailureContext(kind: .silent, phase: .banner, host: "h")
    shown.recoveryFailed(with: ConnectionError(.timeout(seconds: 5), context: newer))
    #expect(shown.error == .timeout(seconds: 5))
    #expect(shown.message == "The request took longer than 5 seconds. Please try again.")
    #expect(shown.id == id && shown.attempts == 0 && shown.context == newer)
    shown.recoveryFailed()
    #expect(shown.context == newer)
  }

  @Test func anIDOfAGeneratorIsARandomUUIDAndRepeatable() {
    var (zeros, ones) = (Repeated(word: 0), Repeated(word: .max))
    #expect(
      PresentedError.id(from: &zeros).uuidString == "00000000-0000-4000-8000-000000000000")
    #expect(PresentedError.id(from: &ones).uuidString == "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF")
    var counted = Repeated(word: 0x0102_0304_0506_0708)
    #expect(
      PresentedError.id(from: &counted).uuidString == "01020304-0506-4708-8102-030405060708")
  }

  private struct Repeated: RandomNumberGenerator {
    var word: UInt64
    mutating func next() -> UInt64 { word }
  }
}

@Suite("Tool failures")
struct ToolErrorClassificationTests {
  static let table: [(ToolErrorClassification, AppError)] = [
    (.permission, .permissionDenied(tool: "Bash")),
    (.network, .networkUnavailable),
    (.parse, .decodingError(type: "Bash", detail: "d")),
    (.unknown, .agentExecutionError(message: "d")),
  ]

  @Test func eachClassHasItsErrorAndBack() {
    for (tool, error) in Self.table {
      #expect(AppError(toolFailure: tool, tool: "Bash", detail: "d") == error)
      #expect(ToolErrorClassification(error) == tool)
    }
    #expect(Self.table.map(\.0) == ToolErrorClassification.allCases)
  }
}

@Suite("Secrets do not print")
struct SecretTests {
  private struct Form { let password: Secret }

  @Test func noTextOfASecretShowsItsBytes() {
    let secret = Secret("canary-17")
    var dumped = ""
    dump(Form(password: secret), to: &dumped)
    let texts = [
      "\(secret)", String(reflecting: secret), String(describing: Form(password: secret)), dumped,
      "\([secret])", secret.debugDescription,
    ]
    for text in texts {
      #expect(!text.contains("canary") && !text.contains("99, 97"), "\(text)")
    }
    #expect(Mirror(reflecting: secret).children.isEmpty)
  }

  @Test func itsBytesAreValidInsideTheClosure() {
    #expect(Secret("key").reveal { $0 } == Array("key".utf8))
    #expect(Secret([0, 255]).reveal { $0.count } == 2)
    #expect(Secret("").isEmpty && !Secret("x").isEmpty)
  }
}

@Suite("Connection names")
struct ConnectionIDTests {
  @Test func aNameReadsAsItWasGiven() {
    let id = ConnectionID("ssh:build.example:22#1")
    #expect("\(id)" == "ssh:build.example:22#1")
    #expect(id != ConnectionID("ssh:build.example:22#2"))
  }
}
