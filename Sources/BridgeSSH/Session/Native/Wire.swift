import BridgeErrors
import BridgeReactor
import CLibSSH2
import Glibc

/// The bytes between libssh2 and what carries them, both ways bounded and ours.
///
/// SEND takes every packet whole, so libssh2 never holds a half-sent one (its one slot for that
/// would wedge every other operation). RECV has a byte budget per turn, so a full window cannot
/// hold the loop.
@safe final class Wire {
  /// Bytes libssh2 may take per turn of the loop; about half a millisecond of decryption.
  static let turnBudget = 128 << 10
  /// Above this, nothing more is written to channels until the socket took some.
  static let outboundLimit = 256 << 10
  /// Above this, nothing more is read: a peer that takes no answers gets no more questions in.
  private static let replyLimit = 1 << 20
  /// What is kept of the server's first bytes, to say what it was if it is not a server of ours.
  private static let transcriptLimit = 16 << 10
  /// The size of one read; a peer that sends little is given less.
  private static let readSizes = (usual: 8 << 10, bulk: 64 << 10)

  let carrier: any Carrier
  /// The server's first bytes from its version line on, raw, until the handshake is done.
  private(set) var transcript: [UInt8] = []
  /// Incremented whenever libssh2 received bytes: waiting operations must try again before the loop
  /// sleeps.
  private(set) var generation = 0
  private(set) var lastHeard: ContinuousClock.Instant?
  /// From the last write to the first byte after it. At the end of the handshake that is the
  /// service request and its acceptance: a round trip with nothing to compute.
  private(set) var lastAnswerTime: Duration?
  /// The budget ran out with bytes left: pump again next turn even if the descriptor stays quiet.
  private(set) var isBudgetSpent = false
  /// Called with what arrives before the handshake is done; returns what of it the library gets.
  var inspect: ((Span<UInt8>) -> ServerIdentification.Passage)?
  /// The socket's end was seen; all before it was handed over.
  private(set) var hasEnded = false
  /// Whether the library sees the end of the stream. Once channels exist it is not, so that it
  /// hands out what it has queued for them: then `pump` checks `hasEnded`.
  var reportsEnd = true
  /// Whether reading is paused, because earlier bytes wait for slow readers.
  var isPaused = false
  /// What the library gets of a link that has ended.
  enum Seal: Sendable {
    /// It has not ended.
    case open
    /// No more bytes, and no error either, so that what is queued can be read.
    case silent
    /// An error, which ends an exchange of keys that is under way.
    case failing
  }

  /// What the library gets in place of the peer's bytes.
  private(set) var seal = Seal.open
  /// Ask for immediate acknowledgements; off once the first command or shell has started, or the
  /// first tunnel is open: from then on sshd sends at once.
  var acknowledgesAtOnce = true

  private var budget = 0
  /// The socket had nothing more in this turn; the loop tells when it has.
  private var isDry = true
  private var outbound: [UInt8] = []
  private var outboundStart = 0
  private var inbound: UnsafeMutableRawBufferPointer?
  private var inboundRange = 0..<0
  private var readSize = readSizes.usual
  private var lastSent: ContinuousClock.Instant?
  private var isCut = false
  private var isSendDead = false

  init(_ carrier: any Carrier) {
    self.carrier = carrier
  }

  deinit {
    unsafe inbound?.deallocate()
  }

  /// Bytes came that libssh2 was not given yet.
  var hasInbound: Bool { !inboundRange.isEmpty }

  /// Whether libssh2 would be given bytes, as far as is known.
  var mayGive: Bool { hasInbound || !isDry }

  var hasOutbound: Bool { outboundStart < outbound.count }

  /// The bytes that wait to be written to the socket.
  var unsentBytes: Int { outbound.count - outboundStart }

  var hasSpace: Bool { unsentBytes < Self.outboundLimit }

  /// Whether bytes of the peer are taken from the socket now.
  var isReading: Bool { !isPaused && unsentBytes < Self.replyLimit }

  /// `mayRead`: the loop said that there is something, or the last turn left something.
  func beginTurn(mayRead: Bool) {
    budget = Self.turnBudget
    isBudgetSpent = false
    isDry = !mayRead
  }

  /// Bytes were kept back that can be taken now.
  func tryAgain() { generation += 1 }

  /// Gives the read buffer back when it is empty: an idle connection holds none.
  func endTurn() {
    guard inboundRange.isEmpty else { return }
    unsafe inbound?.deallocate()
    unsafe inbound = nil
  }

  func handshakeDone() {
    inspect = nil
    transcript = []
  }

  /// From now on libssh2 sees a peer that sends nothing, or an error.
  func seal(_ seal: Seal) {
    self.seal = seal
  }

