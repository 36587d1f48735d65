import BridgeAgentHost
import BridgeErrors
import BridgeSupervision
import BridgeTestKit
import Foundation
import Testing

@testable import BridgeConsole

/// Each of them with the cookie of a person who is logged in.
@Suite("Attacks are refused", .timeLimit(.minutes(2))) struct AttackTests {
  private static let question = "/api/approvals/a/1/decide"
  private static let answer = #"{"option":"yes"}"#

  @Test func anotherPageOfTheBrowserDecidesNothing() async throws {
    let world = try await ConsoleWorld()
    try await withWorld(world) { world in
      let approvals = ApprovalSample.approvals()
      try await approvals.request(ApprovalSample.request(of: "a"))
      world.console.show(approvals, of: "a")
      let cookie = try await world.logIn(world.writer)
      for origin in ["http://evil.example", "null", "http://localhost:3000", world.origin + "0"] {
        let reply = try await world.post(Self.question, Self.answer, [cookie], from: origin)
        #expect(reply.status == 403, "\(origin)")
      }
      // Without an origin, as an old browser sends a form.
      let bare = try await Curl.call(
        ["-H", cookie, "-H", "Content-Type: application/json", world.origin + Self.question],
        body: Self.answer)
      #expect(bare.status == 403)
      for site in ["cross-site", "same-site"] {
        let fields = [cookie, "Sec-Fetch-Site: \(site)"]
        #expect(try await world.post(Self.question, Self.answer, fields).status == 403)
        #expect(try await world.get("/api/state", fields).status == 403)
        #expect(try await world.get("/api/events", fields).status == 403)
      }
      #expect(try await world.get("/api/state", [cookie, "Origin: null"]).status == 403)
      #expect(await approvals.pending.count == 1)
      #expect(try await world.post(Self.question, Self.answer, [cookie]).status == 200)
    }
  }

  @Test func aNameThatLeadsHereByATrickIsRefused() async throws {
    try await withWorld(ConsoleWorld()) { world in
      let cookie = try await world.logIn(world.writer)
      let port = world.console.port ?? 0
      for host in ["evil.example:\(port)", "evil.example", "localhost.", "0.0.0.0:\(port)"] {
        for path in ["/", "/healthz", "/api/state"] {
          let reply = try await world.get(path, ["Host: \(host)", cookie])
          #expect(reply.status == 421, "\(host)\(path)")
        }
        // What a proxy says counts as little as what a client says.
        let fields = ["Host: \(host)", "X-Forwarded-Host: localhost:\(port)", cookie]
        #expect(try await world.get("/api/state", fields).status == 421)
      }
      #expect(try await world.get("/", ["Host:"]).status != 200)
    }
  }

  @Test func aTokenToViewWritesNothing() async throws {
    let world = try await ConsoleWorld()
    try await withWorld(world) { world in
      let approvals = ApprovalSample.approvals()
      try await approvals.request(ApprovalSample.request(of: "a"))
      world.console.show(approvals, of: "a")
      await world.supervisor.report(.agentBusy, source: "x")
      let id = try #require(await world.supervisor.shown?.id)
      let cookie = try await world.logIn(world.viewer)
      for field in [cookie, world.bearer(world.viewer)] {
        #expect(try await world.post(Self.question, Self.answer, [field]).status == 403)
        let choice = try await world.post(
          "/api/problems/\(id)/choose", #"{"option":"dismiss"}"#, [field])
        #expect(choice.status == 403)
        #expect(try await world.state(field).access == .view)
      }
      #expect(await approvals.pending.count == 1)
      #expect(await world.supervisor.shown?.id == id)
    }
  }

  @Test func bodiesAndFieldsAreBounded() async throws {
    try await withWorld(ConsoleWorld()) { world in
      let cookie = try await world.logIn(world.writer)
      let long = String(repeating: "x", count: 64 << 10)
      let body = #"{"option":"\#(long)"}"#
      #expect(try await world.post("/login", #"{"token":"\#(long)"}"#).status == 413)
      #expect(try await world.post(Self.question, body, [cookie]).status == 413)
      // Without a length, in chunks.
      let fields = [cookie, "Transfer-Encoding: chunked"]
      #expect(try await world.post("/api/problems/a/choose", body, fields).status == 413)
      let huge = "X-Long: " + String(repeating: "x", count: 20 << 10)
      let refused = try await world.get("/", [huge])
      #expect(refused.status != 200)
      let many = (0..<200).map { "X-\($0): 1" }
      #expect(try await world.get("/", many).status != 200)
      #expect(try await world.get("/").status == 200)
    }
  }

  @Test(arguments: [
    "", "{", "null", "[]", "{}", #"{"option":7}"#, #"{"option":"nothing"}"#, "\u{0}",
    String(repeating: "[", count: 60_000),
  ])
  func whatIsNoChoiceIsRefused(_ body: String) async throws {
    try await withWorld(ConsoleWorld()) { world in
      let cookie = try await world.logIn(world.writer)
      let reply = try await world.post("/api/problems/\(UUID())/choose", body, [cookie])
      #expect(reply.status == 400)
    }
  }

  @Test func theStreamOfARevokedTokenEnds() async throws {
    try await withWorld(ConsoleWorld()) { world in
      let cookie = try await world.logIn(world.writer)
      let stream = try world.stream([cookie])
      try await eventually { stream.text.contains("event: state") }
      world.console.revoke(tokenNamed: "ada")
      await stream.wait()
      #expect(stream.text.hasSuffix("event: loggedOut\ndata: {}\n\n"))
      #expect(try await world.get("/api/events", [cookie]).status == 401)
    }
  }
}
