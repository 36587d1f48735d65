public import BridgeErrors
import BridgeURLErrors

/// Whatever carries a request to the host: posts `body` as JSON to `path` and decodes the answer.
///
/// It keeps HTTP out of this module; BridgeHTTP's client has this very method.
public protocol AccountCarrier: Sendable {
  /// The host's answer. Throws `APIFailure`, or anything the carrier has.
  func post<Body: Encodable & Sendable, Answer: Decodable & Sendable>(
    _ path: String, body: Body
  ) async throws -> Answer
}

/// The account of our own host (S3-46…S3-51).
public struct HostAccountService: AccountService {
  private let carrier: any AccountCarrier

  /// The account of the host that `carrier` reaches.
  public init(carrier: any AccountCarrier) {
    self.carrier = carrier
  }

  /// Signs in. Throws `AuthError` where the host's answer names one, else what the carrier threw.
  public func login(_ request: LoginRequest) async throws -> AuthResponse {
    do {
      return try await carrier.post("/api/auth/login", body: request)
    } catch {
      throw Self.map(error, flow: .login)
    }
  }

  /// Signs up. Throws `AuthError` where the host's answer names one, else what the carrier threw.
  public func register(_ request: RegisterRequest) async throws -> AuthResponse {
    do {
      return try await carrier.post("/api/auth/register", body: request)
    } catch {
      throw Self.map(error, flow: .signup)
    }
  }

  /// Has a code sent to `email`.
  public func requestReset(email: String) async throws {
    do {
      let _: NoContent = try await carrier.post("/api/auth/reset", body: ResetRequest(email: email))
    } catch {
      throw Self.map(error, flow: .reset)
    }
  }

  /// Exchanges the code sent to `email` for a new password.
  public func confirmReset(email: String, code: Secret, newPassword: Secret) async throws {
    let request = ResetRequest(email: email, code: code, newPassword: newPassword)
    do {
      let _: NoContent = try await carrier.post("/api/auth/reset/confirm", body: request)
    } catch {
      throw Self.map(error, flow: .reset)
    }
  }

  /// Maps an answer of the host to an error of the account (S3-46…S3-50, G-17): a bare 403 on a
  /// sign-in says no more than wrong credentials; a locked account, a taken address and a limit
  /// need their code. Anything else passes through.
  public static func map(_ error: any Error, flow: AuthFlow) -> any Error {
    let code = (error as? APIFailure)?.code
    switch (flow, code, APIError(wrapping: error)) {
    case (_, "TOO_MANY_AUTH_ATTEMPTS", _): return AuthError.tooManyAttempts
    case (.login, "ACCOUNT_LOCKED", .forbidden): return AuthError.accountLocked
    case (.login, _, .unauthorized), (.login, _, .forbidden): return AuthError.invalidCredentials
    case (.signup, "USER_EXISTS", _): return AuthError.emailAlreadyExists
    default: return error
    }
  }
}

/// The body of a reset request: first without, then with the code and the new password.
private struct ResetRequest: Encodable, Sendable {
  var email: String
  var code: Secret?
  var newPassword: Secret?
}
