import BridgeAccount
import BridgeErrors
import Foundation
import Testing

@Suite struct CanaryTests {
  static let canary = "hunter2-canary"

  @Test func aSecretIsInNoTextOfItsOwners() throws {
    let login = LoginRequest(email: "ann@example.com", password: Secret(Self.canary))
    let session = AuthResponse(user: .init(id: "u"), token: Secret(Self.canary))
    var state = AuthFlowState()
    state.password = Secret(Self.canary)
    state.session = session
    var form = LoginState()
    form.password = Secret(Self.canary)
    for value in [login, session, state, form] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      for text in ["\(value)", String(reflecting: value), dumped] {
        #expect(!text.contains(Self.canary), "\(text)")
      }
    }
  }

  @Test func aSecretGoesOverTheWire() throws {
    let login = LoginRequest(email: "ann@example.com", password: Secret(Self.canary))
    let data = try JSONEncoder().encode(login)
    #expect(String(decoding: data, as: UTF8.self).contains(Self.canary))
    #expect(try JSONDecoder().decode(LoginRequest.self, from: data) == login)
  }

  @Test func whatTheBackendSaysIsNeverShown() async {
    let said = "No user found with email ann@example.com at 192.168.1.100"
    for (status, code) in [(401, nil), (422, "user_already_exists"), (500, "x"), (429, nil)]
      as [(Int, String?)]
    {
      let error = AuthClientError(status: status, code: code, message: said)
      for flow in AuthFlow.allCases {
        let text = AuthErrorMapper.message(for: error, flow: flow)
        #expect(!text.contains("ann@") && !text.contains("192.168"))
      }
    }
  }
}
