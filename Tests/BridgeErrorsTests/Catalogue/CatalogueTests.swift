import BridgeErrors
import Foundation
import Testing

@Suite("Every case has the row that the specification gives it")
struct CatalogueTests {
  @Test(arguments: catalogueTable)
  func everyRow(_ row: CatalogueExpectation) {
    let error = row.error
    #expect(error.title == row.title)
    #expect(error.userMessage == row.message)
    #expect(error.errorDescription == row.message)
    #expect(error.localizedDescription == row.message)
    #expect(error.recoveryOptions.map(\.kind) == row.options)
    #expect(error.icon == row.icon)
    #expect(error.severity == row.severity)
    #expect(error.retryClass() == row.automatic)
    #expect(error.exitCode().rawValue == row.exit)
    #expect(ToolErrorClassification(error) == row.tool)
    let common = ["error_type": error.caseName, "severity": row.severity.name]
    #expect(error.logMetadata == common.merging(row.metadata) { _, new in new })
    #expect(error.title.split(separator: " ").count <= 4)
  }

  @Test(arguments: ErrorCatalogue.examples)
  func theNameOfACaseIsItsOwn(_ error: AppError) {
    #expect(error.caseName == String(String(describing: error).prefix { $0 != "(" }))
  }

  @Test func everyCaseIsInTheTableAndInTheCatalogue() throws {
    // The declarations themselves: a list of cases cannot be had from the compiler.
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources/BridgeErrors/AppError.swift")
    let declared = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .compactMap { $0.hasPrefix("  case ") ? $0.dropFirst(7).prefix { $0 != "(" } : nil }
      .map(String.init)
    #expect(declared.count == 67)
    #expect(ErrorCatalogue.examples.map(\.caseName) == declared)
    #expect(Set(catalogueTable.map(\.error.caseName)) == Set(declared))
  }

  @Test func everyDomainHasItsCases() {
    let counts = Dictionary(grouping: ErrorCatalogue.examples, by: \.domain).mapValues(\.count)
    #expect(
      counts == [
        .network: 5, .webSocket: 4, .api: 6, .agent: 7, .permission: 3, .ssh: 11, .file: 5,
        .persistence: 5, .validation: 3, .session: 11, .project: 3, .general: 4,
      ])
  }

  @Test(arguments: ErrorCatalogue.examples)
  func aDefaultTextIsReplacedByAFact(_ error: AppError) throws {
    let hint = try #require(error.hint)
    let isDefault = error.userMessage == defaultMessage
    let remedy = try #require(ErrorCatalogue.entry(named: error.caseName)).remedy
    let shown = error.shownMessage()
    // On a terminal a file is named by its whole path, and a close by its code, too.
    let said =
      switch error.caseName {
      case "fileNotFound": "<path> does not exist."
      case "webSocketDisconnected": "<reason> (close code 1001)"
      case _: error.userMessage
      }
    #expect(isDefault ? hint == "\(shown) \(remedy)" : shown == said)
    let saysAll = ["validationError", "cancelled"].contains(error.caseName)
    #expect(error.hintBelowMessage() == (saysAll ? nil : remedy))
    #expect(error.recoverySuggestion == hint)
    #expect(hint.hasSuffix("."))
    #expect(!hint.contains(".."))
  }

  @Test(arguments: ErrorSeverity.allCases)
  func theLogLevelFollowsTheSeverity(_ severity: ErrorSeverity) {
    let level: ErrorLogLevel =
      switch severity {
      case .info: .info
      case .warning: .warning
      case .error: .error
      case .critical: .fault
      }
    #expect(ErrorLogLevel(severity) == level)
    for error in ErrorCatalogue.examples where error.severity == severity {
      #expect(error.logLevel == (error == .cancelled ? .debug : level))
    }
  }

  @Test(arguments: [
    ("", "no reason was given."), ("why", "why."), ("why.", "why."), ("why!", "why!"),
    ("why?", "why?"), (" why ", "why."), ("\n", "no reason was given."),
  ])
  func aReasonBecomesASentence(_ reason: String, _ sentence: String) throws {
    let hint = try #require(AppError.sshKeyInvalid(reason: reason).hint)
    #expect(hint.hasPrefix("The key cannot be used: \(sentence) Check"))
  }

  @Test(arguments: [
    (0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
    (1_048_576, "1.0 MiB"), (5_368_709_120, "5.0 GiB"), (1 << 40, "1.0 TiB"),
    (1 << 50, "1.0 PiB"), (Int64.max, "819.1 PiB"), (-1, "-1 bytes"),
  ])
  func sizesAreWrittenForPeople(_ bytes: Int64, _ words: String) throws {
    let error = AppError.insufficientDiskSpace(required: bytes, available: 0)
    let hint = try #require(error.hint)
    #expect(hint.hasPrefix("This needs \(words) of disk space (free: 0 bytes)."), "\(hint)")
  }
}
