/// Looks each millisecond until `condition` holds: for what no event tells of, and not under an
/// executor of the test's own, on which no real time passes.
///
/// - Throws: `CancellationError`: a test whose condition never holds ends at its time limit.
package func eventually(_ condition: () async throws -> Bool) async throws {
  while try await !condition() {
    // It must not take the processors from what it waits for.
    try await ContinuousClock().sleep(for: .milliseconds(1))
  }
}
