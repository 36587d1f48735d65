/// Which of a machine's connections the next channel is opened on.
///
/// A server allows so many channels on a connection (MaxSessions of sshd_config(5), 10 unless it is
/// set), and says so only by refusing the next one: the number is learned by that.
struct ChannelPool: Sendable {
  private struct Slot: Sendable {
    var open = 0
    /// So many are allowed; nil where that is not known.
    var limit: Int?
  }

  /// Where a channel is opened.
  enum Place: Sendable, Equatable {
    /// On the connection with this number.
    case connection(Int)
    /// On another one, which is made for it and has this number.
    case another(Int)
    /// On none: there are as many connections as may be.
    case full
  }

  private let most: Int
  private var slots: [Slot] = []
  /// What a connection of this server allows; nil where none has refused a channel.
  private(set) var learned: Int?

  /// No connection, and at most `most` of them.
  init(most: Int) { self.most = most }

  /// Takes a place for one channel.
  mutating func take() -> Place {
    let free = slots.firstIndex { $0.open < $0.limit ?? learned ?? .max }
    if let free {
      slots[free].open += 1
      return .connection(free)
    }
    guard slots.count < most else { return .full }
    slots.append(Slot(open: 1))
    return .another(slots.count - 1)
  }

  /// A channel was closed, or not opened.
  mutating func release(_ connection: Int) { slots[connection].open -= 1 }

  /// The server has refused a channel; false where it allows none at all on this connection.
  mutating func refuse(_ connection: Int) -> Bool {
    release(connection)
    let allowed = slots[connection].open
    guard allowed > 0 else { return false }
    slots[connection].limit = allowed
    learned = allowed
    return true
  }
}
