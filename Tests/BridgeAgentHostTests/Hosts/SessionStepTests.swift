import BridgeErrors
import BridgeSessionProtocol
import BridgeStore
import Testing

@testable import BridgeAgentHost

@Suite("The session of an agent is the one that the store has") struct SessionStepTests {
  private static let new = SessionID(high: 1, low: 2)
  private static let old = SessionID(high: 3, low: 4)

  private func step(_ session: StoredSession?) throws(AppError) -> SessionStep {
    try SessionStep(AgentState(session: session), on: "build", new: Self.new)
  }

  @Test func aNewOneIsStoredFirst() throws {
    #expect(try step(nil) == .store(Self.new))
  }

  @Test func oneThatMayHaveBeenStartedIsStartedUnlessItWas() throws {
    #expect(
      try step(StoredSession(machine: "build", session: "\(Self.old)")) == .start(Self.old))
  }

  @Test func oneThatWasStartedGoesOnBehindItsPoint() throws {
    let point = LinePoint(output: ResumePoint(epoch: 7, received: 42), streams: [2: .init(end: 50)])
    let stored = StoredSession(
      machine: "build", session: "\(Self.old)", resume: try StoredValue(encoding: point))
    #expect(try step(stored) == .goOn(Self.old, after: point))
  }

  @Test func anotherMachineIsRefused() {
    #expect(
      throws: AppError.validationError(
        field: "machine", message: "The agent's session is on other, not on build.")
    ) { try step(StoredSession(machine: "other", session: "\(Self.old)")) }
  }

  @Test(arguments: [
    StoredSession(machine: "build", session: "s"),
    StoredSession(
      machine: "build", session: "\(Self.old)", resume: StoredValue(bytes: Array("{}".utf8))),
  ])
  func whatAnotherProgramHasWrittenIsRefused(_ stored: StoredSession) {
    #expect {
      try step(stored)
    } throws: { error in
      (error as? AppError)?.caseName == "decodingError"
    }
  }
}
