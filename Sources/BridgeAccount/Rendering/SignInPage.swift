import BridgeErrors

/// The screens of the account flow as HTML that works without a script (S2-26…S2-46): labels
/// before their inputs, one heading, the error below the fields and announced at once, targets of
/// 44 pixels, colours of at least 4.5:1.
///
/// A form is posted to the page's own address with the fields `email`, `password`,
/// `confirmPassword`, `code`, `consent` (`true`); the other buttons post `navigate` (`choice`,
/// `login`, `signup`, `resetRequest`) or `dismiss` (`true`). No secret of the state is in the
/// page: what was typed into such a field has to be typed again.
///
/// `AuthFlowState.canSubmit` looks at what the host knows; what is typed into a page is not there
/// yet. So a field is `required`, which keeps a form with an empty one in the browser (S0-52), and
/// the button is off only while a request is under way.
public enum SignInPage {
  /// A page of its own: the fragment of `render(_:)` in the smallest document.
  public static func document(_ state: AuthFlowState) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <title>\(SignInScreen(state).title)</title>
    </head>
    <body style="margin:0;background:#FFFFFF;color:#1F1F1F;font-family:system-ui,sans-serif">
    \(render(state))</body>
    </html>

    """
  }

  /// The screen of `state`, for the inside of a page with a white background.
  public static func render(_ state: AuthFlowState) -> String {
    let screen = SignInScreen(state)
    var html = """
      <main class="bridge-sign-in" data-screen="\(name(of: state.navigationState))" \
      aria-labelledby="\(AuthIdentifier.title)" \
      style="max-width:24rem;margin:0 auto;padding:16px">
      <h1 \(identified(AuthIdentifier.title))>\(screen.title)</h1>

      """
    if let lead = screen.lead { html += "<p class=\"bridge-lead\">\(lead)</p>\n" }
    let said = message(state.slot)
    html += screen.submit.map { form(screen, submit: $0, said, state.isLoading) } ?? said
    if !said.isEmpty { html += dismiss }
    return html + navigation(screen.links) + "</main>\n"
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
      <button \(identified(AuthIdentifier.submit)) type="submit" class="bridge-primary"\
      \(isLoading ? " disabled" : "") style="\(WebStyle.target)">\(submit)</button>
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
    let color = WebStyle.Color(severity)
    return """
      <p \(identified(id)) role="\(role)" \
      style="color:\(color.text);background:\(color.tint);padding:8px">\(text)</p>

      """
  }

  private static let dismiss = """
    <form method="post"><button \(identified("auth_dismiss")) type="submit" name="dismiss" \
    value="true" aria-label="Dismiss" style="\(WebStyle.target)">✕</button></form>

    """

  private static func navigation(_ links: [SignInScreen.Link]) -> String {
    var html = "<form method=\"post\" class=\"bridge-navigation\">\n"
    for link in links {
      let hint = link.hint.map { " title=\"\($0)\"" } ?? ""
      let label = link.sign == nil ? "" : " aria-label=\"\(link.label)\""
      html += """
        <button \(identified(link.id)) type="submit" name="navigate" value="\(link.target)"\
        \(hint)\(label) style="\(WebStyle.target)">\(link.sign ?? link.label)</button>

        """
    }
    return html + "</form>\n"
  }

  /// The identifier, for pages and for tests.
  static func identified(_ id: String) -> String {
    "id=\"\(id)\" data-testid=\"\(id)\""
  }
}
