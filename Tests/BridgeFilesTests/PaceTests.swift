import BridgeFiles
import BridgeSessionProtocol
import Testing

/// A sender whose copy may be ended: what is under way cannot be taken back.
@Suite struct PaceTests {
  /// A copy over a link that carries so many bytes in a millisecond, each of them in the same time.
  private struct Link {
    let rate: Int
    let latency: Milliseconds
    var now: Milliseconds = 0
    /// The most that was under way after the first second.
    var mostUnderWay = 0

    mutating func carry(_ sender: FileSender, _ receiver: FileReceiver) throws {
      var queue: [UInt8] = []
      var (there, back) = (Flights(), Flights())
      var (arrived, answered) = (FileFrameParser(), FileFrameParser())
      sender.connect(try receiver.connect())
      while !sender.isFinished, now < 60_000 {
        now += 1
        while let bytes = sender.next(at: now) { queue += bytes }
        if now > 1000 { mostUnderWay = max(mostUnderWay, queue.count + there.count) }
        there.send(Array(queue.prefix(rate)), at: now + latency)
        queue.removeFirst(min(rate, queue.count))
        arrived.append(there.take(at: now))
        while let frame = try arrived.next() { try receiver.take(frame) }
        back.send(receiver.takeOutbox(isIdle: true), at: now + latency)
        answered.append(back.take(at: now))
        while let frame = try answered.next() { try sender.take(frame, at: now) }
      }
      #expect(sender.isFinished)
    }
  }

  /// What one direction carries.
  private struct Flights {
    private var flights: [(time: Milliseconds, bytes: [UInt8])] = []

    var count: Int { flights.reduce(0) { $0 + $1.bytes.count } }

    mutating func send(_ bytes: [UInt8], at time: Milliseconds) {
      if !bytes.isEmpty { flights.append((time, bytes)) }
    }

    mutating func take(at now: Milliseconds) -> [UInt8] {
      let due = flights.prefix { $0.time <= now }
      defer { flights.removeFirst(due.count) }
      return due.flatMap(\.bytes)
    }
  }

  private func run(_ link: inout Link, megabytes: Int) throws {
    let place = try Place()
    try place.write(Place.bytes(megabytes << 20), to: "t/a")
    let sender = FileSender(
      Array(place.file("t").utf8), isRecursive: true, key: Copy.key, isPaced: true)
    let receiver = FileReceiver(
      Array(place.file("u").utf8), name: nil, isRecursive: true,
      transfer: Identifier(high: 1, low: 2), striping: nil, key: Copy.key)
    try link.carry(sender, receiver)
  }

  @Test func overASlowLinkLittleIsUnderWay() throws {
    var link = Link(rate: 200, latency: 20)
    try run(&link, megabytes: 2)
    #expect(link.mostUnderWay < 256 << 10)
  }

  /// At 10 MB/s and 100 ms a window of that is never full.
  @Test func aFastLinkIsFilled() throws {
    var link = Link(rate: 10_000, latency: 50)
    try run(&link, megabytes: 16)
    let ideal = Milliseconds(16 << 20) / 10_000 + 100
    #expect(link.now < ideal * 3 / 2)
  }
}
