package import BridgeErrors

/// SIZE as the user typed it, in bytes or powers of 1024 of them: `64M`, `2G`.
package enum SizeArgument {
  private static let units: [(suffix: String, shift: UInt64)] = [
    ("", 0), ("K", 10), ("M", 20), ("G", 30), ("T", 40),
  ]

  /// The bytes in `text`.
  ///
  /// - Parameter range: what may be given.
  /// - Throws: `validationError` for what is not a number with or without a unit, or is outside of
  ///   `range`.
  package static func parse(
    _ text: String, field: String, in range: ClosedRange<UInt64>
  ) throws(AppError) -> UInt64 {
    let refuse = { (reason: String) -> AppError in
      .validationError(
        field: field,
        message: "\"\(PeerText.escaped(text, limit: 64))\" \(reason) Write 64M or 2G.")
    }
    let digits = text.utf8.prefix { (48...57).contains($0) }
    let suffix = String(text.utf8.dropFirst(digits.count))?.uppercased()
    guard (1...15).contains(digits.count), let number = UInt64(String(digits) ?? ""),
      let unit = units.first(where: { $0.suffix == suffix })
    else { throw refuse("is not a size.") }
    let (bytes, isOverflow) = number.multipliedReportingOverflow(by: 1 << unit.shift)
    guard !isOverflow, bytes <= range.upperBound else {
      throw refuse("is more than \(SessionText.size(range.upperBound)).")
    }
    guard bytes >= range.lowerBound else {
      throw refuse("is less than \(SessionText.size(range.lowerBound)).")
    }
    return bytes
  }
}
