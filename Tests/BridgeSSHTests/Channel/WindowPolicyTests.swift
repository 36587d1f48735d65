import BridgeSSH
import Testing

struct WindowPolicyTests {
  static let rows: [(roundTrip: Duration?, window: Int)] = [
    (nil, 2 << 20), (.zero, 2 << 20), (.seconds(-1), 2 << 20), (.milliseconds(1), 2 << 20),
    (.milliseconds(10), 2 << 20), (.milliseconds(20), 4_000_000), (.milliseconds(50), 10_000_000),
    (.milliseconds(100), 16 << 20), (.seconds(10), 16 << 20), (.seconds(86_400), 16 << 20),
  ]

  @Test func growsWithTheRoundTripWithinItsBounds() {
    for row in Self.rows { #expect(WindowPolicy.window(for: row.roundTrip) == row.window) }
  }

  /// Ctrl-C has its effect behind a window of output.
  @Test func aTerminalHasLessHoweverFarItIs() {
    for row in Self.rows {
      #expect(WindowPolicy.window(for: row.roundTrip, isTerminal: true) == 768 << 10)
    }
  }
}
