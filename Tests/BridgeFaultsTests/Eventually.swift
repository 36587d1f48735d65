/// Waits for what no event tells of; ends with the test's time limit.
func eventually(_ holds: () async -> Bool) async throws {
  while !(await holds()) {
    try Task.checkCancellation()
    await Task.yield()
  }
}
