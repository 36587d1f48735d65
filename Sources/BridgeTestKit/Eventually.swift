/// Gives way to others until `condition` holds: for what no event tells of.
///
/// - Throws: `CancellationError`: a test whose condition never holds ends at its time limit.
package func eventually(_ condition: () async throws -> Bool) async throws {
  while try await !condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
