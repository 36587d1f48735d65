/// A program whose standard input and output lead to a server, in the place of a TCP connection.
public struct ProxyCommand: Sendable {
  /// What the shell runs, with its tokens replaced.
  public var line: String
  /// The shell that runs it, by `-c`.
  public var shell: String
  /// Called with each line that it writes to standard error, raw and at most 1,024 bytes long; on
  /// no thread in particular.
  public var standardError: @Sendable (_ line: String) -> Void

  /// A program that `shell` runs.
  public init(
    line: String, shell: String = "/bin/sh",
    standardError: @escaping @Sendable (_ line: String) -> Void = { _ in }
  ) {
    self.line = line
    self.shell = shell
    self.standardError = standardError
  }
}
