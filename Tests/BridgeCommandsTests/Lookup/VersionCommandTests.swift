import BridgeCommands
import Testing

@Suite("The versions that are printed") struct VersionCommandTests {
  @Test func aBuildOfAnArchiveNamesItsCommit() throws {
    let hash = "33e58861" + String(repeating: "a", count: 32)
    let stamp = try #require(BuildStamp(commit: hash, date: "2026-11-27"))
    let names = VersionCommand.versions(stamp).prefix(3).map { "\($0) \($1)" }
    #expect(
      names == ["bridgectl \(VersionCommand.current)", "commit 33e58861aaaa", "date 2026-11-27"])
  }

  @Test func aBuildInACheckoutNamesNone() {
    #expect(BuildStamp(commit: "$Format:%H$", date: "$Format:%cs$") == nil)
    #expect(!VersionCommand.versions(nil).contains { $0.0 == "commit" || $0.0 == "date" })
  }
}
