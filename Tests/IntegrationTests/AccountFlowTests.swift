public import BridgeAccount
import BridgeErrors
import BridgeFaults
public import BridgeHTTP
import Foundation
import Testing

extension HTTPClient: AccountCarrier {}

/// The whole way of an account error: a host's envelope, over HTTP, into the words below the form.
@Suite struct AccountFlowTests {
  private static let session = #"{"user":{"id":"u-1"},"token":"t-1"}"#

  private static func script(_ status: Int, _ body: String) -> PeerScript {
    let head = "HTTP/1.1 \(status) Said\r\nConnection: close\r\nContent-Length: \(body.utf8.count)"
    return [.readUntil("}"), .send(head + "\r\n\r\n" + body), .finish]
  }

  private static func script(failing error: any Error) throws -> PeerScript {
    let out = ErrorEnvelope.outgoing(for: error, correlationHeader: nil, route: .account)
    let body = try JSONEncoder.apiEncoder.encode(out.envelope)
    return script(out.status, String(decoding: body, as: UTF8.self))
  }

  private func model(of peer: ScriptedTCPPeer, on screen: AuthNavigationState) async throws
    -> AuthFlowModel
  {
    let url = try #require(URL(string: "http://127.0.0.1:\(peer.port)"))
    let model = AuthFlowModel(service: HostAccountService(carrier: HTTPClient(baseURL: url)))
    await model.update {
      $0.navigationState = screen
      $0.email = "ann@example.com"
      $0.password = "password123"
      $0.confirmPassword = "password123"
    }
    return model
  }

  @Test(arguments: [AuthNavigationState.login, .signup(consentAccepted: true)])
  func aSessionComesBack(screen: AuthNavigationState) async throws {
    let peer = try await ScriptedTCPPeer(Self.script(200, Self.session))
    let model = try await model(of: peer, on: screen)
    await model.submit()
    #expect(await model.state.session == AuthResponse(user: .init(id: "u-1"), token: "t-1"))
    #expect(await model.state.slot == .empty)
    let sent = String(decoding: await peer.received[0], as: UTF8.self)
    let path = screen == .login ? "/api/auth/login" : "/api/auth/register"
    #expect(sent.hasPrefix("POST \(path) HTTP/1.1\r\n"))
    #expect(sent.hasSuffix(#"{"email":"ann@example.com","password":"password123"}"#))
    await peer.stop()
  }

  static let refusals: [(AuthNavigationState, any Error, String)] = [
    (.login, AuthError.invalidCredentials, "That email or password looks incorrect"),
    (.login, AuthError.accountLocked, "That email or password looks incorrect"),
    (
      .login, AuthError.rateLimited,
      "Too many login attempts. Please wait before trying again."
    ),
    (
      .signup(consentAccepted: true), AuthError.duplicateEmail,
      "An account with this email already exists."
    ),
    (
      .login, AppError.databaseError(operation: "read", detail: "10.0.0.7 is down"),
      "Something went wrong. Please try again."
    ),
    (.login, SecureError.authenticationFailed, "That email or password looks incorrect"),
  ]

  @Test(arguments: refusals.indices)
  func aRefusalIsSaidInTheFlowsWords(index: Int) async throws {
    let (screen, error, expected) = Self.refusals[index]
    let peer = try await ScriptedTCPPeer(Self.script(failing: error))
    let model = try await model(of: peer, on: screen)
    await model.submit()
    #expect(await model.state.errorMessage == expected)
    #expect(await model.state.session == nil)
    await peer.stop()
  }

  @Test func aHostThatIsGoneIsANetworkFault() async throws {
    let peer = try await ScriptedTCPPeer([])
    let model = try await model(of: peer, on: .login)
    await peer.stop()
    await model.submit()
    #expect(
      await model.state.errorMessage
        == "We can't reach the server. Check your connection and try again.")
  }

  @Test func anExpiredTokenAsksToSignInAgain() async throws {
    let peer = try await ScriptedTCPPeer([
      .readUntil("\r\n\r\n"),
      .send("HTTP/1.1 401 Said\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), .finish,
    ])
    let url = try #require(URL(string: "http://127.0.0.1:\(peer.port)"))
    let failure = await #expect(throws: APIFailure.self) {
      let _: NoContent = try await HTTPClient(baseURL: url).get("/me")
    }
    #expect(failure?.requiresReauth == true)
    await peer.stop()
  }

  @Test func aFieldErrorOfTheHostStandsBelowItsField() async throws {
    let error = AuthError.weakPassword
    let peer = try await ScriptedTCPPeer(Self.script(failing: error))
    let model = try await model(of: peer, on: .signup(consentAccepted: true))
    await model.submit()
    #expect(await model.state.fieldErrors == [.password: error.localizedDescription])
    await peer.stop()
  }
}
