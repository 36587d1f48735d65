import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

@testable import BridgeConsole

@Suite("People decide about host keys on the page", .timeLimit(.minutes(2))) struct HostKeyTests {
  private struct Decided: Decodable {
    var result: String
    var text: String
  }

  @Test func theFirstAnswerCounts() async throws {
    try await MachineWorld.with { world in
      let page = world.page
      async let dial: Void = world.machine.connect()
      try await eventually { page.state.hostKeys.count == 1 }
      let cookie = try await page.logIn(page.writer)
      let hostKey = try #require(try await page.state(cookie).hostKeys.first)
      #expect(hostKey.host == "build (127.0.0.1:\(world.server.port))")
      #expect(hostKey.finding == .unknown && hostKey.detail == nil && hostKey.keyType == "ED25519")
      let path = "/api/host-keys/\(hostKey.number)/decide"
      // None of these decides.
      let viewer = try await page.logIn(page.viewer)
      #expect(try await page.post(path, #"{"trusts":true}"#, [viewer]).status == 403)
      #expect(try await page.post(path, #"{"trusts":true}"#, []).status == 401)
      #expect(
        try await page.post(path, #"{"trusts":true}"#, [cookie], from: "http://x").status == 403)
      for body in ["{}", #"{"trusts":"yes"}"#, #"{"trusts":1}"#, "", "[]"] {
        #expect(try await page.post(path, body, [cookie]).status == 400, "\(body)")
      }
      for number in ["0", "99", "-1", "x", "9999999999999999999999"] {
        let reply = try await page.post(
          "/api/host-keys/\(number)/decide", #"{"trusts":true}"#, [cookie])
        #expect(reply.status == 404, "\(number)")
      }
      #expect(page.state.hostKeys.count == 1)
      let first = try await page.post(path, #"{"trusts":true}"#, [cookie])
      #expect(first.status == 200)
      #expect(try first.value(as: Decided.self).text == "Decided: trusted")
      try await dial
      let second = try await page.post(path, #"{"trusts":false}"#, [cookie])
      #expect(second.status == 409)
      let late = try second.value(as: Decided.self)
      #expect(late.result == "alreadyDecided" && late.text == "Already decided: trusted (ada)")
      try await eventually { page.state.hostKeys.isEmpty && world.link()?.state == .up }
      #expect(try world.known == [await world.key])
    }
  }

  @Test func aRefusedKeyIsAnErrorThatAPersonMayRetry() async throws {
    try await MachineWorld.with { world in
      let page = world.page
      let dial = Task { try await world.machine.connect() }
      try await eventually { page.state.hostKeys.count == 1 }
      let cookie = try await page.logIn(page.writer)
      let number = page.state.hostKeys[0].number
      _ = try await page.post(
        "/api/host-keys/\(number)/decide", #"{"trusts":false}"#, [cookie])
      _ = await dial.result
      try await eventually { page.state.problems.first?.needsPerson == true }
      #expect(page.state.hostKeys.isEmpty)
      let problem = try #require(page.state.problems.first)
      let option = try #require(problem.options.first { ["retry", "reconnect"].contains($0.kind) })
      let reply = try await page.post(
        "/api/problems/\(problem.id)/choose", #"{"option":"\#(option.kind)"}"#, [cookie])
      #expect(reply.status == 200)
      try await eventually { page.state.hostKeys.count == 1 }
      #expect(page.state.hostKeys[0].number != number)
    }
  }
}
