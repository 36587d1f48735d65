import BridgeErrors

/// A field of a sign-in form as HTML: its label, its input, what is wrong with it.
enum SignInField {
  /// `isFirst` has the focus when the page appears, `isLast` sends the form from a soft keyboard;
  /// the others move on to the next (S2-42).
  static func render(_ field: SignInScreen.Field, isFirst: Bool, isLast: Bool) -> String {
    var attributes = [
      SignInPage.identified(field.id), "name=\"\(field.name)\"", kind(of: field),
      "autocomplete=\"\(field.autocomplete)\"",
    ]
    if field.isTyped { attributes.append("required enterkeyhint=\"\(isLast ? "go" : "next")\"") }
    if isFirst { attributes.append("autofocus") }
    if field.error != nil {
      attributes.append("aria-invalid=\"true\" aria-describedby=\"\(field.id)_error\"")
    }
    return """
      <div class="bridge-field"><label for="\(field.id)">\(field.label)</label>
      <input class="\(WebStyle.target)" \(attributes.joined(separator: " "))>
      \(error(of: field))</div>

      """
  }

  /// The box of the terms. It may be left empty: the flow has its own words for that (S0-50).
  static func consent(isAccepted: Bool) -> String {
    """
    <div class="bridge-field"><label class="bridge-consent \(WebStyle.target)" \
    for="\(AuthIdentifier.consent)">I accept the terms.</label>
    <input class="\(WebStyle.target)" \(SignInPage.identified(AuthIdentifier.consent)) \
    name="consent" type="checkbox" value="true"\(isAccepted ? " checked" : "")></div>

    """
  }

  /// The soft keyboard of an address, and nothing that corrects what is typed (S2-07).
  private static func kind(of field: SignInScreen.Field) -> String {
    let verbatim = "autocapitalize=\"none\" autocorrect=\"off\" spellcheck=\"false\""
    switch field.kind {
    case .email(let value):
      return "type=\"email\" inputmode=\"email\" \(verbatim) value=\"\(WebBanner.escaped(value))\""
    case .settledEmail(let value):
      return "type=\"email\" readonly value=\"\(WebBanner.escaped(value))\""
    case .secret:
      return "type=\"password\""
    case .code:
      return "type=\"text\" \(verbatim)"
    }
  }

  private static func error(of field: SignInScreen.Field) -> String {
    guard let error = field.error else { return "" }
    return """
      <p \(SignInPage.identified("\(field.id)_error")) role="alert" \
      class="\(WebStyle.text(.error))">\
      \(AuthIdentifier.errorLabel): \(WebBanner.escaped(error))</p>
      """
  }
}
