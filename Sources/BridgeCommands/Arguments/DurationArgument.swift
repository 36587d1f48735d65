package import BridgeErrors

/// DURATION as the user typed it: `250ms`, `3s`, `2m`, `1h`.
package enum DurationArgument {
  private static let longest = Duration.seconds(7 * 24 * 3600)
  private static let units: [(suffix: String, milliseconds: Int)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
  ]

  /// The time in `text`.
  ///
  /// - Parameters:
  ///   - field: the option, for the error.
  ///   - allowsZero: whether it may be no time at all.
  /// - Throws: `validationError` for what is not a number and a unit, or is over a week.
  package static func parse(
    _ text: String, field: String, allowsZero: Bool = false
  ) throws(AppError) -> Duration {
    let refuse = { (reason: String) -> AppError in
      .validationError(
        field: field,
        message: "\"\(PeerText.escaped(text, limit: 64))\" \(reason) Write 250ms, 3s or 2m.")
    }
    let digits = text.utf8.prefix { (48...57).contains($0) }
    let suffix = String(text.utf8.dropFirst(digits.count)) ?? ""
    guard (1...12).contains(digits.count), let number = Int(String(digits) ?? "") else {
      throw refuse("is not a time.")
    }
    guard let unit = units.first(where: { $0.suffix == suffix }) else {
      throw refuse(suffix.isEmpty ? "has no unit." : "is not a time.")
    }
    let (total, isOverflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
    let time = Duration.milliseconds(total)
    guard !isOverflow, time <= longest else { throw refuse("is more than a week.") }
    guard allowsZero || time > .zero else { throw refuse("is zero.") }
    return time
  }

  /// A time as the user would type it, in whole seconds where it has no others.
  package static func text(_ time: Duration) -> String {
    let milliseconds = Int(time / .milliseconds(1))
    return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
  }
}
