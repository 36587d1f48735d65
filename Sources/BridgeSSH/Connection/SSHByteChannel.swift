public import BridgeErrors
public import BridgeTransport

/// A command on an SSH connection as a byte channel: standard input and standard output.
struct SSHByteChannel: ByteChannel {
  let channel: SSHChannel
  let connection: SSHConnection

  func read() async throws(AppError) -> [UInt8]? {
    // Iterators of one stream share its bytes.
    let iterator = channel.standardOutput.makeAsyncIterator()
    return try await iterator.next()
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
    let channel = try await execute(command)
    channel.standardError.discard()
    return SSHByteChannel(channel: channel, connection: self)
  }

  /// What ended the connection, for what does not depend on one command; nil while nothing has.
  var linkError: AppError? { ending.map { AppError(sshError: $0.ofTheLink) } }
}
