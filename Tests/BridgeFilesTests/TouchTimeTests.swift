import BridgeFiles
import BridgeSessionProtocol
import Testing

@Suite struct TouchTimeTests {
  /// As `date -u -d @SECONDS +%Y%m%d%H%M.%S` prints it.
  @Test(
    arguments: [
      (0, "197001010000.00"), (-1, "196912312359.59"), (951_782_400, "200002290000.00"),
      (4_107_542_399, "210002282359.59"), (1_700_000_000, "202311142213.20"),
      (-62_135_596_800, "000101010000.00"), (253_402_300_799, "999912312359.59"),
      (.min, "000101010000.00"), (.max, "999912312359.59"),
    ] as [(Int64, String)])
  func aTimeIsWrittenForTouch(_ seconds: Int64, _ text: String) {
    #expect(FileMeta(mode: 0, seconds: seconds, nanoseconds: 5).touchTime == text)
  }
}
