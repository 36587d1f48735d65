import BridgeErrors
import BridgeWaiting

/// A caller that has shown its token.
struct Visitor: Sendable, Hashable {
  /// The name of the token.
  var name: String
  var access: ConsoleToken.Access
  /// The number of its login; nil where it shows its token with each request.
  var login: Int?
}

/// The tokens, and the browsers that have shown one.
final class Sessions: Sendable {
  private struct Login {
    var number: Int
    var secret: Secret
    var name: String
    var access: ConsoleToken.Access
    var end: ContinuousClock.Instant
  }

  private struct State {
    var tokens: [ConsoleToken]
    var logins: [Login] = []
    var lastNumber = 0
    var attempts: AttemptLimit
    var refused = 0
  }

  private let limits: ConsoleLimits
  private let now: @Sendable () -> ContinuousClock.Instant
  private let state: Mutex<State>

  init(
    _ tokens: [ConsoleToken], _ limits: ConsoleLimits,
    now: @escaping @Sendable () -> ContinuousClock.Instant
  ) {
    (self.limits, self.now) = (limits, now)
    state = Mutex(State(tokens: tokens, attempts: AttemptLimit(limits.attempts)))
  }

  /// How often a token was shown that is none.
  var refused: Int { state.withLock { $0.refused } }

  /// The caller that shows this token.
  func visitor(
    withToken token: [UInt8], from address: String
  ) throws(RequestRefusal) -> Visitor {
    let now = now()
    return try state.withLock { state throws(RequestRefusal) in
      if let wait = state.attempts.wait(of: address, at: now) {
        throw RequestRefusal(429, "Too many attempts: wait \(wait) s.", retryAfter: wait)
      }
      // All of them, so that the time does not tell which is like it.
      let found = state.tokens.filter { $0.secret.equals(token) }
      guard let token = found.first else {
        state.attempts.fail(address, at: now)
        state.refused += 1
        throw RequestRefusal(401, "This token opens nothing here.")
      }
      return Visitor(name: token.name, access: token.access)
    }
  }

  /// Logs a caller in; returns the value of its cookie.
  func logIn(_ visitor: Visitor) -> String {
    let (text, now) = (ConsoleToken.newSecret(), now())
    state.withLock { state in
      state.logins.removeAll { $0.end <= now }
      if state.logins.count >= limits.sessions { state.logins.removeFirst() }
      state.lastNumber += 1
      state.logins.append(
        Login(
          number: state.lastNumber, secret: Secret(text), name: visitor.name,
          access: visitor.access, end: now + limits.login))
    }
    return text
  }

  /// The caller with this cookie; nil where its login is over.
  func visitor(withCookie cookie: String) -> Visitor? {
    let (bytes, now) = (Array(cookie.utf8), now())
    return state.withLock { state in
      let found = state.logins.filter { $0.secret.equals(bytes) && $0.end > now }
      return found.first.map { Visitor(name: $0.name, access: $0.access, login: $0.number) }
    }
  }

  /// Whether a caller may still read.
  func isValid(_ visitor: Visitor) -> Bool {
    let now = now()
    return state.withLock { state in
      guard let login = visitor.login else {
        return state.tokens.contains { $0.name == visitor.name }
      }
      return state.logins.contains { $0.number == login && $0.end > now }
    }
  }

  func logOut(_ visitor: Visitor) {
    state.withLock { state in state.logins.removeAll { $0.number == visitor.login } }
  }

  /// Removes a token, and ends all that it has opened.
  func revoke(_ name: String) {
    state.withLock { state in
      state.tokens.removeAll { $0.name == name }
      state.logins.removeAll { $0.name == name }
    }
  }
}
