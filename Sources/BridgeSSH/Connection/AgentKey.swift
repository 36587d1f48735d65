struct AgentKey: Sendable, Equatable {
  let blob: [UInt8]
  func sign(_ data: [UInt8]) -> [UInt8]? { nil }
}
extension SSHConnection {
  func askAgent(at path: String, plan: inout AuthenticationPlan) async -> Answer { .notAvailable }
  func offerKeyFile(_ path: String) async throws(BridgeErrors.SSHFailure) -> Answer {
    let user = configuration.user
    return try await answer(isHelped: false) {
      $0.authenticate(user: user, keyFile: path, passphrase: nil)
    }
  }
}
import BridgeErrors
