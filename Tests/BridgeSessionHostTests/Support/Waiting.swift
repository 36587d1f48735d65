import Testing

@testable import BridgeSessionHost

/// Looks every 5 ms until `condition` holds. A minute without it is a failure of the test at the
/// line that waited.
func waitUntil(
  sourceLocation: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) throws {
  let begun = Machine.milliseconds
  while try !condition() {
    try #require(
      Machine.milliseconds - begun < 60_000, "not within a minute", sourceLocation: sourceLocation)
    Poller.pause(5)
  }
}
