import BridgeCommands
import BridgeErrors
import Testing

@Suite("A page of the catalogue")
struct ErrorPageTests {
  /// The text without its line breaks and indents.
  private func words(_ text: String) -> String {
    text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
  }

  @Test(arguments: ErrorCatalogue.entries.indices)
  func saysAllThatHelps(index: Int) {
    let entry = ErrorCatalogue.entries[index]
    let text = ErrorPage.text(entry)
    let words = words(text)
    #expect(text.hasPrefix("\(entry.caseName): \(entry.title) ("))
    let advice = CommandAdvice.byCase[entry.caseName].map { " " + $0.text } ?? ""
    #expect(words.contains(" cause \(entry.cause) to do \(entry.remedy)\(advice) options "))
    #expect(words.contains(" exit code \(entry.exitCode)"))
    #expect(entry.options.allSatisfy(words.contains))
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.allSatisfy { $0.count <= 96 }, "it fits a terminal")
    #expect(lines.filter { $0.hasPrefix("  link ") }.count >= min(entry.links.count, 1))
    #expect(text.hasSuffix("\n") && !text.contains("\n\n"))
  }

  @Test(arguments: RetryClass.allCases)
  func whatHappensByItselfIsSaidInWords(_ retry: RetryClass) {
    let named = ErrorCatalogue.entries.filter { entry in
      ([entry.automatic] + entry.links.map { "\($0.retry)" }).contains(retry.rawValue)
    }
    #expect(!named.isEmpty)
    for entry in named {
      let words = words(ErrorPage.text(entry))
      #expect(words.contains(retry.explanation))
      guard retry.rawValue.contains(where: \.isUppercase) else { continue }
      #expect(!words.contains(retry.rawValue), "a name of the code")
    }
  }

  @Test func aHintThatIsWhatToDoIsSaidOnce() {
    for entry in ErrorCatalogue.entries where entry.hint == entry.remedy {
      #expect(!ErrorPage.text(entry).contains("\n  hint "), "\(entry.caseName)")
    }
  }
}
