public import BridgeErrors
public import BridgeTransport
import BridgeWaiting

/// A command on an SSH connection as a byte channel: standard input and standard output. Where it
/// ends without any output, what standard error has of it: a login that runs no command says there
/// why (nologin(8), an expired password, a shell without processes).
final class SSHByteChannel: ByteChannel {
  private let channel: SSHChannel
  private let connection: SSHConnection
  private let hasRead = Mutex(false)

  init(channel: SSHChannel, connection: SSHConnection) {
    (self.channel, self.connection) = (channel, connection)
    channel.standardError.discard(beyond: Self.longestComplaint)
  }

  /// A packet that goes beyond is left out as a whole: more than one (RFC 4254, 5.2).
  private static let longestComplaint = 64 << 10

  func read() async throws(AppError) -> [UInt8]? {
    // Iterators of one stream share its bytes.
    let bytes = try await channel.standardOutput.makeAsyncIterator().next()
    let wasRead = hasRead.withLock { hasRead in
      defer { hasRead = true }
      return hasRead
    }
    guard bytes == nil, !wasRead else { return bytes }
    return try await channel.standardError.makeAsyncIterator().next()
  }

  func write(_ bytes: [UInt8]) async throws(AppError) { try await channel.write(bytes) }

  func post(_ bytes: () -> [UInt8]) -> Bool { channel.post(bytes) }

  func finish() async throws(AppError) { try await channel.finishInput() }

  func close() async { await channel.close() }

  func peerAnswers() async -> Bool {
    (try? await connection.probe(within: .seconds(5))) != nil
  }

  func ending() async -> ByteChannelEnding {
    do throws(AppError) {
      switch try await channel.exitStatus() {
      case .status(let status): return .finished(status: status)
      case .signal: return .finished(status: nil)
      }
    } catch {
      if error == .cancelled { return .closed }
      // A channel that ended without a status on a connection that goes on has only ended.
      return await connection.linkError.map { .lost($0) } ?? .finished(status: nil)
    }
  }
}

extension SSHConnection: ByteChannelSource {
  /// Runs `command` by the remote user's shell, with a byte channel to it.
  ///
  /// - Throws: as `execute`.
  public nonisolated func channel(
    running command: String
  ) async throws(AppError) -> any ByteChannel {
    SSHByteChannel(channel: try await execute(command), connection: self)
  }

  /// What ended the connection, for what does not depend on one command; nil while nothing has.
  var linkError: AppError? { ending.map { AppError(sshError: $0.ofTheLink) } }
}
