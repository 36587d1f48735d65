import BridgeErrors
import BridgeReactor
import BridgeWaiting

/// The bound on packets that the server has sent and nothing has read yet: libssh2 queues them
/// without one.
extension SSHConnection {
  /// The memory of a session beside the data of its channels, in bytes.
  private static let ownMemory = 1 << 20

  /// What libssh2 may hold: the windows, which are full at worst, and what goes with them. Also
  /// those of channels on which a request is under way: their output may come with its answer.
  private func memoryLimit(of session: SSHSession) -> Int {
    session.windows / 8 * 9 + Self.ownMemory
  }

  /// Keeps what libssh2 holds within the limit.
  ///
  /// A packet costs some 200 bytes beside its data, so a server that sends few bytes in each can
  /// fill a window a hundred times over. What is queued for a slow reader is then moved to its
  /// mailbox, where bytes cost what they weigh; when that is full, too, nothing is read until
  /// the reader has taken some. Packets that no call ever takes end the connection.
  func boundMemory() {
    guard ending == nil, let session else { return }
    let wire = session.wire
    let limit = memoryLimit(of: session)
    guard session.blocks.total > limit else { return wire.isPaused = false }
    var left: Set<Spill> = []
    for channel in channels.values {
      for stream in NativeChannel.Stream.allCases { left.insert(spill(stream, of: channel)) }
    }
    guard ending == nil else { return }
    let isOver = session.blocks.total > limit
    wire.isPaused = isOver && left.contains(.queuedForReader)
    guard isOver, left.isSubset(of: [.nothing]) else { return }
    let code = SSHFailure.Code.outOfBoundary
    let text = "\(session.blocks.total >> 20) MiB came that belong to no channel"
    end(now: failure(code: code, text: text, phase: operationPhase))
  }

  private var operationPhase: ConnectionPhase {
    operations.first(of: .session)?.phase ?? .stream
  }

  /// What `spill` leaves of a stream in libssh2's queue.
  private enum Spill {
    case nothing
    /// The mailbox is full.
    case queuedForReader
    /// Keys are exchanged, and nothing is handed out before that is done.
    case heldBack
  }

  /// Moves what is queued to the mailbox, beyond its usual limit.
  private func spill(_ stream: NativeChannel.Stream, of channel: ChannelState) -> Spill {
    let mailbox = channel.mailbox(stream)
    while mailbox.weight < channel.window {
      switch channel.native.read(stream, through: reactor.scratch) {
      case .done(let bytes) where !bytes.isEmpty: mailbox.store(bytes)
      case .done: return .nothing
      case .again:
        return channel.native.isWindowDue(before: reactor.scratch) ? .heldBack : .nothing
      case .failed(let code, let text):
        end(now: failure(code: code, text: text, phase: .stream))
        return .nothing
      }
    }
    return .queuedForReader
  }
}

extension SSHConnection {
  /// The memory that libssh2 holds for this session, in bytes; 0 when there is none.
  package var heldMemory: Int { session?.blocks.total ?? 0 }

  /// How many channels are open, or are being closed.
  package var openChannels: Int { channels.count + closing.count }

  /// How many channels are sockets here.
  package var openSockets: Int { splices.count }

  /// The bytes that wait to be written to the socket.
  package var unsentBytes: Int { session?.wire.unsentBytes ?? 0 }
}
