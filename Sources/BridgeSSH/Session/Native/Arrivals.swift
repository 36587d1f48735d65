/// The numbers of the channels that the server opened: libssh2 gives them out and does not say
/// them, and packets carry nothing else.
///
/// It counts from 0, one for each channel that is opened, by whichever side
/// (`_libssh2_channel_nextid`). Each open of ours confirms the count.
struct Arrivals {
  /// What the server listens on for us.
  struct Place: Hashable {
    var address: String
    var port: Int
  }

  /// A channel that the library has and nothing has accepted.
  struct Waiting: Equatable {
    var number: UInt32
    /// Where the connection came from, raw.
    var originator: String
  }

  private var next: UInt32 = 0
  /// Our number of the open that is under way, or was last.
  private var opened: UInt32 = 0
  private var waiting: [Place: [Waiting]] = [:]

  /// The server listens there from now on.
  mutating func listen(on place: Place) {
    if waiting[place] == nil { waiting[place] = [] }
  }

  /// An open of ours begins.
  mutating func numberOpened() {
    opened = next
    next &+= 1
  }

  /// The server's answer to it names `number`; false where that is not its number.
  mutating func confirm(_ number: UInt32) -> Bool {
    guard number != opened else { return true }
    // Without a listener nothing depends on the count.
    guard waiting.isEmpty else { return false }
    next = number &+ 1
    return true
  }

  /// The server opened a channel. One that nothing listens for is refused by the library, and has
  /// no number.
  mutating func see(_ arrival: PacketTap.Arrival) {
    let place = Place(address: arrival.address, port: Int(arrival.port))
    guard waiting[place] != nil else { return }
    waiting[place]?.append(Waiting(number: next, originator: arrival.originator))
    next &+= 1
  }

  /// The oldest at `place`, which the library gives away now.
  mutating func accept(at place: Place) -> Waiting? {
    guard waiting[place]?.isEmpty == false else { return nil }
    return waiting[place]?.removeFirst()
  }
}
