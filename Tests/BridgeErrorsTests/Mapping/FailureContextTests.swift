import BridgeErrors
import Foundation
import Testing

@Suite("What travels beside an error")
struct FailureContextTests {
  @Test func theNativeSideIsKeptAndEscaped() {
    let failure = SSHFailure(
      code: -43, message: "broken\u{1B}[2J", phase: .stream, host: "h", port: 22,
      socket: .failed(errno: ECONNRESET), disconnectReason: 11)
    let context = FailureContext(sshFailure: failure)
    #expect(
      context.native
        == NativeFailure(
          library: .libssh2, code: -43, symbol: "SOCKET_RECV", text: "broken\\x1b[2J",
          socket: .failed(errno: ECONNRESET)))
    #expect(context.disconnectReason == 11)
    #expect(context.retryAfter == nil)
  }

  @Test func withoutALibraryCodeTheSystemOrTheResolverSpoke() {
    let dial = SSHFailure(code: 0, message: "", phase: .dial, host: "h")
    #expect(FailureContext(sshFailure: dial).native?.library == .system)
    let name = SSHFailure(code: 0, message: "", phase: .resolve, host: "h")
    #expect(FailureContext(sshFailure: name).native?.library == .resolver)
  }

  static let details: [(SSHFailure.Observation, String?)] = [
    (.notSSH(seen: "x", location: "http://p/"), "http://p/"),
    (.notSSH(seen: "x", location: "http://p/a?ticket=1"), "http://p/a?…"),
    (.notSSH(seen: "x", location: nil), nil),
    (.algorithmMismatch(detail: "a"), "a"), (.hostKeyChanged(detail: "b"), "b"),
    (.hostKeyRevoked(detail: "r"), "r"),
    (.hostKeyNewType(fingerprint: "f", detail: "b\u{1B}"), "b\\x1b"),
    (.keyUnusable(reason: "c"), "c"), (.agentUnavailable(reason: "d\n"), "d "),
    (.outputLost(detail: "e\n"), "e "), (.versionLineTooLong(line: "f"), "f"),
    (.deadline, nil), (.hostKeyUnknown(fingerprint: "f"), nil),
    (.hostKeyUnknown(fingerprint: "f", doubt: "file:3: \u{1B}"), "file:3: \\x1b"),
  ]

  @Test func theDetailIsWhatSharpensTheHint() {
    for (seen, detail) in Self.details {
      let failure = SSHFailure(
        code: 0, message: "", phase: .authenticate, host: "h", observation: seen)
      #expect(FailureContext(sshFailure: failure).detail == detail)
    }
  }

  /// A server that was never reached turns no address away, however often the program ends.
  @Test func theEndOfAProxyCommandIsNotTheServers() throws {
    var failure = SSHFailure(
      code: -13, message: "", phase: .banner, host: "h", socket: .endOfFile)
    let hint = { (failure: SSHFailure) in
      var context = FailureContext(sshFailure: failure)
      context.repeats = 7
      return try #require(AppError(sshError: failure).hint(in: context))
    }
    #expect(try hint(failure).contains("fail2ban"))
    failure.proxyEnding = "the ProxyCommand ended with status 255"
    #expect(try !hint(failure).contains("fail2ban"))
    #expect(try hint(failure).contains("never have been reached"))
  }

  /// With jump hosts there are several users and hosts.
  @Test func aRefusedLoginNamesItsUserAndHost() throws {
    let failure = SSHFailure(
      code: -18, message: "", phase: .authenticate, host: "jump", user: "ann\u{1B}")
    let hint = try #require(
      AppError(sshError: failure).hint(in: FailureContext(sshFailure: failure)))
    #expect(hint.hasPrefix("jump does not accept ann\\x1b with this key or password"))
  }

  @Test func everyCodeOfTheLibraryHasItsName() throws {
    // libssh2.h has a number for each of 0…-49.
    let symbols = (0...49).map { SSHFailure.Code(rawValue: -$0).symbol }
    #expect(symbols.allSatisfy { !$0.isEmpty })
    #expect(Set(symbols).count == 50)
    #expect(SSHFailure.Code(rawValue: -5).symbol == "KEX_FAILURE")
    #expect(SSHFailure.Code(rawValue: -37).symbol == "EAGAIN")
    #expect(SSHFailure.Code(rawValue: -43).symbol == "SOCKET_RECV")
    #expect(SSHFailure.Code(rawValue: -49).symbol == "RANDGEN")
    #expect(SSHFailure.Code(rawValue: -50).symbol.isEmpty)
    #expect(SSHFailure.Code(rawValue: 1).symbol.isEmpty)
  }
}
