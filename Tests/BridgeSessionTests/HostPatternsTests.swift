import BridgeErrors
import BridgeTransport
import BridgeSessionProtocol
import BridgeTestKit
import Foundation
import Testing

@testable import BridgeSession

/// Which names of a host patterns stand for.
@Suite(.timeLimit(.minutes(5))) struct HostPatternsTests {
  /// A host that has not answered all of it.
  private func carry(
    _ names: HostPatterns, ending: ByteChannelEnding, _ answer: (String) -> [UInt8]
  ) async throws -> HostPatterns.Outcome {
    let command = names.command()
    let channel = ScriptedChannel(command.text, ending: ending)
    channel.send(answer(command.marker))
    channel.hangUp()
    return try await names.carry(over: channel, command)
  }

  @Test func anAnswerThatBreaksOffIsAskedForAgain() async throws {
    let names = HostPatterns([[42], [63]], host: "far")
    let lost = ByteChannelEnding.lost(.cancelled)
    let outcome = try await carry(names, ending: lost) { Array("\($0)./a\0\0./b\0".utf8) }
    #expect(outcome == .ended(lost))
    #expect(try await carry(names, ending: lost) { _ in Array("hello".utf8) } == .ended(lost))
  }

  @Test func anAccountWithoutAShellIsNamed() async throws {
    let names = HostPatterns([[42]], host: "far")
    let outcome = try await carry(names, ending: .finished(status: 1)) { _ in Array("no".utf8) }
    #expect(outcome == .unavailable(reason: "a shell ended with 1"))
    // The host may be going down.
    let none = ByteChannelEnding.finished(status: nil)
    #expect(try await carry(names, ending: none) { _ in [] } == .ended(none))
  }

  /// dash takes `[^` as a set with a caret, bash as one of other names.
  @Test func shellsDifferOnACaret() async throws {
    let names = HostPatterns([Array("[^b]".utf8)], host: "far")
    for name in ["^", "b", "a"] {
      let outcome = try await carry(names, ending: .finished(status: 0)) {
        Array("\($0)./\(name)\0\0\0".utf8)
      }
      #expect(outcome == .found([[Array(name.utf8)]]))
    }
  }

  /// A device that ends each connection over a command is not dialed for ever.
  @Test func aHostThatEndsEachLinkIsGivenUp() async throws {
    let names = HostPatterns([[42]], host: "far", unheard: UnheardLinks())
    let lost = ByteChannelEnding.lost(.cancelled)
    for _ in 0..<2 { #expect(try await carry(names, ending: lost) { _ in [] } == .ended(lost)) }
    let error = await failure { try await carry(names, ending: lost) { _ in [] } }
    #expect(error?.caseName == "durableSessionHostUnusable")
  }

  /// A path is one of the pattern, and no longer than any other.
  /// A host that is not asked for a start-up file may not send one.
  @Test(arguments: ["./.bashrc", "./logs/.bashrc", "./a.gz/x.sh", "./a.gz/..", "./a.sh/."])
  func aNameThatDoesNotMatchEndsTheCopy(_ name: String) async throws {
    for pattern in ["*.gz", "logs/*.gz"] {
      let patterns = HostPatterns([Array(pattern.utf8)], host: "far")
      let error = await failure {
        try await carry(patterns, ending: .finished(status: 0)) { Array("\($0)\(name)\0\0".utf8) }
      }
      #expect(error?.caseName == "sshProtocolError", "\(pattern)")
    }
  }

  @Test(arguments: ["./\0\0", "/\0\0", "./\(String(repeating: "n", count: 4096))\0\0"])
  func aNameThatIsNoneEndsTheCopy(_ text: String) async throws {
    let names = HostPatterns([[42]], host: "far")
    let error = await failure {
      try await carry(names, ending: .finished(status: 0)) { Array(($0 + text).utf8) }
    }
    #expect(error?.caseName == "sshProtocolError", "\(String(describing: error))")
  }

  @Test func moreNamesThanFitAreRefused() async throws {
    let names = HostPatterns([[42]], host: "far")
    let line = Array("./\(String(repeating: "n", count: 1021))\0".utf8)
    let error = await failure {
      try await carry(names, ending: .finished(status: 0)) { marker in
        Array(marker.utf8)
          + [[UInt8]](repeating: line, count: HostPatterns.limit / 1024 + 1).joined()
      }
    }
    #expect(error?.caseName == "featureUnavailable")
  }

  /// It has half a minute for the marker, ten minutes to search behind it.
  @Test(arguments: [true, false]) func aHostThatSaysNothingHasItsTime(isHeard: Bool) async throws {
    let clock = ManualClock()
    let names = HostPatterns([[42]], host: "far", clock: clock)
    let command = names.command()
    let channel = ScriptedChannel(command.text, endsWithInput: false)
    if isHeard { channel.send(Array(command.marker.utf8)) }
    async let error = failure { try await names.carry(over: channel, command) }
    // The watch for the marker may be over before it began.
    await clock.sleepers(atLeast: isHeard ? 1 : 2)
    if isHeard {
      try await eventually { !channel.sentBytes.isEmpty }
      clock.advance(by: .seconds(600))
      #expect(await error == .sshTimeout(seconds: 600))
    } else {
      clock.advance(by: .seconds(30))
      #expect(await error?.caseName == "durableSessionHostUnusable")
      #expect(channel.sentBytes.isEmpty)
    }
  }

  // MARK: The program

  private static let shells = [
    ["/bin/sh"], ["/usr/bin/dash"], ["/usr/bin/bash", "--posix"], ["/usr/bin/busybox", "sh"],
    ["/usr/bin/zsh", "--emulate", "sh"],
  ].filter { FileManager.default.isExecutableFile(atPath: $0[0]) }

  /// What a shell of this machine finds in a home directory with `files`, one of which is no text.
  private func find(
    _ patterns: [String], in files: [String], _ shell: [String]
  ) async throws -> [[[UInt8]]] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "names-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    for file in files {
      let place = folder.appending(path: "home/\(file)")
      try FileManager.default.createDirectory(
        at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: place)
    }
    let names = HostPatterns(patterns.map { Array($0.utf8) }, host: "far")
    let command = names.command()
    let text = command.text.replacing("exec /bin/sh", with: "exec \(shell.joined(separator: " "))")
    try Data(text.utf8).write(to: folder.appending(path: "command"))
    try Data(names.request).write(to: folder.appending(path: "input"))
    let run =
      "cd \(folder.path) && : >home/$(printf '\\377\\376') && /bin/sh command <input >output"
    let environment = [
      "PATH": "/usr/bin:/bin", "HOME": "\(folder.path)/home", "GLOBIGNORE": "*",
    ]
    _ = try ShortProcess.run(["/bin/sh", "-c", run], environment: environment)
    let channel = ScriptedChannel(command.text)
    channel.send(Array(try Data(contentsOf: folder.appending(path: "output"))))
    channel.hangUp()
    let outcome = try await names.carry(over: channel, command)
    guard case .found(let found) = outcome else {
      Issue.record("\(shell): \(outcome)")
      return []
    }
    return found
  }

  private func text(_ names: [[UInt8]]) -> [String] {
    names.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: shells) func aPatternStandsForNamesAndDirectories(_ shell: [String]) async throws
  {
    let files = ["l/a.gz", "l/b.gz", "l/c.txt", "m/a.gz", ".h/x.gz", "l/.hidden.gz", "é"]
    let found = try await find(
      ["l/*.gz", "?/a*", "l/[b-c]*", "*/none*", "l/", "[!a-z]", "l/[[:alpha:]].[!t]*", "?/"],
      in: files, shell)
    let texts = found.map(text)
    #expect(texts[0] == ["l/a.gz", "l/b.gz"])
    #expect(texts[1] == ["l/a.gz", "m/a.gz"])
    #expect(texts[2] == ["l/b.gz", "l/c.txt"])
    #expect(texts[3] == [] && texts[4] == ["l/"])
    // Bytes are matched: a letter of two is not one of them.
    #expect(texts[5] == [])
    #expect(texts[6] == ["l/a.gz", "l/b.gz"] && texts[7] == ["l/", "m/"])
  }

  /// It may be meant as it is, and was before there were patterns.
  @Test(arguments: shells) func aNameThatIsThereIsItself(_ shell: [String]) async throws {
    let files = ["a[1].txt", "a1.txt", "*", "b?"]
    let found = try await find(["a[1].txt", "*", "b?"], in: files, shell)
    #expect(found.map(text) == [["a[1].txt"], ["*"], ["b?"]])
  }

  @Test(arguments: shells) func noNameIsReadAsACommandOrDivided(_ shell: [String]) async throws {
    let names = [
      "$(touch x)", "`touch x`", ";touch x", "a b", "-n", "end\n", "two\nlines", "~", "'",
    ]
    let found = try await find(["*", "-*", "$(touch y)*", "*\n", "a ?"], in: names, shell)
    #expect(Set(found[0]) == Set(names.map { Array($0.utf8) } + [[0xFF, 0xFE]]))
    #expect(found[1] == [Array("-n".utf8)])
    #expect(found[2].isEmpty && found[3] == [Array("end\n".utf8)])
    #expect(found[4] == [Array("a b".utf8)])
  }

  @Test(arguments: shells) func anAbsolutePatternStandsForAbsoluteNames(_ shell: [String])
    async throws
  {
    let found = try await find(["/et[c]/passw?"], in: ["a"], shell)
    #expect(found.map(text) == [["/etc/passwd"]])
  }
}
