import BridgeErrors
import Testing

/// A secret planted everywhere comes out nowhere.
@Suite("No text of an error holds a secret")
struct CanaryTests {
  static let plants = [
    "password=CANARY", "login failed, password: CANARY", "mysql --password CANARY",
    "Authorization: Bearer CANARY.x-1", "Bearer CANARY-0123456789", "?token=CANARY&x=1",
    "{\"token\": \"CANARY\"}", "api_key=CANARY", "https://user:CANARY@host.example/path",
    "https://CANARY@host.example", "curl -u user:CANARY host", "ghp_CANARY0123456789abcdef",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nCANARY\n-----END OPENSSH PRIVATE KEY-----",
    "mail to CANARY@example.org failed", "passphrase='CANARY two'",
  ]

  @Test(arguments: plants)
  func ofAnErrorOfAnotherLibrary(_ plant: String) {
    for error in errors(carrying: plant) {
      for text in texts(of: error) {
        #expect(!text.contains("CANARY"), "\(error.caseName): \(text)")
      }
    }
  }

  @Test(arguments: plants)
  func ofAFailureThatAPeerCaused(_ plant: String) {
    for failure in failures(carrying: plant) {
      let (error, context) = (failure.error, failure.context)
      for text in texts(of: error, context) {
        #expect(!text.contains("CANARY"), "\(error.caseName) \(failure.kind as Any): \(text)")
      }
    }
  }

  @Test func everyCaseWithTextIsPlanted() {
    let planted = Set(errors(carrying: "x").map(\.caseName))
    for error in ErrorCatalogue.examples where "\(error)".contains("<") {
      #expect(planted.contains(error.caseName))
    }
  }
}
