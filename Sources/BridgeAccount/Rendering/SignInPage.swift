import BridgeErrors

/// The screens of the account flow as HTML that works without a script (S2-26…S2-46): labels
/// before their inputs, one heading, the error below the fields and announced at once, targets of
/// 44 pixels, colors of at least 4.5:1.
///
/// A form is posted to the page's own address with the fields `email`, `password`,
/// `confirmPassword`, `code`, `consent` (`true`); the other buttons post `navigate` (`choice`,
/// `login`, `signup`, `resetRequest`) or `dismiss` (`true`). No secret of the state is in the
/// page: what was typed into such a field has to be typed again.
///
/// `AuthFlowState.canSubmit` looks at what the host knows; what is typed into a page is not there
/// yet. So a field is `required`, which keeps a form with an empty one in the browser (S0-52), and
/// the button is off only while a request is under way.
///
/// Nothing in it is styled where it stands: the page needs `WebStyle.sheet`.
public enum SignInPage {
  /// A field that every form posts back unseen, by which the host knows its own page again (a token
  /// against cross-site request forgery).
  public struct HiddenField: Sendable, Equatable {
    /// The field's name.
    public var name: String
    /// The posted value; it can be read in the page.
    public var value: String

    /// A field of this name.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }

    var html: String {
      let attributes = [("name", name), ("value", value)]
        .map { "\($0)=\"\(WebBanner.escaped($1, limit: 1024))\"" }
      return "<input type=\"hidden\" \(attributes.joined(separator: " "))>\n"
    }
  }

  /// A page of its own: the fragment of `render` in the smallest document, with the style sheet.
  ///
  /// - Parameters:
  ///   - hidden: what every form posts besides.
  ///   - nonce: what the page's Content-Security-Policy allows the style sheet by.
  public static func document(
    _ state: AuthFlowState, hidden: [HiddenField] = [], nonce: String? = nil
  ) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <title>\(SignInScreen(state).title)</title>
    \(WebStyle.element(nonce: nonce))</head>
    <body class="bridge-page">
    \(render(state, hidden: hidden))</body>
    </html>

    """
  }

  /// The screen of `state`, for the inside of a page with a white background and the style sheet.
  ///
  /// - Parameter hidden: what every form posts besides.
  public static func render(_ state: AuthFlowState, hidden: [HiddenField] = []) -> String {
    let unseen = hidden.map(\.html).joined()
    let screen = SignInScreen(state)
    var html = """
      <main class="bridge-sign-in" data-screen="\(name(of: state.navigationState))" \
      aria-labelledby="\(AuthIdentifier.title)">
      <h1 \(identified(AuthIdentifier.title))>\(screen.title)</h1>

      """
    if let lead = screen.lead { html += "<p class=\"bridge-lead\">\(lead)</p>\n" }
    let said = message(state.slot)
    html +=
      screen.submit.map { form(screen, submit: $0, said + unseen, state.isLoading) } ?? said
    if !said.isEmpty { html += dismiss(unseen) }
    return html + navigation(screen.links, unseen) + "</main>\n"
  }

  private static func name(of screen: AuthNavigationState) -> String {
    switch screen {
    case .choice: "choice"
    case .login: "login"
    case .signup: "signup"
    case .resetRequest: "resetRequest"
    case .resetVerify: "resetVerify"
    }
  }

  /// The message stands below the fields and before the button (S0-59), the dismiss button behind
  /// the one that submits: the first button of a form is the one that Return presses.
  private static func form(
    _ screen: SignInScreen, submit: String, _ said: String, _ isLoading: Bool
  ) -> String {
    let typed = screen.fields.indices.filter { screen.fields[$0].isTyped }
    var html = "<form method=\"post\"\(isLoading ? " aria-busy=\"true\"" : "")>\n"
    for index in screen.fields.indices {
      html += SignInField.render(
        screen.fields[index], isFirst: index == typed.first, isLast: index == typed.last)
    }
    if let consent = screen.consent { html += SignInField.consent(isAccepted: consent) }
    return html + said + """
      <button \(identified(AuthIdentifier.submit)) type="submit" \
      class="bridge-primary \(WebStyle.target)"\(isLoading ? " disabled" : "")>\(submit)</button>
      </form>

      """
  }

  private static func message(_ slot: AuthSlot) -> String {
    switch slot {
    case .empty:
      return ""
    case .error(let message):
      let text = "\(AuthIdentifier.errorLabel): \(WebBanner.escaped(message))"
      return paragraph(AuthIdentifier.errorMessage, role: "alert", .error, text)
    case .status(let banner):
      let severity: ErrorSeverity =
        switch banner.type {
        case .info: .info
        }
      let text = WebBanner.escaped(banner.message)
      return paragraph(AuthIdentifier.statusMessage, role: "status", severity, text)
    }
  }

  private static func paragraph(
    _ id: String, role: String, _ severity: ErrorSeverity, _ text: String
  ) -> String {
    """
    <p \(identified(id)) role="\(role)" \
    class="bridge-message \(WebStyle.text(severity)) \(WebStyle.tint(severity))">\(text)</p>

    """
  }

  private static func dismiss(_ unseen: String) -> String {
    """
    <form method="post">\(unseen)<button \(identified("auth_dismiss")) type="submit" \
    class="\(WebStyle.target)" name="dismiss" value="true" aria-label="Dismiss">✕</button></form>

    """
  }

  private static func navigation(_ links: [SignInScreen.Link], _ unseen: String) -> String {
    var html = "<form method=\"post\" class=\"bridge-navigation\">\n\(unseen)"
    for link in links {
      let hint = link.hint.map { " title=\"\($0)\"" } ?? ""
      let label = link.sign == nil ? "" : " aria-label=\"\(link.label)\""
      html += """
        <button \(identified(link.id)) type="submit" class="\(WebStyle.target)" name="navigate" \
        value="\(link.target)"\(hint)\(label)>\(link.sign ?? link.label)</button>

        """
    }
    return html + "</form>\n"
  }

  /// The identifier, for pages and for tests.
  static func identified(_ id: String) -> String {
    "id=\"\(id)\" data-testid=\"\(id)\""
  }
}
