extension Duration {
  /// The seconds that errors name: rounded up, at least one.
  package var wholeSeconds: Int {
    let (seconds, rest) = components
    return Int(
      clamping: max(1, rest > 0 ? seconds.addingReportingOverflow(1).partialValue : seconds))
  }
}