  /// From now on libssh2 sees a dead peer, so that freeing the session cannot wait for one.
  func cut() {
    isCut = true
    seal = .open
  }

  /// Writes what is waiting; returns whether all of it is out.
  func flush() -> Bool {
    while hasOutbound && !isSendDead {
      let result = unsafe outbound.withUnsafeBytes { bytes in
        unsafe carrier.send(UnsafeRawBufferPointer(rebasing: bytes[outboundStart...]))
      }
      switch result {
      case .bytes(let count):
        outboundStart += count
        if inspect != nil { lastSent = .now }
      case .wouldBlock: return false
      // What the peer still had to say can be read: reading tells how it ended.
      case .ended: isSendDead = true
      }
    }
    outbound.removeAll(keepingCapacity: outbound.capacity <= 4096)
    outboundStart = 0
    return true
  }
}

// What libssh2's callbacks call.
extension Wire {
  /// libssh2's SEND: takes it all, always.
  func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    if isCut { return -Int(EPIPE) }
    if isSendDead { return bytes.count }
    if outboundStart > Self.outboundLimit {
      outbound.removeFirst(outboundStart)
      outboundStart = 0
    }
    unsafe outbound.append(contentsOf: bytes)
    return bytes.count
  }

  /// libssh2's RECV: at most what is left of the turn's budget.
  func give(_ target: UnsafeMutableRawBufferPointer) -> Int {
    if isCut { return 0 }
    if inboundRange.isEmpty, let ended = fill() { return ended }
    let count = min(target.count, inboundRange.count)
    guard let inbound = unsafe inbound, count > 0 else { return -Int(EAGAIN) }
    let source = unsafe UnsafeRawBufferPointer(
      rebasing: inbound[inboundRange.lowerBound..<(inboundRange.lowerBound + count)])
    unsafe target.copyMemory(from: source)
    inboundRange = (inboundRange.lowerBound + count)..<inboundRange.upperBound
    generation += 1
    return count
  }

  /// Reads from the socket until there is something for the library; a result is what RECV must
  /// return instead of bytes.
  private func fill() -> Int? {
    while inboundRange.isEmpty {
      if let ended = readOnce() { return ended }
    }
    return nil
  }

  private func readOnce() -> Int? {
    if isDry || !isReading { return -Int(EAGAIN) }
    guard budget > 0 else {
      isBudgetSpent = true
      return -Int(EAGAIN)
    }
    if unsafe inbound?.count != readSize {
      unsafe inbound?.deallocate()
      unsafe inbound = .allocate(byteCount: readSize, alignment: 16)
    }
    guard let inbound = unsafe inbound else { return -Int(ENOMEM) }
    // The start of the version line may have come before the rest of it.
    let start = inspect == nil ? 0 : ServerGreeting.mark.count
    switch unsafe carrier.receive(into: UnsafeMutableRawBufferPointer(rebasing: inbound[start...]))
    {
    case .wouldBlock:
      isDry = true
      return -Int(EAGAIN)
    case .ended:
      hasEnded = true
      isDry = true
      if !reportsEnd { return -Int(EAGAIN) }
      if case .failed(let code) = carrier.condition { return -Int(code) }
      return 0
    case .bytes(let count):
      if acknowledgesAtOnce { carrier.acknowledgeAtOnce() }
      budget -= count
      recordArrival(at: .now)
      inboundRange = start..<(start + count)
      readSize = count + start < Self.readSizes.usual ? Self.readSizes.usual : Self.readSizes.bulk
      return unsafe pass(inbound)
    }
  }

  private func recordArrival(at now: ContinuousClock.Instant) {
    lastHeard = now
    guard let sent = lastSent.take() else { return }
    lastAnswerTime = now - sent
  }

  /// Keeps of what came during the handshake what the library gets.
  private func pass(_ inbound: UnsafeMutableRawBufferPointer) -> Int? {
    guard let inspect else { return nil }
    let seen = unsafe UnsafeRawBufferPointer(rebasing: inbound[inboundRange])
    switch unsafe inspect(seen.bindMemory(to: UInt8.self).span) {
    case .end:
      inboundRange = 0..<0
      isCut = true
      return 0
    case .text:
      inboundRange = 0..<0
      return nil
    case .version(let marks, let skipped):
      let start = inboundRange.lowerBound + skipped
      let mark = ServerGreeting.mark.prefix(marks)
      for (index, byte) in mark.enumerated() { unsafe inbound[start - marks + index] = byte }
      inboundRange = (start - marks)..<inboundRange.upperBound
    }
    let space = max(0, Self.transcriptLimit - transcript.count)
    unsafe transcript.append(contentsOf: inbound[inboundRange].prefix(space))
    return nil
  }
}
