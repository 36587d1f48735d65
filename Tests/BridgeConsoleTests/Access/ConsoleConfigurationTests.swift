import BridgeErrors
import Testing

@testable import BridgeConsole

@Suite("What would expose the page is refused") struct ConsoleConfigurationTests {
  private static let token = ConsoleToken(name: "ada", access: .write)

  private func field(_ change: (inout ConsoleConfiguration) -> Void) -> String? {
    var configuration = ConsoleConfiguration(port: 8080, tokens: [Self.token])
    change(&configuration)
    do throws(AppError) {
      try configuration.verify()
      return nil
    } catch {
      guard case .validationError(let field, _) = error else { return "\(error)" }
      return field
    }
  }

  @Test func loopbackNeedsATokenOnly() {
    #expect(field { _ in } == nil)
    #expect(field { $0.address = "::1" } == nil)
    #expect(field { $0.tokens = [] } == "tokens")
    #expect(field { $0.tokens.append(ConsoleToken(name: "ada", access: .view)) } == "tokens")
  }

  @Test(arguments: ["0.0.0.0", "::", "192.168.1.5", "example.org", "", "127.0.0.1.example.org"])
  func elsewhereNothingGoesWithoutTLS(_ address: String) {
    #expect(field { $0.address = address } == "address")
    let tls = ConsoleConfiguration.TLS(certificates: "c", key: "k")
    #expect(field { ($0.address, $0.tls) = (address, tls) } == nil)
    #expect(field { ($0.address, $0.tls, $0.tokens) = (address, tls, []) } == "tokens")
  }

  @Test func badPortsAndOriginsAreNamed() {
    #expect(field { $0.port = -1 } == "port")
    #expect(field { $0.port = 65536 } == "port")
    #expect(field { $0.origins = ["console.example.org"] } == "origins")
  }
}
