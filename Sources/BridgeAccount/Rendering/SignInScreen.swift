/// The parts of a sign-in screen, in the order in which it is read and tabbed through.
struct SignInScreen {
  var title: String
  var lead: String?
  var fields: [Field] = []
  /// Whether the terms were accepted; nil where they are not asked for.
  var consent: Bool?
  /// The label of the submit button; nil where there is no form.
  var submit: String?
  var links: [Link] = []

  /// A field of the form. It has no place for a secret: what was typed is never sent back.
  struct Field {
    var id: String
    var name: String
    var label: String
    var kind: Kind
    /// The token by which a password manager knows the field (HTML, autofill; S2-05, S2-06).
    var autocomplete: String
    var error: String?
  }

  enum Kind {
    case email(String)
    /// An address that is already settled.
    case settledEmail(String)
    case secret
    case code
  }

  /// A way to another screen.
  struct Link {
    var id: String
    /// The message to the host: `login`, `signup`, `resetRequest`, `choice`.
    var target: String
    var label: String
    /// The accessibility hint (S2-38).
    var hint: String?
    /// A sign in place of the label, which is then only read out (S2-46).
    var sign: String?
  }
}

extension SignInScreen {
  /// The screen of `state`.
  init(_ state: AuthFlowState) {
    switch state.navigationState {
    case .choice: self = Self.choice
    case .login: self = Self.login(state)
    case .signup(let consentAccepted): self = Self.signup(state, consentAccepted)
    case .resetRequest: self = Self.resetRequest(state)
    case .resetVerify(let pendingEmail): self = Self.resetVerify(state, pendingEmail)
    }
  }

  private static let choice = SignInScreen(
    title: "Welcome",
    links: [
      Link(
        id: AuthIdentifier.choiceSignIn, target: "login", label: AuthIdentifier.signInLabel,
        hint: AuthIdentifier.signInHint),
      Link(id: AuthIdentifier.choiceSignUp, target: "signup", label: AuthIdentifier.signUpLabel),
    ])

  private static func login(_ state: AuthFlowState) -> SignInScreen {
    SignInScreen(
      title: AuthIdentifier.signInLabel,
      fields: [email(state), secret(.password, "current-password", state)],
      submit: AuthIdentifier.signInLabel,
      links: [
        Link(id: "auth_forgot_password", target: "resetRequest", label: "Forgot Password"), back,
      ])
  }

  private static func signup(_ state: AuthFlowState, _ consent: Bool) -> SignInScreen {
    SignInScreen(
      title: AuthIdentifier.signUpLabel,
      fields: [
        email(state), secret(.password, "new-password", state),
        secret(.confirmPassword, "new-password", state),
      ],
      consent: consent, submit: AuthIdentifier.signUpLabel, links: [back])
  }

  private static func resetRequest(_ state: AuthFlowState) -> SignInScreen {
    SignInScreen(
      title: "Reset Password", lead: "We send a code to your email.", fields: [email(state)],
      submit: "Send Code", links: [back])
  }

  /// The address is on the screen, so that a password manager knows whose password is new.
  private static func resetVerify(_ state: AuthFlowState, _ email: String) -> SignInScreen {
    SignInScreen(
      title: "Enter Code", lead: "If the account exists, its code is in your email.",
      fields: [
        Field(.email, .settledEmail(email), "username", state),
        Field(
          id: AuthIdentifier.code, name: "code", label: "Code", kind: .code,
          autocomplete: "one-time-code"),
        secret(.password, "new-password", state),
      ],
      submit: "Set Password", links: [back])
  }

  private static func email(_ state: AuthFlowState) -> Field {
    Field(.email, .email(state.email), "username", state)
  }

  private static func secret(
    _ field: AuthField, _ autocomplete: String, _ state: AuthFlowState
  ) -> Field {
    Field(field, .secret, autocomplete, state)
  }

  private static let back = Link(id: "auth_back", target: "choice", label: "Back", sign: "←")
}

extension SignInScreen.Field {
  init(
    _ field: AuthField, _ kind: SignInScreen.Kind, _ autocomplete: String, _ state: AuthFlowState
  ) {
    let name =
      switch field {
      case .email: "email"
      case .password: "password"
      case .confirmPassword: "confirmPassword"
      }
    self.init(
      id: field.rawValue, name: name, label: field.label, kind: kind, autocomplete: autocomplete,
      error: state.fieldErrors[field])
  }

  /// Whether a person types into it.
  var isTyped: Bool {
    switch kind {
    case .settledEmail: false
    case .email, .secret, .code: true
    }
  }
}
