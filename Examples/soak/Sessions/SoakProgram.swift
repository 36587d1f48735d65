import BridgeFaults
import BridgeWaiting
import Foundation

/// The program of a session: prints bytes that follow from a seed, reads what is typed, and leaves
/// a report of both in a folder.
struct SoakProgram: Sendable {
  /// What it found on its standard input.
  struct Findings: Codable, Sendable, Equatable {
    var printed = 0
    var printedDigest = ""
    var taken = 0
    var takenDigest = ""
    /// The first byte of the input that was another one.
    var firstWrong: Int?
  }

  var folder: String
  var output: SeededBytes
  var outputCount: Int
  var input: SeededBytes
  var inputCount: Int
  var status: Int32
  /// Between two pieces of output, in milliseconds.
  var longestPause: Int32

  static let flag = "--program"
  static let starts = "starts"
  static let findings = "findings"

  /// As arguments of this executable.
  var arguments: [String] {
    [
      Self.flag, folder, "\(output.seed)", output.isText ? Self.text : "bytes", "\(outputCount)",
      "\(input.seed)", "\(inputCount)", "\(status)", "\(longestPause)",
    ]
  }

  private static let text = "text"

  init(
    folder: String, output: SeededBytes, outputCount: Int, input: SeededBytes, inputCount: Int,
    status: Int32, longestPause: Int32
  ) {
    (self.folder, self.status, self.longestPause) = (folder, status, longestPause)
    (self.output, self.outputCount) = (output, outputCount)
    (self.input, self.inputCount) = (input, inputCount)
  }

  /// Nil where the words are none of `arguments`.
  init?(_ words: [String]) {
    guard words.count == 9, words[0] == Self.flag, let outputSeed = UInt64(words[2]),
      let outputCount = Int(words[4]), let inputSeed = UInt64(words[5]),
      let inputCount = Int(words[6]), let status = Int32(words[7]),
      let longestPause = Int32(words[8])
    else { return nil }
    self.init(
      folder: words[1], output: SeededBytes(seed: outputSeed, isText: words[3] == Self.text),
      outputCount: outputCount, input: SeededBytes(seed: inputSeed), inputCount: inputCount,
      status: status, longestPause: longestPause)
  }

  /// Runs to its end.
  func run() -> Never {
    // Without a keeper it reports what it has, and ends.
    signal(SIGPIPE, SIG_IGN)
    guard recordStart() else { exit(70) }
    // Neither direction waits for the other.
    let result = Mutex((count: 0, digest: ""))
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let printed = print()
      result.withLock { $0 = printed }
      isDone.signal()
    }
    var findings = read()
    isDone.wait()
    (findings.printed, findings.printedDigest) = result.withLock { $0 }
    let file = URL(filePath: folder).appending(path: Self.findings)
    do { try JSONEncoder().encode(findings).write(to: file, options: .atomic) } catch { exit(71) }
    exit(status)
  }

  private func recordStart() -> Bool {
    let path = URL(filePath: folder).appending(path: Self.starts).path
    let before = FileManager.default.contents(atPath: path) ?? Data()
    return FileManager.default.createFile(atPath: path, contents: before + Data("started\n".utf8))
  }

  private func read() -> Findings {
    var findings = Findings()
    var digest = SHA256()
    while findings.taken < inputCount {
      let bytes = Array(FileHandle.standardInput.availableData)
      if bytes.isEmpty { break }
      let range = findings.taken..<(findings.taken + bytes.count)
      for (index, byte) in zip(range, input.bytes(range))
      where findings.firstWrong == nil && bytes[index - range.lowerBound] != byte {
        findings.firstWrong = index
      }
      digest.update(bytes)
      findings.taken = range.upperBound
    }
    findings.takenDigest = digest.digest
    return findings
  }

  /// Prints at a pace that gives faults their time, until no reader is left.
  private func print() -> (count: Int, digest: String) {
    var generator = SplitMix64(seed: output.seed)
    var digest = SHA256()
    var position = 0
    while position < outputCount {
      let size = Int.random(in: 1...(8 << 10), using: &generator)
      let range = position..<min(outputCount, position + size)
      let bytes = output.bytes(range)
      do {
        try FileHandle.standardOutput.write(contentsOf: Data(bytes))
      } catch {
        break
      }
      digest.update(bytes)
      position = range.upperBound
      _ = poll(nil, 0, Int32.random(in: 0...longestPause, using: &generator))
    }
    return (position, digest.digest)
  }
}
