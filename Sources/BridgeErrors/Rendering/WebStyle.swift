/// What every fragment of HTML shares: sizes and colors that people can hit and read, as one style
/// sheet. The fragments have classes and no styles of their own, so that a page may forbid those
/// (Content-Security-Policy, style-src).
public enum WebStyle {
  /// The rules of `WebBanner` and of the sign-in pages, for a file of the page or for `element`.
  public static let sheet: String =
    """
    .bridge-target{min-width:44px;min-height:44px}
    .bridge-banner{border-radius:12px;padding:16px;display:flex;flex-direction:column;gap:12px}
    .bridge-banner header{display:flex;gap:12px;align-items:center}
    .bridge-banner h2{flex:1;margin:0;font-size:1.1em}
    .bridge-banner p{margin:0}
    .bridge-options{display:flex;gap:12px}
    .bridge-page{margin:0;background:#FFFFFF;color:#1F1F1F;font-family:system-ui,sans-serif}
    .bridge-sign-in{max-width:24rem;margin:0 auto;padding:16px}
    .bridge-sign-in input{font-size:1rem}
    .bridge-consent{display:inline-flex;align-items:center}
    .bridge-message{padding:8px}

    """ + ErrorSeverity.allCases.map(rules).joined()

  /// The sheet as an element for the head of a page.
  ///
  /// - Parameter nonce: the one that the page's policy names; nil where it has none.
  public static func element(nonce: String? = nil) -> String {
    let attribute = nonce.map { " nonce=\"\(WebBanner.escaped($0, limit: 256))\"" } ?? ""
    return "<style\(attribute)>\n\(sheet)</style>\n"
  }

  /// Large enough for a finger (S2-44).
  package static let target = "bridge-target"

  /// The class of a text in the color of `severity`.
  package static func text(_ severity: ErrorSeverity) -> String { "bridge-text-\(severity.name)" }

  /// The class of what stands behind it.
  package static func tint(_ severity: ErrorSeverity) -> String { "bridge-tint-\(severity.name)" }

  /// A text color and its own tint at a tenth, at least 4.5:1 to each other on white (WCAG 2.1 AA,
  /// G-48).
  private static func rules(_ severity: ErrorSeverity) -> String {
    let (color, parts) =
      switch severity {
      case .info: ("#0B57D0", "11,87,208")
      case .warning: ("#7A5200", "122,82,0")
      case .error, .critical: ("#B3261E", "179,38,30")
      }
    return """
      .\(text(severity)){color:\(color)}
      .\(tint(severity)){background:rgba(\(parts),0.1)}

      """
  }
}
