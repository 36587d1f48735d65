import BridgeFaults
import BridgeTransport
import Foundation

/// Another program, run to its end.
enum Program {
  struct Failed: Error { let output: String }

  /// What `path` printed.
  static func run(_ path: String, _ arguments: [String]) throws -> String {
    try finish(PipedProgram(path, arguments, error: .same(1)))
  }

  /// What `path` printed, waited for on a thread of its own; killed when the task is canceled.
  static func output(of path: String, _ arguments: [String]) async throws -> String {
    let program = try PipedProgram(path, arguments, error: .same(1))
    return try await withTaskCancellationHandler {
      try await DetachedThread.value { try finish(program) }
    } onCancel: {
      program.kill()
    }
  }

  private static func finish(_ program: PipedProgram) throws -> String {
    var text = Data()
    while case let more = program.read(), !more.isEmpty { text += more }
    let isGood = program.waitUntilExit()
    guard isGood else { throw Failed(output: String(decoding: text, as: UTF8.self)) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Starts a program that prints a port as its first line.
  static func started(_ arguments: String...) async throws -> RunningProgram {
    try await started(arguments)
  }

  static func started(_ arguments: [String]) async throws -> RunningProgram {
    let (program, line) = try await started("/usr/bin/env", arguments) { $0.contains("\n") }
    guard let port = Int(line.prefix { $0 != "\n" }) else { throw Failed(output: line) }
    return RunningProgram(program, port: port)
  }

  /// Starts a program, and reads what it prints until that `isEnough`.
  static func started(
    _ path: String, _ arguments: [String], until isEnough: @escaping @Sendable (String) -> Bool
  ) async throws -> (PipedProgram, output: String) {
    let program = try PipedProgram(path, arguments, error: .descriptor(2))
    let text = try await DetachedThread.value {
      var text = ""
      while !isEnough(text) {
        let more = program.read()
        guard !more.isEmpty else {
          program.waitUntilExit()
          throw Failed(output: text)
        }
        text += String(decoding: more, as: UTF8.self)
      }
      return text
    }
    return (program, text)
  }
}

/// A program under way that has printed a port.
final class RunningProgram: Sendable {
  let port: Int
  private let program: PipedProgram

  init(_ program: PipedProgram, port: Int) {
    self.program = program
    self.port = port
  }

  deinit { end() }

  func end() {
    program.kill()
    program.waitUntilExit()
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
