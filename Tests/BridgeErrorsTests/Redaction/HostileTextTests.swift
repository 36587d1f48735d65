import BridgeErrors
import Testing

/// Whatever a peer sends gives a bounded, escaped, valid result.
@Suite("Hostile peer text")
struct HostileTextTests {
  static let hostile: [String] = [
    "\0", "\u{1B}[2J\u{1B}]0;title\u{07}", "\u{9B}31m", "\u{202E}\u{2066}reversed",
    "<script>alert('x')</script>", "\" onclick=\"x", "line\r\nfeed", "",
    String(decoding: [0xFF, 0xFE, 0xC0, 0x80, 0x1B] as [UInt8], as: UTF8.self),
    String(repeating: "\u{1B}[31m", count: 2000),
  ]

  @Test(arguments: hostile)
  func leavesNoControlCharacterInAnyRenderedText(_ text: String) {
    for failure in failures(carrying: text) {
      let (error, context) = (failure.error, failure.context)
      check(error, context)
    }
    for error in errors(carrying: text) { check(error, nil) }
  }

  @Test func aMegabyteIsCutEverywhere() {
    let megabyte = String(repeating: "0123456\u{1B}", count: 1 << 17)
    for failure in failures(carrying: megabyte).prefix(12) {
      check(failure.error, failure.context)
    }
    check(.unknown(message: megabyte), nil)
    check(.sshCommandFailed(command: megabyte, exitCode: 1, stderr: megabyte), nil)
    #expect(AppError.serverError(status: 500, message: megabyte).userMessage.utf8.count < 5000)
  }

  @Test func aSecretAtTheCutIsNotHalved() {
    // The text is cut between the password and the "@" that gives it away.
    let block = "-----BEGIN A-----" + String(repeating: "x", count: 15_000) + "-----END A----- "
    let padding = String(repeating: "y", count: 16_384 - block.utf8.count - 20)
    let text = block + padding + " https://user:CANARY" + String(repeating: "z", count: 99) + "@h"
    #expect(text.utf8.count > 16_384)
    #expect(!AppError.unknown(message: text).shownMessage().contains("CANARY"))
    #expect(!AppError.serverError(status: 500, message: text).userMessage.contains("CANARY"))
  }

  private func check(_ error: AppError, _ context: FailureContext?) {
    let shown = PresentedError(error: error, source: context?.host, context: context)
    let terminal = [
      TerminalBanner.render(shown, color: false), error.hint ?? "",
      error.hint(in: context) ?? "", context?.native?.text ?? "", context?.detail ?? "",
    ]
    let lines = TerminalBanner.lastLines(error, context: context) + error.logMetadata.values
    for text in terminal + lines + [WebBanner.render(shown)] {
      // A banner has a message, a hint and a source of 4 KiB at most, escaped for HTML.
      #expect(text.utf8.count <= 60_000)
      #expect(text.unicodeScalars.allSatisfy(isHarmless), "\(error.caseName)")
    }
    #expect(lines.allSatisfy { !$0.contains("\n") })
    let html = WebBanner.render(shown)
    #expect(!html.contains("<script") && !html.contains("\" onclick"))
  }

  private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0A: true
    case 0..<0x20, 0x7F..<0xA0, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: false
    default: true
    }
  }
}
