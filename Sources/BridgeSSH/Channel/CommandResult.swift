/// What a command printed, and how it ended.
public struct CommandResult: Sendable, Equatable {
  /// Its standard output, to the last byte.
  public let output: [UInt8]
  /// Its standard error, to the last byte.
  public let errorOutput: [UInt8]
  /// How it ended, as the server reported it.
  public let status: ExitStatus

  /// Its standard output as text; bytes that are no UTF-8 become U+FFFD.
  public var text: String { String(decoding: output, as: UTF8.self) }
}
