/// What every fragment of HTML shares: sizes and colours that people can hit and read.
package enum WebStyle {
  /// Large enough for a finger (S2-44).
  package static let target = "min-width:44px;min-height:44px"

  /// A text colour and its own tint at a tenth, at least 4.5:1 to each other on white (WCAG 2.1
  /// AA, G-48).
  package struct Color: Sendable {
    /// Of the text, as CSS.
    package let text: String
    /// Of what is behind it, as CSS.
    package let tint: String

    /// The colours of `severity`.
    package init(_ severity: ErrorSeverity) {
      (text, tint) =
        switch severity {
        case .info: ("#0B57D0", "rgba(11,87,208,0.1)")
        case .warning: ("#7A5200", "rgba(122,82,0,0.1)")
        case .error, .critical: ("#B3261E", "rgba(179,38,30,0.1)")
        }
    }
  }
}
