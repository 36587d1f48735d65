import BridgeSession
import BridgeSessionProtocol
import Foundation
import Testing

@Suite("Where bridge-host is installed, in every shell") struct InstallScriptTests {
  private static let shells = [
    "/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh", "/usr/bin/fish", "/bin/tcsh", "/bin/csh",
  ].filter { FileManager.default.isExecutableFile(atPath: $0) }

  private static let marker = AnswerMarker(Identifier(high: 1, low: 2))

  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "place \(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  private func probe(
    _ shell: String, home: URL, shared: String, length: Int = 0
  ) throws -> InstallAnswer {
    let script = InstallScript.probe("digest", length: length, shared: shared)
    let (output, _) = try ShortProcess.run(
      [shell, "-c", InstallScript.command(script, marker: Self.marker)],
      environment: ["HOME": home.path, "PATH": "/usr/bin:/bin"])
    var answer = InstallAnswer(marker: Self.marker)
    answer.append(Array(output.utf8))
    return answer
  }

  @Test(arguments: shells) func theHomeDirectoryIsTheFirstPlace(shell: String) throws {
    try withFolder { folder in
      let answer = try probe(shell, home: folder, shared: "/nowhere")
      #expect(answer["place"] == "\(folder.path)/.local/lib/bridge/bin")
      #expect(answer["machine"]?.hasPrefix("Linux ") == true)
      #expect(answer["have"] == nil)
      let left = try FileManager.default.contentsOfDirectory(atPath: answer["place"] ?? "/")
      #expect(left.isEmpty)
    }
  }

  @Test(arguments: shells) func aHomeThatHoldsNothingIsPassedOver(shell: String) throws {
    let shared = NSTemporaryDirectory() + "/shared-\(UUID())"
    try FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: shared) }
    try withFolder { folder in
      let home = folder.appending(path: "file")
      try Data().write(to: home)
      let own = "\(shared)/bridge-\(getuid())"
      #expect(try probe(shell, home: home, shared: shared)["place"] == "\(own)/bin")
      // Open to others it is not used: what is executed there would not be this user's.
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: own)
      let open = try probe(shell, home: home, shared: shared)
      #expect(open["place"] == nil)
      #expect(open.all("unwritable").contains { $0.contains("not a directory of this user only") })
    }
  }

  @Test(arguments: shells) func aDiskWithTooLittleSpaceIsPassedOver(shell: String) throws {
    try withFolder { folder in
      let answer = try probe(shell, home: folder, shared: "/nowhere", length: 1 << 60)
      #expect(answer["place"] == nil)
      #expect(answer.all("unwritable").contains { $0.hasSuffix("KiB are free") })
      let has = try probe(shell, home: folder, shared: "/nowhere", length: 1 << 20)
      #expect(has["place"] != nil)
    }
  }

  @Test func startUpFilesMayPrintBeforeTheAnswer() {
    var answer = InstallAnswer(marker: Self.marker)
    for _ in 0..<100 { answer.append([UInt8](repeating: 0x2E, count: 4096)) }
    let marker = Self.marker.text
    answer.append(Array("ok false\n\(marker.prefix(7))".utf8))
    answer.append(Array("\(marker.dropFirst(7))ok 7\nremoved a b\nremoved c\n".utf8))
    #expect(answer["ok"] == "7")
    #expect(answer.all("removed") == ["a b", "c"])
  }
}
