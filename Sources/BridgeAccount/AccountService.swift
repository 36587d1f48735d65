public import BridgeErrors

/// The body of a sign-in request (S3-51).
public struct LoginRequest: Codable, Sendable, Equatable {
  /// The account's e-mail address.
  public var email: String
  /// The account's password.
  public var password: Secret

  /// A request to sign in as `email`.
  public init(email: String, password: Secret) {
    self.email = email
    self.password = password
  }
}

/// The body of a sign-up request (S3-51).
public struct RegisterRequest: Codable, Sendable, Equatable {
  /// The new account's e-mail address.
  public var email: String
  /// The new account's password.
  public var password: Secret

  /// A request to sign up as `email`.
  public init(email: String, password: Secret) {
    self.email = email
    self.password = password
  }
}

/// A session, as both routes answer it (S4-02): `user` and `token` are required.
public struct AuthResponse: Codable, Sendable, Equatable {
  /// The signed-in user.
  public struct User: Codable, Sendable, Equatable {
    /// The backend's id of the account.
    public var id: String

    /// The account `id`.
    public init(id: String) {
      self.id = id
    }
  }

  /// The signed-in user.
  public var user: User
  /// The bearer token of the session.
  public var token: Secret

  /// A session of `user`.
  public init(user: User, token: Secret) {
    self.user = user
    self.token = token
  }
}

/// The backend of the account, as the models see it. Errors of any type may come; the models map
/// them.
public protocol AccountService: Sendable {
  /// Signs in.
  func login(_ request: LoginRequest) async throws -> AuthResponse
  /// Signs up.
  func register(_ request: RegisterRequest) async throws -> AuthResponse
  /// Has a code sent to `email`.
  func requestReset(email: String) async throws
  /// Exchanges the code sent to `email` for a new password.
  func confirmReset(email: String, code: Secret, newPassword: Secret) async throws
}
