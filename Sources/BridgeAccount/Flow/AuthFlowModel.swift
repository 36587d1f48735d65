/// The account flow: choice, login, signup and reset, over a backend.
///
/// Decisions are `AuthFlowState`'s; this actor calls the backend and publishes every new state.
public actor AuthFlowModel {
  /// The current state.
  public private(set) var state = AuthFlowState() {
    didSet { if state != oldValue { observers.publish(state) } }
  }

  private let service: any AccountService
  private var visit = 0
  private var observers = StateObservers<AuthFlowState>()

  /// A flow that asks `service`.
  public init(service: any AccountService) {
    self.service = service
  }

  /// Takes over what was typed or chosen: `edit` changes fields of the state.
  public func update(_ edit: @Sendable (inout AuthFlowState) -> Void) {
    edit(&state)
  }

  /// Says whether requests can be sent.
  public func updateNetworkStatus(_ status: NetworkStatus) {
    state.networkStatus = status
  }

  /// Back to the first screen; everything typed and said is cleared (S2-28).
  public func navigateToChoice() { navigate(to: .choice) }

  /// To the login.
  public func navigateToLogin() { navigate(to: .login) }

  /// To the signup, with the terms not accepted.
  public func navigateToSignup() { navigate(to: .signup(consentAccepted: false)) }

  /// To the request of a reset code.
  public func navigateToResetRequest() { navigate(to: .resetRequest) }

  /// Takes the message away; nothing else does so by itself, no timer either (S0-62).
  public func dismiss() {
    state.clearMessages()
  }

  /// Checks the form and, where it is valid, calls the backend. Does nothing while a
  /// request is under way.
  public func submit() async {
    guard !state.isLoading, let request = state.submitted() else { return }
    await perform(request)
  }

  /// Signs in with what was typed, without checking it (G-21).
  public func performLogin() async {
    await perform(.login(LoginRequest(email: state.email, password: state.password)))
  }

  /// Signs up with what was typed; only the passwords' equality and the terms are checked (G-21).
  public func performSignup(consentAccepted: Bool) async {
    state.clearMessages()
    guard state.agrees(consentAccepted) else { return }
    await perform(.register(RegisterRequest(email: state.email, password: state.password)))
  }

  /// Every state from now on, the current one first. A slow reader sees the newest only.
  public func states() -> AsyncStream<AuthFlowState> {
    observers.add(startingWith: state)
  }

  private func navigate(to screen: AuthNavigationState) {
    visit += 1
    state.navigate(to: screen)
  }

  /// Asks the backend and shows what it says, unless the person has gone elsewhere meanwhile.
  private func perform(_ request: AuthFlowState.Request) async {
    let asked = visit
    state.clearMessages()
    state.isLoading = true
    do {
      let session = try await answer(to: request)
      guard asked == visit else { return }
      state.isLoading = false
      finish(request, session: session)
    } catch {
      guard asked == visit else { return }
      state.isLoading = false
      state.show(error, in: request.flow)
    }
  }

  private func answer(to request: AuthFlowState.Request) async throws -> AuthResponse? {
    switch request {
    case .login(let request):
      return try await service.login(request)
    case .register(let request):
      return try await service.register(request)
    case .resetRequest(let email):
      try await service.requestReset(email: email)
    case .confirmReset(let email, let code, let newPassword):
      try await service.confirmReset(email: email, code: code, newPassword: newPassword)
    }
    return nil
  }

  private func finish(_ request: AuthFlowState.Request, session: AuthResponse?) {
    switch request {
    case .login, .register:
      state.session = session
      (state.password, state.confirmPassword) = ("", "")
    case .resetRequest(let email):
      navigate(to: .resetVerify(pendingEmail: email))
    case .confirmReset:
      (state.password, state.code) = ("", "")
      navigate(to: .login)
    }
  }
}

extension AuthFlowState.Request {
  var flow: AuthFlow {
    switch self {
    case .login: .login
    case .register: .signup
    case .resetRequest, .confirmReset: .reset
    }
  }
}
