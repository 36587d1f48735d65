import BridgeFiles
import BridgeSessionProtocol

/// Both ends of a copy, with the stream between them in memory.
struct Copy {
  let sender: FileSender
  private(set) var receiver: FileReceiver
  var events: [FileEvent] = []
  /// Of the sender, which is all that a client knows that puts.
  var sentEvents: [FileEvent] = []
  /// Bytes that were sent, over all streams.
  var sent = 0

  /// What the receiver said of itself when it was ready last.
  var origin: [UInt8] = []

  init(
    _ source: String, to target: String, name: String? = nil, isRecursive: Bool = false,
    striping: FileReceiver.Striping? = nil, key: [UInt8]? = key
  ) {
    self.key = key
    sender = FileSender(
      Array(source.utf8), isRecursive: isRecursive, stripe: striping?.stripe, key: key)
    receiver = FileReceiver(
      Array(target.utf8), name: name.map { Array($0.utf8) }, isRecursive: isRecursive,
      transfer: Identifier(high: 1, low: 2), striping: striping, key: key)
  }

  static let key = (UInt8(1)...16).map(\.self)
  private let key: [UInt8]?

  /// The receiver is another process from now on, which knows only what the sender claims.
  mutating func restartReceiver(_ target: String, striping: FileReceiver.Striping) {
    receiver = FileReceiver(
      Array(target.utf8), name: nil, isRecursive: false, transfer: Identifier(high: 1, low: 2),
      striping: striping, key: key)
    claim = sender.point
    claim?.boot = origin
    if claim?.after == nil, claim?.part == nil {
      claim?.part = .init(
        path: [], offset: 0, state: [UInt8](repeating: 0, count: FileLimits.state))
    }
  }

  private var claim: FilePoint?

  enum Ending: Equatable {
    case finished
    case cut
    case failed(FileFault.Code)
  }

  /// One stream that ends after so many bytes from the sender; `alter` changes what passes.
  mutating func stream(
    cutAfter limit: Int = .max, alter: (inout [UInt8]) -> Void = { _ in }
  ) throws -> Ending {
    var parser = FileFrameParser()
    var back = FileFrameParser()
    var passed = 0
    var point = try receiver.connect(claim)
    origin = point.boot
    if let claim, claim.part?.offset == point.part?.offset {
      point.part?.identity = claim.part?.identity ?? []
    }
    claim = nil
    sender.connect(point)
    defer {
      sender.disconnect()
      receiver.disconnect()
      sent += passed
    }
    while !receiver.isFinished || !sender.isFinished {
      var isIdle = true
      if var bytes = sender.next() {
        isIdle = false
        alter(&bytes)
        let part = bytes.prefix(limit - passed)
        passed += part.count
        parser.append(Array(part))
      }
      while receiver.failure == nil, let frame = try parser.next() { try receiver.take(frame) }
      back.append(receiver.takeOutbox(isIdle: true))
      while let frame = try back.next() { try sender.take(frame) }
      events += receiver.takeEvents()
      sentEvents += sender.takeEvents()
      if let failure = receiver.failure { return .failed(failure.fault.code) }
      if passed >= limit { return .cut }
      if isIdle, sender.next() == nil, !receiver.isFinished { return .cut }
    }
    return .finished
  }

  var faults: [FileFault.Code] {
    events.compactMap { if case .missing(_, let fault, _) = $0 { fault.code } else { nil } }
  }

  var digests: [[UInt8]] {
    events.compactMap { event in
      if case .copied(_, _, let digest?, _) = event { digest } else { nil }
    }
  }
}
