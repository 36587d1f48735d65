import BridgeCommands
import BridgeErrors
import BridgeSessionProtocol
import Foundation
import Testing

/// What is known of the sources of a copy before anything is dialed.
@Suite final class CopySurveyTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "survey-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(
      at: folder.appending(path: "d"), withIntermediateDirectories: true)
    try Data(count: 5).write(to: folder.appending(path: "f"))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  private func request(_ names: [String], isRecursive: Bool = false) throws -> CopyRequest {
    try CopyRequest(names.map(path) + ["h:"], isRecursive: isRecursive)
  }

  @Test func whatIsNotThereIsBesideTheRest() throws {
    let request = try request(["none", "f", "d"])
    let survey = request.survey()
    #expect(survey.ready.map(\.size) == [5])
    #expect(survey.faulty.map(\.fault.code) == [.notFound, .needsRecursion])
    #expect(request.words(of: survey.faulty[0]) == "\(path("none")): there is no such file")
    try request.check(survey)
  }

  @Test func aDirectoryIsASourceOfARecursiveCopy() throws {
    let survey = try request(["d", "f"], isRecursive: true).survey()
    #expect(survey.ready.map(\.size) == [nil, 5] && survey.faulty.isEmpty)
  }

  @Test func theOnlySourceThatIsNotThereIsTheError() throws {
    let request = try request(["none"])
    #expect(throws: AppError.fileNotFound(path: path("none"))) {
      try request.check(request.survey())
    }
  }

  /// Nothing is dialed then: the error has to name all.
  @Test func sourcesOfWhichNoneIsThereAreAllNamed() throws {
    let request = try request(["none", "d", "gone"])
    let error = #expect(throws: AppError.self) { try request.check(request.survey()) }
    guard case .fileReadError(path("none"), let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.hasPrefix("there is no such file; \(path("d")): it is a directory"))
    #expect(reason.hasSuffix("; \(path("gone")): there is no such file"), "\(reason)")
    let many = try self.request((0..<12).map { "none \($0)" })
    let last = #expect(throws: AppError.self) { try many.check(many.survey()) }
    #expect(last?.shownMessage().contains("; 3 more") == true)
  }

  @Test(arguments: [("f", "it is not a directory"), ("none", "it does not exist")])
  func severalNeedADirectoryHere(_ name: String, _ reason: String) throws {
    let request = try CopyRequest(["h:a", "h:b", path(name)], isRecursive: false)
    let error = AppError.fileWriteError(
      path: path(name), reason: "\(reason); several sources need a directory there")
    #expect(throws: error) { try request.check(request.survey()) }
    let single = try CopyRequest(["h:a", path(name)], isRecursive: false)
    try single.check(single.survey())
    let into = try CopyRequest(["h:a", "h:b", path("d")], isRecursive: false)
    try into.check(into.survey())
  }
}
