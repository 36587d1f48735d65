public import BridgeErrors

/// Something that runs a command at the other end, with a byte channel to it.
public protocol ByteChannelSource: Sendable {
  /// Runs `command` by the remote user's shell; its standard error is thrown away.
  ///
  /// - Throws: what refused it or ended the connection; `cancelled`.
  func channel(running command: String) async throws(AppError) -> any ByteChannel
}
