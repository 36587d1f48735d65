/// The login form on its own, over a backend (S3-52…S3-66).
public actor LoginModel {
  /// The current state.
  public private(set) var state = LoginState() {
    didSet { if state != oldValue { observers.publish(state) } }
  }

  private let service: any AccountService
  private let onReauth: @Sendable () async -> Void
  private var observers = StateObservers<LoginState>()

  /// A form that asks `service`; `onReauth` is the host page's way to a fresh sign-in (S3-66).
  public init(
    service: any AccountService, onReauth: @escaping @Sendable () async -> Void = {}
  ) {
    self.service = service
    self.onReauth = onReauth
  }

  /// Takes over what was typed.
  public func update(_ edit: @Sendable (inout LoginState) -> Void) {
    edit(&state)
  }

  /// Checks the form and signs in. Does nothing while a request is under way.
  public func login() async {
    guard !state.isLoading else { return }
    state.clearError()
    guard state.isValid() else { return }
    state.isLoading = true
    let request = LoginRequest(email: state.email, password: state.password)
    do {
      state.session = try await service.login(request)
    } catch {
      state.show(error)
    }
    state.isLoading = false
  }

  /// The alert's "Retry" (S3-65).
  public func retryLogin() async {
    await login()
  }

  /// The alert's "Log In Again" (S3-66).
  public func reauthenticate() async {
    state.clearError()
    await onReauth()
  }

  /// The alert's "OK".
  public func clearError() {
    state.clearError()
  }

  /// Every state from now on, the current one first. A slow reader sees the newest only.
  public func states() -> AsyncStream<LoginState> {
    observers.add(startingWith: state)
  }
}
