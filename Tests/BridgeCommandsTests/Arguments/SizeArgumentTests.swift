import BridgeCommands
import BridgeErrors
import Testing

@Suite struct SizeArgumentTests {
  private static let range: ClosedRange<UInt64> = 1 << 20...1 << 40

  @Test(
    arguments: [
      ("1048576", 1 << 20), ("64M", 64 << 20), ("2G", 2 << 30), ("2048k", 2 << 20),
      ("1T", 1 << 40),
    ] as [(String, UInt64)])
  func aNumberWithOrWithoutAUnitIsOne(_ text: String, _ bytes: UInt64) throws {
    #expect(try SizeArgument.parse(text, field: "--cap", in: Self.range) == bytes)
  }

  @Test(arguments: [
    ("", "is not a size"), ("M", "is not a size"), ("-1M", "is not a size"),
    ("1.5G", "is not a size"), ("64 M", "is not a size"), ("64MB", "is not a size"),
    ("9999999999999999", "is not a size"), ("1023K", "is less than 1.0M"),
    ("0", "is less than 1.0M"), ("1025G", "is more than 1.0T"),
    ("999999999999999T", "is more than 1.0T"),
  ])
  func anythingElseIsRefusedWithTheReason(_ text: String, _ reason: String) {
    #expect(
      throws: AppError.validationError(
        field: "--cap", message: "\"\(text)\" \(reason). Write 64M or 2G.")
    ) { try SizeArgument.parse(text, field: "--cap", in: Self.range) }
  }
}
