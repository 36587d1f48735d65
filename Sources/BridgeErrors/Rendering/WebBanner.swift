#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An error as an HTML fragment: announced at once (`role="alert"`), a button for every option, a
/// dismiss button with a name, colors of at least 4.5:1 on their own tint (WCAG 2.1 AA, G-48). The
/// page needs `WebStyle.sheet`.
///
/// Several may stand on one page: only a presented error has an `id`, which is its own. A button
/// carries `data-kind` and, for a presented error, `data-error-id`: what a page sends back
/// to the host. Nothing in the fragment runs by itself.
public enum WebBanner {
  /// The fragment of a presented error.
  public static func render(_ error: PresentedError) -> String {
    render(BannerContent(error), caseName: error.error.caseName, id: error.id)
  }

  /// The fragment of an error without a supervisor.
  public static func render(_ error: AppError) -> String {
    render(BannerContent(error), caseName: error.caseName, id: nil)
  }

  /// `text` for the inside of an element or of a quoted attribute: control characters escaped as
  /// everywhere, and `&`, `<`, `>`, `"`, `'` as character references.
  public static func escaped(_ text: String, limit: Int = PeerText.limit) -> String {
    if PeerText.isPlain(text.utf8, limit: limit, { reference($0) == nil }) { return text }
    let safe = PeerText.escaped(text, limit: limit)
    var result: [UInt8] = []
    result.reserveCapacity(safe.utf8.count + 32)
    for byte in safe.utf8 {
      if let reference = reference(byte) {
        result += reference.utf8
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func reference(_ byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "&"): "&amp;"
    case UInt8(ascii: "<"): "&lt;"
    case UInt8(ascii: ">"): "&gt;"
    case UInt8(ascii: "\""): "&quot;"
    case UInt8(ascii: "'"): "&#39;"
    default: nil
    }
  }

  private static func render(_ content: BannerContent, caseName: String, id: UUID?) -> String {
    let reference = id.map { " data-error-id=\"\($0.uuidString)\"" } ?? ""
    let name = id.map { " id=\"bridge-error-\($0.uuidString)\"" } ?? ""
    var html = """
      <section class="bridge-banner \(WebStyle.tint(content.severity))" role="alert"\(name) \
      data-case="\(caseName)" data-severity="\(content.severity.name)"\(reference)>
      <header class="\(WebStyle.text(content.severity))">\
      <span aria-hidden="true" data-icon="\(content.icon)">\
      \(Glyph(icon: content.icon).unicode)</span>\
      <h2>\(escaped(content.title))\(place(content))</h2>\
      <span class="bridge-severity">\(content.severity.name)</span>\
      <button type="button" class="\(WebStyle.target)" data-kind="dismiss"\(reference) \
      data-icon="xmark" aria-label="Dismiss">✕</button></header>
      <p class="bridge-error-message">Error: \(escaped(content.message))</p>

      """
    if let hint = content.hint(with: content.command.map { "`\($0)`" }) {
      html += "<p class=\"bridge-hint\">\(escaped(hint))</p>\n"
    }
    if let plan = content.plan {
      html += "<p class=\"bridge-plan\">\(escaped(plan))</p>\n"
    }
    html += "<div class=\"bridge-options\">"
    for option in content.options { html += button(option, reference) }
    return html + "</div>\n</section>\n"
  }

  private static func place(_ content: BannerContent) -> String {
    let source = content.source.map { " (\(escaped($0)))" } ?? ""
    return content.count > 1 ? source + " ×\(content.count)" : source
  }

  private static func button(_ option: ErrorRecoveryOption, _ reference: String) -> String {
    """
    <button type="button" class="bridge-\(option.style.rawValue) \(WebStyle.target)" \
    data-kind="\(option.kind.rawValue)"\(reference) \
    data-icon="\(escaped(option.icon, limit: 64))">\(escaped(option.title, limit: 64))</button>
    """
  }
}
