import BridgeSession
import BridgeSessionProtocol
import Foundation
import Testing

@Suite("Where bridge-host is installed, in every shell") struct InstallScriptTests {
  private static let shells = [
    "/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh", "/usr/bin/fish", "/bin/tcsh", "/bin/csh",
  ].filter { FileManager.default.isExecutableFile(atPath: $0) }

  /// As sha256sum(1) has it of a line "#!/bin/sh".
  private static let digest = "a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf"

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
    return try run(shell, script, home: home)
  }

  private func run(_ shell: String, _ script: String, home: URL) throws -> InstallAnswer {
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

  /// What is there under the digest's name, or has the length, may be damaged or not in use.
  @Test(arguments: shells) func onlyTheProgramItselfIsTakenForInstalled(shell: String) throws {
    try withFolder { folder in
      let place = folder.appending(path: ".local/lib/bridge/bin")
      let program = place.appending(path: "bridge-host")
      let bytes = Array("#!/bin/sh\n".utf8)
      func has() throws -> Bool {
        let script = InstallScript.probe(Self.digest, length: bytes.count, shared: "/nowhere")
        return try run(shell, script, home: folder)["have"] != nil
      }
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      #expect(try !has())
      for (content, isIt) in [(bytes, true), (Array("#!/bin/SH\n".utf8), false)] {
        try Data(content).write(to: program)
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o700], ofItemAtPath: program.path)
        #expect(try has() == isIt)
      }
      try FileManager.default.removeItem(at: program)
      try FileManager.default.createDirectory(at: program, withIntermediateDirectories: true)
      #expect(try !has())
    }
  }

  /// A program that is moved to the name of a directory goes into it.
  @Test(arguments: shells) func aDirectoryInItsPlaceIsNamed(shell: String) throws {
    try withFolder { folder in
      let program = folder.appending(path: "bridge-host")
      try FileManager.default.createDirectory(at: program, withIntermediateDirectories: true)
      let script = InstallScript.install("00", length: 0, in: folder.path)
      let answer = try run(shell, script, home: folder)
      #expect(answer["error-write"] == "\(program.path) is a directory: remove it")
      #expect(try FileManager.default.contentsOfDirectory(atPath: program.path).isEmpty)
    }
  }

  /// As of an account of the time before UTF-8: what is answered is not its path.
  @Test func aHomeWhosePathIsNoUTF8IsInstalledTo() throws {
    try withFolder { folder in
      let home = #"HOME="$HOME/$(printf 'm\374ller')"; export HOME"#
      let place = #"mkdir -p "$HOME/.local/lib/bridge/bin""#
      let decoded = #"LC_ALL=C sed "s/$(printf '\374')/$(printf '\357\277\275')/g""#
      func answer(_ script: String, input: String = "") throws -> InstallAnswer {
        let command = InstallScript.command(script, marker: Self.marker)
        let (output, _) = try ShortProcess.run(
          [
            "/bin/sh", "-c", "\(home); \(place); printf %s '\(input)' | (\(command)) | \(decoded)",
          ], environment: ["HOME": folder.path, "PATH": "/usr/bin:/bin"])
        var answer = InstallAnswer(marker: Self.marker)
        answer.append(Array(output.utf8))
        return answer
      }
      let found = try #require(try answer(InstallScript.probe("d", shared: "/nowhere"))["place"])
      #expect(found.contains("\u{FFFD}"))
      let script = InstallScript.install("00", length: 3, in: found)
      // It was written, and is another program.
      #expect(try answer(script, input: "abc")["error-hash"] != nil)
      _ = try ShortProcess.run(["/bin/rm", "-rf", folder.path], environment: [:])
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
