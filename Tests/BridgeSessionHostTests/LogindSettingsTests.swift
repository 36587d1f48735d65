import Foundation
import Testing

@testable import BridgeSessionHost

/// Whether a user's processes end at logout, as logind and its files say.
@Suite struct LogindSettingsTests {
  /// A root directory with these files of logind.
  private func settings(_ files: [String: String]) throws -> LogindSettings {
    let root = FileManager.default.temporaryDirectory.appending(path: "logind-\(UUID())")
    defer { try? FileManager.default.removeItem(at: root) }
    for (name, text) in files {
      let file = root.appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    return LogindSettings(filesBelow: root.path)
  }

  @Test(arguments: [
    ("1", true), ("yes", true), ("Y", true), ("true", true), ("t", true), ("ON", true),
    ("0", false), ("no", false), ("n", false), ("False", false), ("f", false), ("off", false),
  ])
  func everySpellingOfABooleanIsRead(word: String, expected: Bool) throws {
    let text = "[Login]\n KillUserProcesses = \(word) \n"
    #expect(try settings(["etc/systemd/logind.conf": text]).ends("me") == expected)
  }

  @Test(arguments: ["etc", "run", "usr/local/lib", "usr/lib"])
  func aDropInOverrulesTheFile(folder: String) throws {
    let found = try settings([
      "etc/systemd/logind.conf": "[Login]\nKillUserProcesses=no\n",
      "\(folder)/systemd/logind.conf.d/50-site.conf": "[Login]\nKillUserProcesses=yes\n",
    ])
    #expect(found.ends("me") == true)
  }

  @Test func dropInsCountInTheOrderOfTheirNamesAndTheAdministratorsHidesTheVendors() throws {
    let found = try settings([
      "usr/lib/systemd/logind.conf.d/90-vendor.conf": "[Login]\nKillUserProcesses=yes\n",
      "etc/systemd/logind.conf.d/90-vendor.conf": "",
      "etc/systemd/logind.conf.d/20-on.conf": "[Login]\nKillUserProcesses=on\n",
      "run/systemd/logind.conf.d/30-off.conf": "[Login]\nKillUserProcesses=off\n",
    ])
    #expect(found.ends("me") == false)
  }

  @Test func whatIsNotSaidIsNotKnown() throws {
    #expect(try settings([:]).ends("me") == nil)
    let other = "[Manager]\nKillUserProcesses=yes\n[Login]\nKillUserProcesses=perhaps\n"
    #expect(try settings(["etc/systemd/logind.conf": other]).ends("me") == nil)
  }

  /// The file of a distribution shows what logind was compiled with.
  @Test func theCommentOfTheFileIsTheDefault() throws {
    let text = "[Login]\n#KillUserProcesses=yes\n#KillExcludeUsers=root\n"
    #expect(try settings(["usr/lib/systemd/logind.conf": text]).ends("me") == true)
  }

  @Test func usersMayBeExempt() throws {
    let kills = "[Login]\nKillUserProcesses=yes\n"
    let file = "etc/systemd/logind.conf"
    #expect(try settings([file: kills]).ends("root") == false)
    #expect(try settings([file: kills + "KillExcludeUsers=\n"]).ends("root") == true)
    #expect(try settings([file: kills + "KillExcludeUsers=a me\n"]).ends("me") == false)
    #expect(try settings([file: kills + "KillOnlyUsers=a b\n"]).ends("me") == false)
    #expect(try settings([file: kills + "KillOnlyUsers=a me\n"]).ends("me") == true)
  }

  @Test func theAnswerOfLogindIsRead() {
    let answer = LogindSettings(properties: "b true\nas 0\nas 2 \"root\" \"me\"\n")
    #expect(answer?.ends("other") == true && answer?.ends("me") == false)
    #expect(LogindSettings(properties: "b false\nas 0\nas 1 \"root\"\n")?.ends("me") == false)
    #expect(LogindSettings(properties: "Failed to connect to bus\n") == nil)
  }
}
