/// The facts that libssh2 1.10 parses and then forgets, read from packets that it has finished.
///
/// It has no way to ask whether an exit status came (its 0 also means "none"), why a channel was
/// refused, whether a password was only expired, or which methods may continue after a partial
/// success. The packets that say so pass through our allocator when they are freed, their first
/// byte the message number (RFC 4252, 4254).
package struct PacketTap: Sendable {
  /// SSH_MSG_USERAUTH_FAILURE (RFC 4252, 5.1).
  package struct Refusal: Sendable, Equatable {
    /// The methods that may go on.
    package var methods: [String]
    /// Whether the request itself was accepted, and more is wanted.
    package var isPartialSuccess: Bool

    /// A refusal.
    package init(methods: [String], isPartialSuccess: Bool) {
      self.methods = methods
      self.isPartialSuccess = isPartialSuccess
    }
  }

  /// A connection that the server took for us, and opened a channel for (SSH_MSG_CHANNEL_OPEN of
  /// type "forwarded-tcpip"; RFC 4254, 7.2).
  package struct Arrival: Sendable, Equatable {
    /// The address and port that it came to, as they were asked for.
    package var address: String
    package var port: UInt32
    /// Where it came from, raw.
    package var originator: String

    /// An arrival.
    package init(address: String, port: UInt32, originator: String) {
      self.address = address
      self.port = port
      self.originator = originator
    }
  }

  /// How much of a packet is looked at: those of interest are far shorter, but for a notice.
  package static let reach = 1024
  /// SSH_MSG_USERAUTH_BANNER, of which all is looked at (RFC 4252, 5.4).
  package static let notice: UInt8 = 53

  /// Our number of the channel that was opened last (SSH_MSG_CHANNEL_OPEN_CONFIRMATION).
  package private(set) var openedChannel: UInt32?
  /// Why the last open was refused (RFC 4254, 5.1).
  package private(set) var openRefusal: Int?
  /// What the server says about it, raw.
  package private(set) var openRefusalText = ""
  /// Exit statuses by our channel number.
  package private(set) var exitStatus: [UInt32: UInt32] = [:]
  /// Channels whose server has sent all of their output (SSH_MSG_CHANNEL_EOF or _CLOSE), by our
  /// number.
  package private(set) var endedChannels: Set<UInt32> = []
  /// How many bytes of output the packets say that they hold, by our number of the channel
  /// (SSH_MSG_CHANNEL_DATA, and _EXTENDED_DATA of standard error). The library is done with them:
  /// it has handed their bytes out, or dropped them.
  package private(set) var outputBytes: [UInt32: Int] = [:]
  /// Channels that the server has closed (SSH_MSG_CHANNEL_CLOSE), by our number.
  package private(set) var closedChannels: Set<UInt32> = []
  /// Since `forgetNewEnd` an end or a close came, or an exchange of keys was finished that may have
  /// been in the way of dealing with one.
  package private(set) var hasNewEnd = false
  /// The last refusal of an authentication request.
  package private(set) var refusal: Refusal?

  /// A request was answered by a wish for another password (RFC 4252, 8). In other methods the
  /// same number means other things.
  package private(set) var isPasswordExpired = false

  /// The arrival that was seen last, until it is taken.
  private var arrival: Arrival?
  /// The notice that was seen last, until it is taken.
  private var noticeText: String?

  /// Creates an empty state.
  package init() {}

  /// Called before an open: forgets the result of the last one.
  package mutating func forgetOpen() {
    openedChannel = nil
    openRefusal = nil
    openRefusalText = ""
  }

  /// Before a request.
  package mutating func forgetRefusal() {
    refusal = nil
    isPasswordExpired = false
  }

  /// The arrival that the last packet told of.
  package mutating func takeArrival() -> Arrival? { arrival.take() }

  /// What the last packet told the user before the login, raw.
  package mutating func takeNotice() -> String? { noticeText.take() }

  /// The ends that came are dealt with.
  package mutating func forgetNewEnd() { hasNewEnd = false }

  /// Its number may be given again.
  package mutating func forgetChannel(_ number: UInt32) {
    exitStatus[number] = nil
    outputBytes[number] = nil
    endedChannels.remove(number)
    closedChannels.remove(number)
  }

  /// Looks at a packet that the library accepted and is done with: its payload, and padding and
  /// MAC behind it.
  package mutating func see(_ packet: Span<UInt8>) {
    guard packet.count > 0 else { return }
    switch packet[0] {
    case 21: hasNewEnd = hasNewEnd || !endedChannels.isEmpty
    case 51: seeRefusal(packet)
    case Self.notice: noticeText = packet.string(at: 1)?.text
    case 60: seeChangeRequest(packet)
    case 90: seeOpen(packet)
    case 91: openedChannel = packet.uint32(at: 1)
    case 92:
      openRefusal = packet.uint32(at: 5).map(Int.init)
      openRefusalText = packet.string(at: 9)?.text ?? ""
    case 94: seeOutput(packet, lengthAt: 5)
    case 95 where packet.uint32(at: 5) == 1: seeOutput(packet, lengthAt: 9)
    case 96, 97: seeEnd(packet)
    case 98: seeChannelRequest(packet)
    default: break
    }
  }

  private mutating func seeRefusal(_ packet: Span<UInt8>) {
    guard let names = packet.string(at: 1), names.end < packet.count else { return }
    refusal = Refusal(
      methods: names.text.split(separator: ",").map(String.init),
      isPartialSuccess: packet[names.end] != 0)
  }

  private mutating func seeChangeRequest(_ packet: Span<UInt8>) {
    guard let prompt = packet.string(at: 1), packet.string(at: prompt.end) != nil else { return }
    isPasswordExpired = true
  }

  private mutating func seeOpen(_ packet: Span<UInt8>) {
    guard let type = packet.string(at: 1), type.text == "forwarded-tcpip",
      // Behind the channel's number, its window and the size of its packets.
      let address = packet.string(at: type.end + 12), let port = packet.uint32(at: address.end),
      let originator = packet.string(at: address.end + 4)
    else { return }
    arrival = Arrival(address: address.text, port: port, originator: originator.text)
  }

  private mutating func seeOutput(_ packet: Span<UInt8>, lengthAt offset: Int) {
    guard let channel = packet.uint32(at: 1), let length = packet.uint32(at: offset),
      outputBytes[channel] != nil || outputBytes.count < 4096
    else { return }
    outputBytes[channel, default: 0] += Int(length)
  }

  private mutating func seeEnd(_ packet: Span<UInt8>) {
    guard let channel = packet.uint32(at: 1), endedChannels.count < 4096 else { return }
    if endedChannels.insert(channel).inserted { hasNewEnd = true }
    if packet[0] == 97 { closedChannels.insert(channel) }
  }

  private mutating func seeChannelRequest(_ packet: Span<UInt8>) {
    guard let channel = packet.uint32(at: 1), let name = packet.string(at: 5),
      name.text == "exit-status", let status = packet.uint32(at: name.end + 1),
      exitStatus.count < 4096
    else { return }
    exitStatus[channel] = status
  }
}

extension Span where Element == UInt8 {
  fileprivate func uint32(at offset: Int) -> UInt32? {
    guard offset >= 0, offset + 4 <= count else { return nil }
    return (0..<4).reduce(0) { $0 << 8 | UInt32(self[offset + $1]) }
  }

  fileprivate func string(at offset: Int) -> (text: String, end: Int)? {
    guard let length = uint32(at: offset), Int(length) <= count - offset - 4 else { return nil }
    let end = offset + 4 + Int(length)
    return (String(decoding: ((offset + 4)..<end).map { self[$0] }, as: UTF8.self), end)
  }
}
