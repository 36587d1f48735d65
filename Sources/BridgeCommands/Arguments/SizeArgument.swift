package import BridgeErrors

/// SIZE as the user typed it, in bytes or powers of 1024 of them: `64M`, `2G`.
package enum SizeArgument {
  private static let units: [(suffix: String, shift: UInt64)] = [
    ("", 0), ("K", 10), ("M", 20), ("G", 30), ("T", 40),
  ]

  /// The bytes in `typed`.
  ///
  /// - Parameters:
  ///   - range: what may be given.
  ///   - example: what is written where that is not.
  /// - Throws: `validationError` for what is not a number with or without a unit, or is outside of
  ///   `range`.
  package static func parse(
    _ typed: String, field: String, in range: ClosedRange<UInt64>, example: String = "64M or 2G"
  ) throws(AppError) -> UInt64 {
    let refuse = { (reason: String) -> AppError in
      .validationError(
        field: field,
        message: "\"\(PeerText.escaped(typed, limit: 64))\" \(reason) Write \(example).")
    }
    let digits = typed.utf8.prefix { (48...57).contains($0) }
    let suffix = String(typed.utf8.dropFirst(digits.count))?.uppercased()
    guard (1...15).contains(digits.count), let number = UInt64(String(digits) ?? ""),
      let unit = units.first(where: { $0.suffix == suffix })
    else { throw refuse("is not a size.") }
    let (bytes, isOverflow) = number.multipliedReportingOverflow(by: 1 << unit.shift)
    guard !isOverflow, bytes <= range.upperBound else {
      throw refuse("is more than \(text(range.upperBound)).")
    }
    guard bytes >= range.lowerBound else {
      throw refuse("is less than \(text(range.lowerBound)).")
    }
    return bytes
  }

  /// A count of bytes: `17B`, `4.0K`, `64M`.
  package static func text(_ bytes: UInt64) -> String {
    var (value, unit) = (Double(bytes), 0)
    while value >= 1024, unit < 4 { (value, unit) = (value / 1024, unit + 1) }
    guard unit > 0 else { return "\(bytes)B" }
    let tenths = Int((value * 10).rounded(.down))
    let digits = tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : "\(tenths / 10)"
    return digits + ["", "K", "M", "G", "T"][unit]
  }
}
