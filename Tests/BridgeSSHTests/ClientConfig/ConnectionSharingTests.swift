import BridgeErrors
import BridgeSSH
import Testing

/// ControlMaster, ControlPath and ControlPersist.
struct ConnectionSharingTests {
  private func resolve(_ text: String) throws(AppError) -> ClientConfig {
    try ClientConfigTests().resolve(text)
  }

  @Test func aConnectionIsSharedAsTheFirstLinesSay() throws {
    let sharing = try resolve(
      """
      ControlMaster auto
      ControlMaster no
      ControlPath ~/%h-%p
      ControlPath /late
      ControlPersist 10m
      """
    ).sharing
    #expect((sharing.master, sharing.path) == (.auto, "/home/ann/web-22"))
    #expect(sharing.persistence == .limited(.seconds(600)))
    #expect(sharing.usesOthers && sharing.isShared)
  }

  @Test(
    arguments: [
      ("", .none), ("no", .none), ("false", .none), ("yes", .forever), ("true", .forever),
      ("0", .forever), ("90", .limited(.seconds(90))), ("1h", .limited(.seconds(3600))),
    ] as [(String, ConnectionSharing.Persistence)])
  func theTimeWithoutASessionIs(_ text: String, _ time: ConnectionSharing.Persistence) throws {
    let line = text.isEmpty ? "" : "ControlPersist \(text)"
    #expect(try resolve(line).sharing.persistence == time)
  }

  /// One that a person is to agree to is not shared; one that another program shares so is used.
  @Test(
    arguments: [
      ("no", true, false), ("yes", false, true), ("auto", true, true), ("ask", false, false),
      ("autoask", true, false), ("TRUE", false, true),
    ])
  func aRunSharesOrUsesOne(_ text: String, _ uses: Bool, _ shares: Bool) throws {
    let sharing = try resolve("ControlMaster \(text)\nControlPath /c").sharing
    #expect((sharing.usesOthers, sharing.isShared) == (uses, shares))
    let without = try resolve("ControlMaster \(text)\nControlPath none").sharing
    #expect((without.usesOthers, without.isShared) == (false, false))
  }

  @Test(
    arguments: [
      "ControlMaster maybe", "ControlPersist soon", "ControlPath ${UNSET}/x", "ControlPath /%q",
    ])
  func aConnectionCannotBeSharedSo(_ line: String) throws {
    #expect(throws: AppError.self) { try resolve(line) }
  }
}
