import BridgeErrors
import Testing

@Test func anErrorEqualsItself() {
  #expect(AppError.timeout(seconds: 5) == .timeout(seconds: 5))
  #expect(AppError.timeout(seconds: 5) != .timeout(seconds: 6))
}
