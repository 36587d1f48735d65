import BridgeErrors
import BridgeWaiting
import Testing

@testable import BridgeConsole

@Suite("Tokens and logins") struct SessionsTests {
  private let clock = Mutex(ContinuousClock.now)
  private let token = ConsoleToken(name: "ada", access: .write)

  private func sessions(_ limits: ConsoleLimits = ConsoleLimits()) -> Sessions {
    Sessions([ConsoleToken(name: "eve", access: .view), token], limits) { [clock] in
      clock.withLock { $0 }
    }
  }

  private func bytes(_ token: ConsoleToken) -> [UInt8] { token.secret.reveal { $0 } }

  @Test func aTokenHas32RandomBytesAndIsNeverPrinted() throws {
    let text = String(decoding: bytes(token), as: UTF8.self)
    #expect(text.count == 64)
    #expect(text != String(decoding: bytes(ConsoleToken(name: "a", access: .view)), as: UTF8.self))
    var dumped = ""
    dump(token, to: &dumped)
    for shown in ["\(token)", String(reflecting: token), dumped, "\(sessions())"] {
      #expect(!shown.contains(text) && !shown.contains(text.prefix(8)))
    }
  }

  @Test(arguments: ["", "secret", String(repeating: "a", count: 42)])
  func aShortSecretIsRefused(_ text: String) {
    #expect(throws: AppError.self) {
      try ConsoleToken(name: "a", access: .view, secret: Secret(text))
    }
  }

  @Test func aSecretOfOtherCharactersIsRefused() throws {
    let good = String(repeating: "a-_9Z", count: 9)
    _ = try ConsoleToken(name: "a", access: .view, secret: Secret(good))
    #expect(throws: AppError.self) {
      try ConsoleToken(name: "a", access: .view, secret: Secret(good + "#"))
    }
  }

  @Test func equalBytesAreEqual() {
    let secret = Secret("abc")
    #expect(secret.equals(Array("abc".utf8)))
    for other in ["", "ab", "abcd", "abd", "abc\0"] {
      #expect(!secret.equals(Array(other.utf8)), "\(other)")
    }
  }

  @Test func aTokenIsExchangedForALogin() throws {
    let sessions = sessions()
    let visitor = try sessions.visitor(withToken: bytes(token), from: "::1")
    #expect(visitor == Visitor(name: "ada", access: .write))
    let cookie = sessions.logIn(visitor)
    #expect(cookie != String(decoding: bytes(token), as: UTF8.self))
    let reader = try #require(sessions.visitor(withCookie: cookie))
    #expect(reader.name == "ada" && reader.access == .write && sessions.isValid(reader))
    #expect(sessions.visitor(withCookie: "") == nil)
    #expect(sessions.visitor(withCookie: String(cookie.dropLast())) == nil)
    sessions.logOut(reader)
    #expect(!sessions.isValid(reader) && sessions.visitor(withCookie: cookie) == nil)
  }

  @Test func aLoginEndsByItself() throws {
    let sessions = sessions(ConsoleLimits(login: .seconds(60)))
    let cookie = sessions.logIn(Visitor(name: "ada", access: .write))
    clock.withLock { $0 += .seconds(59) }
    let reader = try #require(sessions.visitor(withCookie: cookie))
    clock.withLock { $0 += .seconds(1) }
    #expect(sessions.visitor(withCookie: cookie) == nil && !sessions.isValid(reader))
  }

  @Test func oneLoginTooManyEndsTheOldest() {
    let sessions = sessions(ConsoleLimits(sessions: 2))
    let cookies = (0..<3).map { _ in sessions.logIn(Visitor(name: "ada", access: .write)) }
    #expect(cookies.map { sessions.visitor(withCookie: $0) == nil } == [true, false, false])
  }

  @Test func aRevokedTokenOpensNothingAndEndsItsLogins() throws {
    let sessions = sessions()
    let shown = try sessions.visitor(withToken: bytes(token), from: "::1")
    let cookie = sessions.logIn(shown)
    let other = sessions.logIn(Visitor(name: "eve", access: .view))
    sessions.revoke("ada")
    #expect(!sessions.isValid(shown) && sessions.visitor(withCookie: cookie) == nil)
    #expect(sessions.visitor(withCookie: other) != nil)
    #expect(throws: RequestRefusal.self) {
      try sessions.visitor(withToken: bytes(token), from: "::1")
    }
  }

  @Test func attemptsOfAnAddressAreLimited() throws {
    let sessions = sessions(ConsoleLimits(attempts: 3))
    let statuses = (0..<5).map { _ in
      do throws(RequestRefusal) {
        _ = try sessions.visitor(withToken: [1], from: "10.0.0.1")
        return 200
      } catch {
        return error.status
      }
    }
    #expect(statuses == [401, 401, 401, 429, 429])
    #expect(sessions.refused == 3)
    // The right one as well: the answer must not tell which it is.
    #expect(throws: RequestRefusal.self) {
      try sessions.visitor(withToken: bytes(token), from: "10.0.0.1")
    }
    _ = try sessions.visitor(withToken: bytes(token), from: "10.0.0.2")
    clock.withLock { $0 += .seconds(7) }
    _ = try sessions.visitor(withToken: bytes(token), from: "10.0.0.1")
  }

  @Test func addressesThatAreRememberedAreBounded() {
    var limit = AttemptLimit(1)
    let start = ContinuousClock.now
    for number in 0...AttemptLimit.addresses {
      limit.fail("\(number)", at: start + .milliseconds(number))
    }
    let end = start + .milliseconds(AttemptLimit.addresses)
    #expect(limit.wait(of: "0", at: end) == nil)
    #expect(limit.wait(of: "1", at: end) != nil)
  }

  @Test func aCookieIsReadOnce() {
    let cookie = Cookie(port: 8080)
    #expect(cookie.value(in: ["a=b; __Host-bridge-8080=x"]) == "x")
    #expect(cookie.value(in: ["a=b", "__Host-bridge-8080=x"]) == "x")
    #expect(cookie.value(in: ["__Host-bridge-8080=x; __Host-bridge-8080=y"]) == nil)
    #expect(cookie.value(in: ["__Host-bridge-80=x; bridge-8080=y"]) == nil)
    let header = cookie.header("x", lasting: .seconds(60))
    for part in ["Path=/", "Secure", "HttpOnly", "SameSite=Strict", "Max-Age=60"] {
      #expect(header.contains("; \(part)"))
    }
    #expect(!header.contains("Domain"))
  }
}
