public import BridgeErrors

/// Why a byte channel ended.
public enum ByteChannelEnding: Sendable, Equatable {
  /// The program at the other end ended, or the channel with it; what carried the channel goes on.
  /// The exit status, or nil after a signal and where none was reported.
  case finished(status: Int?)
  /// What carried the channel was lost.
  case lost(AppError)
  /// This side closed it.
  case closed
}
