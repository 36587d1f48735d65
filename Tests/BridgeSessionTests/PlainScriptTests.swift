import BridgeFiles
import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSession

/// The program for a host without `bridge-host`, run by the shell of this machine.
@Suite(.timeLimit(.minutes(5))) struct PlainScriptTests {
  /// The shell that runs the program in a folder of its own, where copies go.
  private final class Shell {
    let folder = FileManager.default.temporaryDirectory.appending(path: "script-\(UUID())").path
    let run = Identifier(high: 1, low: 2)
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    /// - Parameter tools: shell scripts in place of the programs of these names.
    init(tools: [String: String] = [:]) throws {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/tools", withIntermediateDirectories: true)
      for (name, text) in tools {
        let path = "\(folder)/tools/\(name)"
        try "#!/bin/sh\n\(text)\n".write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
      }
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", PlainScript.command(marker: AnswerMarker())]
      process.environment = [
        "PATH": "\(folder)/tools:/usr/bin:/bin", "TMPDIR": folder, "HOME": folder,
      ]
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
      try send(PlainScript.text(run: run) + "o \(folder) . -\n")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func send(_ text: String) throws {
      try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    /// The next lines; the first has the greeting behind the marker.
    func answers(_ count: Int) throws -> [Substring] {
      var text = ""
      while text.count(where: { $0 == "\n" }) < count {
        let bytes = output.fileHandleForReading.availableData
        try #require(!bytes.isEmpty)
        text += String(decoding: bytes, as: UTF8.self)
      }
      return text.split(separator: "\n")
    }

    /// What it has said by now; waits for something.
    func read() throws -> [UInt8] {
      let bytes = output.fileHandleForReading.availableData
      try #require(!bytes.isEmpty)
      return Array(bytes)
    }

    /// Closes the reading end of its output.
    func stopReading() throws { try output.fileHandleForReading.close() }

    func end() throws {
      try input.fileHandleForWriting.close()
      _ = try? output.fileHandleForReading.readToEnd()
      process.waitUntilExit()
    }

    func parts() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("part-") }
    }
  }

  /// A part stays for the next run, but where another process of this run has taken over, which
  /// never looks at it. Where it is not known, it stays.
  @Test(arguments: [("1\n", 0), ("", 1), (nil, 1)] as [(String?, Int)])
  func aPartIsRemovedWhereAnotherHasTakenOver(process: String?, count: Int) throws {
    let shell = try Shell()
    try shell.send("f part file 0\n")
    _ = try shell.answers(3)
    if let process {
      try process.write(
        toFile: "\(shell.folder)/bridge-copy-\(shell.run)", atomically: false, encoding: .utf8)
    }
    try shell.end()
    #expect(try shell.parts().count == count)
  }

  @Test func theLongestPartIsContinued() throws {
    let shell = try Shell()
    _ = try shell.answers(2)
    for (name, count) in [("part-1", 65_536), ("part-2", 200_000), ("part-3", 65_536)] {
      try Data(count: count).write(to: URL(fileURLWithPath: "\(shell.folder)/\(name)"))
    }
    try shell.send("q part\n")
    #expect(try shell.answers(1).first?.hasPrefix("k 196608 ") == true)
    #expect(try shell.parts().count == 1)
    try shell.end()
  }

  /// As after a lost link: the first answer that cannot be written ends the shell.
  @Test func aPartIsRemovedByAShellThatCannotAnswer() throws {
    let shell = try Shell()
    try shell.send("f part file 0\n")
    _ = try shell.answers(3)
    try "1\n".write(
      toFile: "\(shell.folder)/bridge-copy-\(shell.run)", atomically: false, encoding: .utf8)
    try shell.stopReading()
    try shell.send("k\n")
    try shell.end()
    #expect(try shell.parts().isEmpty)
  }

  /// The link broke before any answer came, so that the next stream begins at the beginning.
  @Test(arguments: [true, false])
  func whatAStreamWithoutAnAnswerLeftIsRemoved(isContinued: Bool) throws {
    let shell = try Shell()
    _ = try shell.answers(2)
    let transfer = Identifier(high: 3, low: 4)
    let part = PartNames([102], of: transfer).whole + Array("-1".utf8)
    let left = "\(shell.folder)/copy/\(String(decoding: part, as: UTF8.self))"
    try FileManager.default.createDirectory(
      atPath: "\(shell.folder)/copy", withIntermediateDirectories: false)
    try Data(count: 1000).write(to: URL(fileURLWithPath: left))

    var request = FileRequest(.put, path: Array("\(shell.folder)/copy".utf8), transfer: transfer)
    request.isRecursive = true
    var point = FilePoint()
    // Known since the first stream of a copy was ready.
    if isContinued { point.boot = PlainPut.boot }
    request.point = point
    var put = PlainPut(request)
    try shell.send(String(decoding: put.toHost, as: UTF8.self))
    put.toHost = []
    try put.take(Array("\(shell.answers(1)[0])\n".utf8))
    let meta = FileMeta(mode: 0o755, seconds: 1, nanoseconds: 0)
    let start = FileStart(name: [102], size: 0, offset: 0, meta: meta, identity: [])
    try put.send(.directory(entry: 0, name: [], meta))
    try put.send(.file(entry: 1, start))
    try shell.send(String(decoding: put.toHost, as: UTF8.self))
    _ = try shell.answers(2)
    #expect(FileManager.default.fileExists(atPath: left) != isContinued)
    try shell.end()
  }

  /// A `dd` that does not count what it copied.
  private static let noCount = ["dd": "exec /usr/bin/dd \"$@\" status=noxfer"]
  private static let noStat = ["stat": "exit 127"]
  private static let size = 2 << 20

  /// What the program sends of a file of that size. `change` is called with its name and how much
  /// has come each time that something comes; the pipes hold less than a megabyte.
  private func frames(
    tools: [String: String], _ change: (_ path: String, _ count: Int) throws -> Void
  ) throws -> [FileFrame] {
    let shell = try Shell(tools: tools)
    _ = try shell.answers(2)
    let path = "\(shell.folder)/log"
    try Data(repeating: 1, count: Self.size).write(to: URL(fileURLWithPath: path))
    let request = FileRequest(.get, path: Array(path.utf8), transfer: Identifier(high: 3, low: 4))
    var get = PlainGet(request, at: FilePoint(), hasDigests: true)
    try shell.send(String(decoding: get.toHost, as: UTF8.self))
    get.toHost = []
    while !get.isOver {
      try get.take(shell.read())
      try shell.send(String(decoding: get.toHost, as: UTF8.self))
      get.toHost = []
      try change(path, get.toClient.count)
    }
    try shell.end()
    var parser = FileFrameParser()
    parser.append(get.toClient)
    var frames: [FileFrame] = []
    while let frame = try parser.next() { frames.append(frame) }
    return frames
  }

  /// Emptied while it was read, and as long as before when it is looked at again: what it lacked
  /// meanwhile was never in it.
  @Test(arguments: [[:], noCount])
  func aFileThatWasEmptiedWhileItWasReadIsNotCopied(tools: [String: String]) throws {
    var changes = [(at: 100_000, Data()), (at: 1_200_000, Data(repeating: 2, count: Self.size))]
    let frames = try frames(tools: tools) { path, count in
      guard let change = changes.first, count > change.at else { return }
      try change.1.write(to: URL(fileURLWithPath: path))
      // In another second than it was begun in.
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
      changes.removeFirst()
    }
    let faults = frames.compactMap { if case .skipped(_, _, let fault) = $0 { fault } else { nil } }
    #expect(changes.isEmpty && faults.count == 1, "\(faults)")
  }

  /// A log: what it had when it was begun is copied.
  @Test(arguments: [[:], noCount])
  func aFileThatGrowsWhileItIsReadIsCopied(tools: [String: String]) throws {
    var hasGrown = false
    let frames = try frames(tools: tools) { path, count in
      guard !hasGrown, count > 100_000 else { return }
      hasGrown = true
      let log = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try log.seekToEnd()
      try log.write(contentsOf: Data(repeating: 2, count: 1 << 20))
      try log.close()
    }
    #expect(hasGrown && ends(frames).map(\.size) == [UInt64(Self.size)])
  }

  /// What cannot be looked at a second time is not taken for something that was changed.
  @Test(arguments: [noStat, noStat.merging(noCount) { $1 }])
  func aHostWithoutStatCopiesAFile(tools: [String: String]) throws {
    let ends = try ends(frames(tools: tools) { _, _ in })
    #expect(ends.map(\.size) == [UInt64(Self.size)] && !ends[0].end.hasChanged)
  }

  private static let counted = ["stat": "echo >>\"$HOME/calls\"; exec /usr/bin/stat \"$@\""]
  /// As where an entry went while the directory was listed.
  private static let oneByOne = ["stat": "[ $# -lt 4 ] || exit 1; exec /usr/bin/stat \"$@\""]

  private struct Entry: Hashable {
    let name: String
    let info: String
    let target: String
  }

  /// What the program lists of a directory, and how often it called `stat`.
  private func list(
    _ names: [String], tools: [String: String]
  ) throws -> (entries: [Entry], calls: Int) {
    let shell = try Shell(tools: tools)
    _ = try shell.answers(2)
    let place = "\(shell.folder)/place"
    try FileManager.default.createDirectory(
      atPath: "\(place)/folder", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: "\(place)/.link", withDestinationPath: "no such\n")
    for (size, name) in names.enumerated() {
      try Data(repeating: 1, count: size).write(to: URL(fileURLWithPath: "\(place)/\(name)"))
    }
    try shell.send("w \(place)\n")
    var bytes: [UInt8] = []
    while !(bytes.count > 2 && bytes.suffix(3) == [0, UInt8(ascii: "k"), UInt8(ascii: "\n")]) {
      bytes += try shell.read()
    }
    let calls = try? String(contentsOfFile: "\(shell.folder)/calls", encoding: .utf8)
    try shell.end()
    let parts = bytes.dropFirst(2).dropLast(2).split(separator: 0, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    let entries = stride(from: 0, to: parts.count - 1, by: 2).map { index in
      let (info, name) = parts[index].split(separator: "\n", maxSplits: 1).pair
      return Entry(name: name, info: info, target: parts[index + 1])
    }
    return (entries, calls?.count ?? 0)
  }

  @Test(arguments: [counted, oneByOne, noStat])
  func aListHasEachEntryOnceWithItsOwnLength(tools: [String: String]) throws {
    let names = (0..<150).map { "file \($0)" } + [".hidden", "..more", "two\nlines", "*", "-n"]
    let (entries, calls) = try list(names, tools: tools)
    let kinds = Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0) })
    #expect(Set(kinds.keys) == Set(names + ["folder", ".link"]))
    #expect(kinds["folder"]?.info.hasPrefix("i d") == true)
    #expect(kinds[".link"]?.info.hasPrefix("i l") == true && kinds[".link"]?.target == "no such\n")
    for (size, name) in names.enumerated() {
      #expect(kinds[name]?.info.split(separator: " ")[2] == "\(size)", "\(name)")
    }
    // A process each takes milliseconds: a link that breaks often would never bring the end.
    #expect(calls < 8)
  }

  /// How much each file had, and how it ended.
  private func ends(_ frames: [FileFrame]) -> [(size: UInt64, end: FileEnd)] {
    frames.compactMap { if case .end(let size, let end) = $0 { (size, end) } else { nil } }
  }
}

extension [Substring] {
  fileprivate var pair: (String, String) {
    (first.map(String.init) ?? "", dropFirst().first.map(String.init) ?? "")
  }
}
