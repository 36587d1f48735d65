import BridgeAccount
import BridgeErrors

/// A backend that answers as scripted and counts.
actor ScriptedAccount: AccountService {
  static let session = AuthResponse(user: .init(id: "u-1"), token: "token-of-ann")

  private var failure: (any Error)?
  private(set) var calls: [String] = []
  private var gate: CheckedContinuation<Void, Never>?
  private var onWaiting: CheckedContinuation<Void, Never>?
  private var waits: Bool

  init(failure: (any Error)? = nil, waits: Bool = false) {
    self.failure = failure
    self.waits = waits
  }

  func fail(with error: (any Error)?) { failure = error }

  /// Returns when a call is waiting.
  func isAsked() async {
    guard gate == nil else { return }
    await withCheckedContinuation { onWaiting = $0 }
  }

  /// Lets the waiting call go on.
  func release() {
    waits = false
    gate?.resume()
    gate = nil
  }

  func login(_ request: LoginRequest) async throws -> AuthResponse { try await answer("login") }

  func register(_ request: RegisterRequest) async throws -> AuthResponse {
    try await answer("register")
  }

  func requestReset(email: String) async throws { _ = try await answer("requestReset") }

  func confirmReset(email: String, code: Secret, newPassword: Secret) async throws {
    _ = try await answer("confirmReset")
  }

  private func answer(_ call: String) async throws -> AuthResponse {
    calls.append(call)
    if waits {
      await withCheckedContinuation { caller in
        gate = caller
        onWaiting?.resume()
        onWaiting = nil
      }
    }
    if let failure { throw failure }
    return Self.session
  }
}
