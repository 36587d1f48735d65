import BridgeErrors
import BridgeRecovery
import Testing

@testable import BridgeStorePostgres

@Suite("What follows from a failure of PostgreSQL is decided by its code")
struct PostgresFailureTests {
  private static let unusable: [(String, StoreProblem)] = [
    ("28000", .refused), ("28P01", .refused), ("42501", .refused), ("53100", .full),
    ("25006", .readOnly), ("XX001", .damaged), ("XX002", .damaged),
  ]

  @Test(arguments: unusable) func aPersonIsNeeded(code: String, problem: StoreProblem) {
    for isLost in [true, false] {
      let failure = PostgresFailure("text", code: code, isLost: isLost)
      #expect(
        failure.consequence(for: "s", operation: "write")
          == .refused(.storeUnusable(store: "s", problem: problem)))
    }
  }

  /// The codes of Appendix A of PostgreSQL's documentation.
  @Test(arguments: [
    "08006", "08P01", "40001", "40P01", "57P01", "57P02", "57P03", "53300", "55P03", "57014",
  ])
  func itIsTriedAgain(code: String) {
    #expect(
      PostgresFailure("text", code: code).consequence(for: "s", operation: "write") == .again)
  }

  @Test(arguments: ["42P01", "22P05", "23505", "3D000"])
  func anyOtherIsAnErrorWithTextAndCode(code: String) {
    #expect(
      PostgresFailure("text", code: code, isLost: code == "3D000")
        .consequence(for: "s", operation: "write")
        == .refused(.databaseError(operation: "write", detail: "text (SQLSTATE \(code))")))
  }

  @Test func aLostConnectionIsTriedAgain() {
    #expect(
      PostgresFailure("gone", isLost: true).consequence(for: "s", operation: "write") == .again)
  }

  @Test(arguments: [
    ("connection to server on socket \"/x\" failed: FATAL:  28P01\n", "28P01"),
    ("FATAL:  57P03", "57P03"), ("SCHWERWIEGEND:  53300", "53300"),
    ("connection refused\n\tIs the server running?\n", nil), ("", nil), ("failed: ABC", nil),
    ("server closed the connection", nil), ("a 28P01", nil),
  ])
  func theCodeOfARefusedLoginIsFound(text: String, code: String?) {
    let failure = PostgresFailure(lost: text)
    #expect(failure.code == code && failure.isLost)
  }
}

@Suite("A database that is down is tried again, and its callers wait for so long")
struct PostgresRecoveryTests {
  private let start = Moment.now

  @Test func theTriesComeLaterAndLaterUpToASecond() {
    var generator = SeededGenerator(seed: 1)
    var recovery = PostgresRecovery(timeout: .seconds(30))
    #expect(recovery.fail("down", at: start, using: &generator) == start)
    for _ in 0..<50 {
      let retry = recovery.fail("down", at: start, using: &generator)
      #expect(retry >= start && retry <= start + .seconds(1))
    }
  }

  @Test func callersAreGivenUpWhenItWasDownForSoLongAndNotBefore() {
    var generator = SeededGenerator(seed: 1)
    var recovery = PostgresRecovery(timeout: .seconds(30))
    #expect(recovery.end == nil && recovery.reasonToGiveUp(at: start) == nil)
    _ = recovery.fail("first", at: start, using: &generator)
    _ = recovery.fail("last", at: start + .seconds(29), using: &generator)
    #expect(recovery.end == start + .seconds(30))
    #expect(recovery.reasonToGiveUp(at: start + .seconds(29)) == nil)
    #expect(recovery.reasonToGiveUp(at: start + .seconds(30)) == "last")
    recovery.succeed()
    #expect(recovery.end == nil && recovery.reasonToGiveUp(at: start + .seconds(60)) == nil)
    _ = recovery.fail("again", at: start + .seconds(60), using: &generator)
    #expect(recovery.end == start + .seconds(90))
  }
}
