import BridgeErrors
import BridgeTestKit
import Foundation
import Testing

@testable import BridgeConsole

@Suite("The page lets in who has a token", .timeLimit(.minutes(2))) struct LoginTests {
  @Test func beforeTheLoginThereIsTheEmptyPageAndNothingElse() async throws {
    try await withWorld(ConsoleWorld()) { world in
      for route in ConsoleRoute.allCases where !route.isPost {
        let reply = try await world.get(route.path)
        let isOpen = route.audience == .all
        // Its run has not begun.
        let open = route == .health ? 503 : 200
        #expect(reply.status == (isOpen ? open : 401), "\(route.path)")
        if !isOpen { #expect(reply.body == #"{"error":"Log in first."}"#) }
      }
      for path in ["/api/approvals/a/1/decide", "/api/problems/x/choose", "/logout", "/nothing"] {
        #expect(try await world.post(path, "{}").status == 401, "\(path)")
      }
      for path in [
        "/nothing", "/index.html", "/../etc/passwd", "//api/state", "/api/state/",
        "/console.js/../api/state", "/%2e%2e/api/state", "/API/STATE",
      ] {
        #expect(try await world.get(path).status == 401, "\(path)")
      }
      let page = try await world.get("/")
      #expect(!page.body.contains("a-host"))
    }
  }

  @Test func everyAnswerIsProtected() async throws {
    try await withWorld(ConsoleWorld()) { world in
      for path in ["/", "/console.js", "/api/state", "/nothing", "/healthz"] {
        let reply = try await world.get(path)
        let policy = reply.headers["content-security-policy"] ?? ""
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"), "\(path)")
        #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
        #expect(reply.headers["x-content-type-options"] == "nosniff")
        #expect(reply.headers["cache-control"] == "no-store")
        #expect(reply.headers["referrer-policy"] == "no-referrer")
        #expect(reply.headers["x-frame-options"] == "DENY")
        #expect(reply.headers["access-control-allow-origin"] == nil)
      }
    }
  }

  @Test func aTokenIsExchangedForACookie() async throws {
    try await withWorld(ConsoleWorld()) { world in
      let reply = try await world.post(
        "/login", #"{"token":"\#(ConsoleWorld.text(world.writer))"}"#)
      #expect(reply.status == 200 && reply.body == #"{"access":"write","name":"ada"}"#)
      let cookie = try #require(reply.headers["set-cookie"])
      #expect(cookie.hasPrefix("__Host-bridge-\(world.console.port ?? 0)="))
      for part in ["Path=/", "Secure", "HttpOnly", "SameSite=Strict"] {
        #expect(cookie.contains("; \(part)"))
      }
      #expect(!cookie.contains(ConsoleWorld.text(world.writer)))
      let field = "Cookie: \(cookie.split(separator: ";")[0])"
      #expect(try await world.state(field).reader == "ada")
      #expect(try await world.post("/logout", "{}", [field]).status == 200)
      #expect(try await world.get("/api/state", [field]).status == 401)
    }
  }

  @Test func aTokenInTheAddressOpensNothing() async throws {
    try await withWorld(ConsoleWorld()) { world in
      let token = ConsoleWorld.text(world.writer)
      let reply = try await world.get("/api/state?token=\(token)", ["Referer: http://x/#\(token)"])
      #expect(reply.status == 401)
      let cookie = "Cookie: __Host-bridge-\(world.console.port ?? 0)=\(token)"
      #expect(try await world.get("/api/state", [cookie]).status == 401)
    }
  }

  @Test func attemptsAreLimitedAndALoginStays() async throws {
    let still = ContinuousClock.now
    try await withWorld(ConsoleWorld(ConsoleLimits(attempts: 3), instant: { still })) { world in
      let cookie = try await world.logIn(world.writer)
      var statuses: [Int] = []
      for _ in 0..<3 {
        statuses.append(try await world.post("/login", #"{"token":"wrong"}"#).status)
      }
      let last = try await world.post("/login", #"{"token":"wrong"}"#)
      #expect(statuses == [401, 401, 401] && last.status == 429)
      #expect(last.headers["retry-after"].flatMap { Int($0) } != nil)
      #expect(try await world.get("/metrics", [world.bearer(world.writer)]).status == 429)
      #expect(try await world.get("/api/state", [cookie]).status == 200)
    }
  }

  /// Another person's page would be shown what this one types.
  @Test func aForeignPageLogsInNoBrowser() async throws {
    try await withWorld(ConsoleWorld()) { world in
      let body = #"{"token":"\#(ConsoleWorld.text(world.writer))"}"#
      for origin in ["http://evil.example", "null", "http://localhost:1"] {
        let reply = try await world.post("/login", body, from: origin)
        #expect(reply.status == 403 && reply.headers["set-cookie"] == nil, "\(origin)")
      }
      let fields = ["Content-Type: text/plain"].flatMap { ["-H", $0] }
      let plain = try await Curl.call(
        ["-H", "Origin: \(world.origin)"] + fields + [world.origin + "/login"], body: body)
      #expect(plain.status == 415)
      let without = try await Curl.call(
        ["-H", "Content-Type: application/json", world.origin + "/login"], body: body)
      #expect(without.status == 403)
    }
  }

  @Test func overTLSTheSameHolds() async throws {
    try await withWorld(ConsoleWorld(tls: true)) { world in
      #expect(world.console.address(for: world.writer)?.hasPrefix("https://localhost:") == true)
      #expect(try await world.get("/").status == 200)
      let cookie = try await world.logIn(world.writer)
      #expect(try await world.state(cookie).reader == "ada")
      // The origin has another scheme.
      let plain = world.origin.replacing("https", with: "http")
      #expect(try await world.post("/logout", "{}", [cookie], from: plain).status == 403)
      let http = try await Curl.call([plain + "/"])
      #expect(http.status != 200)
    }
  }

  @Test func aCertificateThatIsNoneIsNamed() async throws {
    let token = ConsoleToken(name: "ada", access: .write)
    let world = try await ConsoleWorld()
    try await withWorld(world) { world in
      let configuration = ConsoleConfiguration(
        address: "0.0.0.0", tls: .init(certificates: "/nonexistent", key: "/nonexistent"),
        tokens: [token])
      let console = try Console(configuration, of: world.host, keptIn: world.store)
      let error = await #expect(throws: AppError.self) {
        try await ConsoleService(console).run()
      }
      guard case .validationError("tls", _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }
}
