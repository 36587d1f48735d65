import BridgeWaiting
import Foundation
import Testing

/// An answer of the page.
struct Reply {
  var status: Int
  /// By lower-case name; of several the last.
  var headers: [String: String]
  var body: String

  func value<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data(body.utf8))
  }
}

/// `curl`, which sends what it is given.
enum Curl {
  /// Makes a request and reads its answer; without a status where there is none.
  static func call(_ arguments: [String], body: String? = nil) async throws -> Reply {
    var options = ["--silent", "--include", "--path-as-is", "--http1.1", "--max-time", "30"]
    if body != nil { options += ["--data-binary", "@-", "-H", "Expect:"] }
    let output = try await run(options + arguments, input: body)
    return reply(output)
  }

  /// Runs `curl`; returns what it prints. No thread waits for it.
  static func run(_ arguments: [String], input: String? = nil) async throws -> String {
    let run = try CurlRun(arguments, input: input)
    await run.wait()
    return run.text
  }

  private static func reply(_ text: String) -> Reply {
    let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    let lines = parts[0].split(separator: "\r\n")
    let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let pair = line.split(separator: ":", maxSplits: 1)
      guard pair.count == 2 else { continue }
      headers[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces)
    }
    return Reply(status: status, headers: headers, body: parts.count > 1 ? String(parts[1]) : "")
  }
}

/// A `curl` that runs.
final class CurlRun: Sendable {
  private let folder: URL
  private let process: Process
  private let isOver = Latch()

  init(_ arguments: [String], input: String? = nil) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "bridge-curl-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let (source, sink) = (folder.appending(path: "in"), folder.appending(path: "out"))
    try Data((input ?? "").utf8).write(to: source)
    try Data().write(to: sink)
    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/curl")
    process.arguments = arguments
    process.standardInput = FileHandle(forReadingAtPath: source.path)
    process.standardOutput = FileHandle(forWritingAtPath: sink.path)
    process.standardError = FileHandle.nullDevice
    process.terminationHandler = { [isOver] _ in isOver.open() }
    try process.run()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  /// What it has printed.
  var text: String {
    let data = try? Data(contentsOf: folder.appending(path: "out"))
    return String(decoding: data ?? Data(), as: UTF8.self)
  }

  /// Returns when it has ended.
  func wait() async { await isOver.wait() }

  func stop() async {
    kill()
    await wait()
  }

  func signal(_ number: Int32) {
    if process.isRunning { Foundation.kill(process.processIdentifier, number) }
  }

  /// Other tests have this process ignore SIGTERM, which is inherited.
  private func kill() { signal(SIGKILL) }
}
