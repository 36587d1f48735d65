public import BridgeErrors
import BridgeTransport

/// A program that knows keys of hosts (ssh_config(5), KnownHostsCommand): it prints lines as they
/// stand in a known_hosts file, for instance from a directory service.
public struct KnownHostsCommand: Sendable, Equatable {
  /// Its path and its arguments, with tokens.
  package let words: [String]
  /// The values of the tokens that are known before the connection is made.
  private let tokens: [Character: String]

  /// What the lines are wanted for.
  enum Purpose: Equatable {
    /// The order in which algorithms of host keys are offered.
    case order
    /// The key, raw, that the host presents.
    case key([UInt8])
  }

  /// Why there are no lines.
  struct Problem: Error, Equatable {
    /// As the end of a sentence about the command.
    let reason: String
    /// The `errno` of a start that failed; 0 for all else.
    var errno: Int32 = 0
  }

  /// Tokens that have a value once the connection is made (ssh_config(5), TOKENS).
  private static let late: Set<Character> = ["H", "I", "K", "f", "t"]
  /// The longest output, in bytes.
  private static let most = 16 << 20
  /// How long it may take.
  static let limit = Duration.seconds(30)

  /// A command of these words.
  ///
  /// - Parameters:
  ///   - words: the absolute path of the program and its arguments, with the tokens of
  ///     ssh_config(5).
  ///   - tokens: the values of its other tokens than `%H`, `%I`, `%K`, `%f` and `%t`.
  /// - Throws: `validationError` for a path that is not absolute, and for a token without a value.
  public init(_ words: [String], tokens: [Character: String] = [:]) throws(AppError) {
    try self.init(words, tokens: tokens) {
      .validationError(field: "KnownHostsCommand", message: $0)
    }
  }

  init(
    _ words: [String], tokens: [Character: String], _ refuse: (String) -> AppError
  ) throws(AppError) {
    guard words.first?.hasPrefix("/") == true else {
      throw refuse("the program's path must be absolute")
    }
    self.words = words
    self.tokens = tokens
    let all = tokens.merging(Self.late.map { ($0, "") }) { value, _ in value }
    for word in words { _ = try TextTokens.replaced(word, tokens: all, refuse) }
  }

  /// Whether it prints the same for every purpose, as far as its arguments tell.
  var isSameForAll: Bool {
    !words.contains { word in Self.late.contains { $0 != "H" && word.contains("%\($0)") } }
  }

  /// The path of the program.
  var program: String { words[0] }

  /// The lines about `host`. It blocks.
  func lines(about host: KnownHostName, for purpose: Purpose) throws(Problem) -> String {
    let program = ChildProgram(try arguments(about: host, for: purpose), empty: [0])
    let run: (ending: ChildProgram.Ending, bytes: [UInt8]?)
    do throws(ChildProgram.StartFailure) {
      run = try program.output(within: Self.limit, most: Self.most)
    } catch {
      throw Problem(reason: "cannot be started: \(error.words)", errno: error.errno)
    }
    guard let bytes = run.bytes else {
      throw Problem(reason: "printed more than \(Self.most >> 20) MiB")
    }
    switch run.ending {
    case .exited(0): return String(decoding: bytes, as: UTF8.self)
    case .exited(let status): throw Problem(reason: "ended with status \(status)")
    case .signaled(let number): throw Problem(reason: "ended by signal \(number)")
    case .overdue:
      let seconds = Self.limit.components.seconds
      throw Problem(reason: "was not done after \(seconds) s and was ended")
    }
  }

  private func arguments(
    about host: KnownHostName, for purpose: Purpose
  ) throws(Problem) -> [String] {
    var values = tokens
    values["H"] = host.name
    switch purpose {
    case .order:
      values["I"] = "ORDER"
      for token: Character in ["K", "f", "t"] { values[token] = "NONE" }
    case .key(let blob):
      let key = HostKey(blob: blob)
      values["I"] = "HOSTNAME"
      values["K"] = Base64.encode(blob)
      values["f"] = key?.fingerprint ?? "NONE"
      values["t"] = key?.type ?? "NONE"
    }
    var result: [String] = []
    for word in words {
      do throws(AppError) {
        result.append(
          try TextTokens.replaced(word, tokens: values) { .internalError(detail: $0) })
      } catch {
        throw Problem(reason: "has a token without a value")
      }
    }
    return result
  }
}
