import BridgeErrors
import Testing

/// Hints and remedies speak to the user of any program; a program adds its own options.
@Suite("Hints for any program") struct HintAudienceTests {
  @Test(arguments: ErrorCatalogue.examples.indices)
  func theyNameNoOptionAndNoProgram(index: Int) {
    let error = ErrorCatalogue.examples[index]
    let contexts: [FailureContext?] =
      [nil] + FailureKind.allCases.map { FailureContext(kind: $0, phase: .dial, host: "h") }
    for context in contexts {
      let texts = [error.hint(in: context) ?? "", error.shownMessage(in: context)]
      for text in texts {
        #expect(!text.contains("--"), "\(text)")
        #expect(!text.contains("bridgectl"), "\(text)")
        #expect(text.firstMatch(of: /\(-[a-zA-Z]\)/) == nil, "\(text)")
      }
    }
    let entry = ErrorCatalogue.entry(named: error.caseName)
    #expect(entry?.remedy.contains("--") == false && entry?.cause.contains("--") == false)
  }

  /// A time that was set in milliseconds is said in them.
  @Test(arguments: [
    (Duration.milliseconds(300), "300 ms"), (.milliseconds(1400), "1.4 s"),
    (.seconds(2), "2 seconds"),
  ])
  func aTimeoutNamesTheTimeThatThereWas(limit: Duration, words: String) {
    var context = FailureContext(kind: .silent, phase: .banner, host: "h")
    context.limit = limit
    let error = ConnectionError(.sshTimeout(seconds: 2), context: context)
    #expect(error.shownMessage == "h did not answer for \(words).")
    let other = ConnectionError(.timeout(seconds: 2), context: context).shownMessage
    #expect(other.hasPrefix("The request took longer than \(words)."))
  }

  @Test func aProgramAddsItsOwnSentenceToTheHint() {
    let error = AppError.sshTimeout(seconds: 3)
    let shown = PresentedError(error: error, source: "a")
    let banner = TerminalBanner.render(shown, color: false, advice: "Use \u{1B}[2J more.")
    #expect(banner.contains(" Use \\x1b[2J more.\n"))
    let plain = TerminalBanner.lastLines(.timeout(seconds: 3))
    let lines = TerminalBanner.lastLines(
      .timeout(seconds: 3), advice: "Wait\n:", command: "sleep 3")
    #expect(lines == plain + ["  Wait :", "    sleep 3"])
    #expect(TerminalBanner.lastLines(.cancelled, advice: "Wait.").count == 1)
  }
}
