public import BridgeErrors
import BridgeWaiting

/// A command or a shell that runs on the server.
///
/// Releasing it does not end it; `close` does.
public final class SSHChannel: Sendable {
  /// Its standard output.
  public let standardOutput: ByteStream
  /// Its standard error; empty where it has a terminal.
  public let standardError: ByteStream
  /// Whether the server gave it a terminal.
  public let hasTerminal: Bool

  private let connection: SSHConnection
  private let number: UInt32
  private let isClosed = Mutex(false)
  let ending: ChannelEnding

  init(
    _ connection: SSHConnection, state: ChannelState, ending: ChannelEnding, hasTerminal: Bool
  ) {
    self.connection = connection
    self.hasTerminal = hasTerminal
    self.ending = ending
    number = state.native.number
    standardOutput = ByteStream(mailbox: state.output, connection: connection)
    standardError = ByteStream(mailbox: state.error, connection: connection)
  }

  /// Sends `bytes` to its standard input; returns when the connection's buffer has taken them.
  ///
  /// - Throws: `sshConnectionFailed` when it has ended or the input is finished; `cancelled` when
  ///   the task is canceled or the channel was closed (some of the bytes may have gone; what had
  ///   not is dropped).
  public func write(_ bytes: [UInt8]) async throws(AppError) {
    do throws(AppError) {
      try await connection.write(bytes, to: number)
    } catch {
      throw reason(of: error)
    }
  }

  /// Writes to its standard input without waiting; false, and nothing is written, where that cannot
  /// be done at once.
  func post(_ bytes: () -> [UInt8]) -> Bool { connection.post(to: number, bytes) }

  /// Ends its standard input, after all that was written.
  public func finishInput() async throws(AppError) {
    try await connection.finishInput(of: number)
  }

  /// Sends it the new size of its terminal.
  ///
  /// - Throws: what ended the connection; `cancelled` when the task is canceled or the channel was
  ///   closed meanwhile.
  public func resize(to size: TerminalSize) async throws(AppError) {
    do throws(AppError) {
      try await connection.resize(number, to: size)
    } catch {
      throw reason(of: error)
    }
  }

  /// How it ended, once the server has reported that and has sent the last byte of its output: both
  /// streams are then complete, even when the link is lost afterward.
  ///
  /// A process that the command left behind can hold its output open for long; see
  /// `reportedStatus`.
  /// - Throws: `sshOutcomeUnknown` when the channel or the link ended before that, for a command;
  ///   what ended the link for a shell; `cancelled`.
  public func exitStatus() async throws(AppError) -> ExitStatus {
    try await ending.wait()
  }

  /// How it ended, as soon as that is reported: more output may follow, or be lost with the link.
  ///
  /// - Throws: as `exitStatus`.
  public func reportedStatus() async throws(AppError) -> ExitStatus {
    try await ending.wait(early: true)
  }

  /// How it ended, where that is known by now.
  package var knownStatus: ExitStatus? { ending.known }

  /// The context of the error that `exitStatus` throws; nil while there is none.
  public var failure: FailureContext? { ending.context }

  /// Closes the channel: nothing more is read or written, and the server is notified.
  public func close() async {
    isClosed.withLock { $0 = true }
    await connection.closeChannel(number)
  }

  /// What our own side closed has not failed.
  private func reason(of error: AppError) -> AppError {
    isClosed.withLock { $0 } ? .cancelled : error
  }
}
