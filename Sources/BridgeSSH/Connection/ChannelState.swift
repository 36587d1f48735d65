import BridgeErrors
import BridgeWaiting

/// One channel as the connection sees it.
final class ChannelState {
  let native: NativeChannel
  let output: ByteMailbox
  let error: ByteMailbox
  /// The command that runs in it; nil for a shell.
  let command: String?
  /// The receive window to keep up.
  var window: Int

  /// The pending writes. Its callers are answered with true when all of their bytes have gone,
  /// with false when the channel closed first.
  var outgoing = WriteQueue<(Bool) -> Void>()
  var isInputFinished = false
  var isEndSent = false
  /// The server has closed it, and everything that it sent for a stream is read.
  var isReadOut = false
  /// All that the library holds of its output was handed out when it was read last.
  var isHandedOut = false
  /// Its output has ended, and all of it can be read whatever becomes of the link.
  var isOutputHere: Bool { native.isOutputHere }
  /// How many bytes were written.
  var sent: UInt64 = 0
  /// It has ended; nothing more is read or written.
  var isOver = false
  /// It has ended with its link.
  var isLost = false
  /// It was ended because its server broke the rules for output, and some is lost.
  var damage: AppError?
  /// Nothing is wanted of it any more; it is closed when what can be written at once is written.
  var isLetGo = false
  /// Called when a turn may have brought bytes, buffer space or the end.
  var onTurn: (() -> Void)?

  init(
    _ native: NativeChannel, command: String?, window: Int, output: ByteMailbox,
    error: ByteMailbox
  ) {
    self.native = native
    self.command = command
    self.window = window
    self.output = output
    self.error = error
  }

  func mailbox(_ stream: NativeChannel.Stream) -> ByteMailbox {
    switch stream {
    case .output: output
    case .error: error
    }
  }

  /// Whether bytes are taken from the library now.
  ///
  /// What has ended is taken whole, so that it is known to be whole: it is no more than a window in
  /// the library, beside one in the mailbox (`boundMemory`).
  func takesMore(of stream: NativeChannel.Stream) -> Bool {
    let mailbox = mailbox(stream)
    return mailbox.hasSpace || isOutputHere && mailbox.weight < 2 * window
  }

  /// Wakes the readers of what came. While `isMoreComing` in the next turn, a little waits for it.
  func deliver(isMoreComing: Bool) {
    let least = isMoreComing ? Self.worthWaking : 1
    output.deliver(atLeast: least)
    error.deliver(atLeast: least)
  }

  /// In bytes; less than what makes a mailbox full.
  private static let worthWaking = 192 << 10
}
