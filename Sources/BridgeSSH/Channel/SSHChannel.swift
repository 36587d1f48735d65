public import BridgeErrors

/// A command or a shell that runs on the server.
///
/// Letting go of it does not end it; `close` does.
public final class SSHChannel: Sendable {
  /// What it writes to its standard output.
  public let standardOutput: ByteStream
  /// What it writes to its standard error; empty where a terminal was asked for.
  public let standardError: ByteStream

  private let connection: SSHConnection
  private let number: UInt32
  let ending: ChannelEnding

  init(_ connection: SSHConnection, state: ChannelState, ending: ChannelEnding) {
    self.connection = connection
    self.ending = ending
    number = state.native.number
    standardOutput = ByteStream(mailbox: state.output)
    standardError = ByteStream(mailbox: state.error)
  }

  /// Sends `bytes` to its standard input; returns when the connection's buffer has taken them.
  ///
  /// - Throws: `sshConnectionFailed` when it has ended or the input is finished; `cancelled`
  ///   (some of the bytes may have gone).
  public func write(_ bytes: [UInt8]) async throws(AppError) {
    try await connection.write(bytes, to: number)
  }

  /// Ends its standard input, after all that was written.
  public func finishInput() async throws(AppError) {
    try await connection.finishInput(of: number)
  }

  /// Tells it that its terminal's size changed.
  public func resize(to size: TerminalSize) async throws(AppError) {
    try await connection.resize(number, to: size)
  }

  /// How it ended, once the server has said it and has sent the last byte of its output: what both
  /// streams bring then is whole, whatever becomes of the link.
  ///
  /// Something that the command left behind can hold its output open for long; see
  /// `reportedStatus`.
  /// - Throws: `sshOutcomeUnknown` when the channel or the link ended before that, for a command;
  ///   what ended the link for a shell; `cancelled`.
  public func exitStatus() async throws(AppError) -> ExitStatus {
    try await ending.wait()
  }

  /// How it ended, as soon as the server says it: more output may follow, or be lost with the link.
  ///
  /// - Throws: as `exitStatus`.
  public func reportedStatus() async throws(AppError) -> ExitStatus {
    try await ending.wait(early: true)
  }

  /// How it ended, where that is known by now.
  package var knownStatus: ExitStatus? { ending.known }

  /// What is known beside the error that `exitStatus` throws; nil while there is none.
  public var failure: FailureContext? { ending.context }

  /// Ends it: nothing more is read or written, the server is told.
  public func close() async {
    await connection.closeChannel(number)
  }
}
