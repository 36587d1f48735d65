public import BridgeErrors

/// All that a screen of the account flow shows, and every decision about it: a value, so that a
/// test needs no service and no clock.
public struct AuthFlowState: Sendable, Equatable {
  /// The screen.
  public var navigationState: AuthNavigationState = .choice
  /// The typed text.
  public var email = ""
  /// The typed text.
  public var password: Secret = ""
  /// The repeated password.
  public var confirmPassword: Secret = ""
  /// The code of a reset.
  public var code: Secret = ""
  /// The one general message.
  public var slot = AuthSlot.empty
  /// The host's errors of single fields; each is shown below its own (S3-81).
  public var fieldErrors: [AuthField: String] = [:]
  /// Whether requests can be sent.
  public var networkStatus = NetworkStatus.online
  /// Whether a request is under way.
  public var isLoading = false
  /// The signed-in user.
  public var session: AuthResponse?

  /// The first screen, with nothing typed.
  public init() {}

  /// The error of the slot. Setting it takes a banner away.
  public var errorMessage: String? {
    get {
      guard case .error(let message) = slot else { return nil }
      return message
    }
    set { slot = newValue.map(AuthSlot.error) ?? .empty }
  }

  /// The banner of the slot. Setting it takes an error away.
  public var statusBanner: AuthBanner? {
    get {
      guard case .status(let banner) = slot else { return nil }
      return banner
    }
    set { slot = newValue.map(AuthSlot.status) ?? .empty }
  }

  /// Whether every field of the screen has something in it and nothing is under way (S0-52).
  public var canSubmit: Bool {
    !isLoading && hasEveryField
  }

  private var hasEveryField: Bool {
    switch navigationState {
    case .choice: false
    case .login: !email.isEmpty && !password.isEmpty
    case .signup: !email.isEmpty && !password.isEmpty && !confirmPassword.isEmpty
    case .resetRequest: !email.isEmpty
    case .resetVerify: !code.isEmpty && !password.isEmpty
    }
  }

  /// The request of a submitted form to the backend.
  enum Request: Sendable, Equatable {
    case login(LoginRequest)
    case register(RegisterRequest)
    case resetRequest(email: String)
    case confirmReset(email: String, code: Secret, newPassword: Secret)
  }

  /// The checks of `submit()`, in the order mismatch, consent, address, offline (G-21). What is
  /// wrong goes into the slot; an empty field says nothing of its own.
  mutating func submitted() -> Request? {
    clearMessages()
    if case .signup(let consentAccepted) = navigationState, !agrees(consentAccepted) { return nil }
    if asksForEmail, let message = CredentialRules.flow.violation(email: email, password: password)
    {
      errorMessage = message
      return nil
    }
    if networkStatus == .offline {
      statusBanner = AuthBanner(type: .info, message: FlowText.offline)
      return nil
    }
    return canSubmit ? request : nil
  }

  private var asksForEmail: Bool {
    switch navigationState {
    case .login, .signup, .resetRequest: true
    case .choice, .resetVerify: false
    }
  }

  private var request: Request? {
    switch navigationState {
    case .choice: nil
    case .login: .login(LoginRequest(email: email, password: password))
    case .signup: .register(RegisterRequest(email: email, password: password))
    case .resetRequest: .resetRequest(email: email)
    case .resetVerify(let pendingEmail):
      .confirmReset(email: pendingEmail, code: code, newPassword: password)
    }
  }

  /// The two checks that only a signup has: equal passwords, then the terms (S0-54).
  mutating func agrees(_ consentAccepted: Bool) -> Bool {
    if password != confirmPassword {
      errorMessage = FlowText.passwordMismatch
    } else if !consentAccepted {
      errorMessage = FlowText.consentMissing
    }
    return errorMessage == nil
  }

  /// Takes every message away.
  mutating func clearMessages() {
    slot = .empty
    fieldErrors = [:]
  }

  /// Navigates to `screen` and clears the messages of the old one (S0-61).
  mutating func navigate(to screen: AuthNavigationState) {
    clearMessages()
    isLoading = false
    if screen == .choice {
      (email, password, confirmPassword, code) = ("", "", "", "")
    }
    navigationState = screen
  }

  /// Puts what went wrong in `flow` where it belongs: single fields below theirs, the rest into
  /// the slot. A cancellation says nothing.
  mutating func show(_ error: any Error, in flow: AuthFlow) {
    guard !Cancellation.caused(error) else { return }
    if let error = error as? AuthClientError, AuthErrorMapper.map(error).clearsSession {
      session = nil
    }
    for row in (error as? APIFailure)?.validationErrors ?? [] {
      if let field = AuthField(requestField: row.field) { fieldErrors[field] = row.message }
    }
    if fieldErrors.isEmpty {
      errorMessage = AuthErrorMapper.message(for: error, flow: flow)
    }
  }
}

extension AuthField {
  /// The field that a host's validation error names.
  init?(requestField name: String) {
    switch name {
    case "email": self = .email
    case "password", "newPassword": self = .password
    case "confirmPassword": self = .confirmPassword
    default: return nil
    }
  }
}
