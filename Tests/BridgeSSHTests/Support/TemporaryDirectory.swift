import Foundation

/// A directory of one test's own, gone when the value is.
final class TemporaryDirectory {
  let path: String

  init() throws {
    let parent = FileManager.default.temporaryDirectory
    let url = parent.appendingPathComponent("bridge-ssh-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
    try write(Data(text.utf8), to: name, mode: mode)
  }

  @discardableResult
  func write(_ data: Data, to name: String, mode: Int = 0o600) throws -> String {
    try data.write(to: URL(fileURLWithPath: file(name)))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file(name))
    return file(name)
  }

  func text(_ name: String) throws -> String {
    try String(contentsOfFile: file(name), encoding: .utf8)
  }

  func mode(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }
}

/// Runs OpenSSH's `ssh-keygen`, as the second opinion on every format it writes.
enum KeyGen {
  static let path = "/usr/bin/ssh-keygen"
  static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

  @discardableResult
  static func run(_ arguments: String...) throws -> String {
    try Program.run(path, arguments)
  }
}

/// Another program, run to its end.
enum Program {
  struct Failed: Error { let output: String }

  /// What `path` printed.
  static func run(_ path: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = String(decoding: data, as: UTF8.self)
    guard process.terminationStatus == 0 else { throw Failed(output: text) }
    return text
  }
}

/// A program under way that has printed a port.
final class RunningProgram: Sendable {
  let port: Int
  private let process: Process

  init(_ process: Process, port: Int) {
    self.process = process
    self.port = port
  }

  deinit { end() }

  func end() {
    // It may have been started with other signals blocked.
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }
}

extension Program {
  /// What `path` printed, waited for on a thread of its own.
  static func output(of path: String, _ arguments: [String]) async throws -> String {
    try await onThread { try run(path, arguments) }
  }

  /// Runs `body`, which blocks, on a thread of its own: the test's pool has few.
  private static func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { caller in
      Thread.detachNewThread { caller.resume(with: Result { try body() }) }
    }
  }

  /// Starts a program that prints a port as its first line.
  static func started(_ arguments: String...) async throws -> RunningProgram {
    try await started(arguments)
  }

  static func started(_ arguments: [String]) async throws -> RunningProgram {
    try await onThread { try start(arguments) }
  }

  private static func start(_ arguments: [String]) throws -> RunningProgram {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var text = ""
    while !text.contains("\n") {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { break }
      text += String(decoding: data, as: UTF8.self)
    }
    guard let port = Int(text.prefix { $0 != "\n" }) else { throw Failed(output: text) }
    return RunningProgram(process, port: port)
  }
}
