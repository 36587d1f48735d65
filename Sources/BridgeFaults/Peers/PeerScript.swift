/// The script of a peer for one connection, step by step. After the last step it stays
/// silent, with the socket open.
public struct PeerScript: Sendable, ExpressibleByArrayLiteral {
  /// The steps, in order.
  public var steps: [PeerStep]

  /// A script of these steps.
  public init(_ steps: [PeerStep]) { self.steps = steps }

  /// A script of these steps.
  public init(arrayLiteral steps: PeerStep...) { self.steps = steps }

  /// One script after the other.
  public static func + (first: PeerScript, second: PeerScript) -> PeerScript {
    PeerScript(first.steps + second.steps)
  }
}

/// One thing a scripted peer does.
public enum PeerStep: Sendable, Equatable {
  /// Sends bytes at once.
  case send([UInt8])
  /// Sends bytes one by one, the first at once, this far apart.
  case drip([UInt8], every: Duration)
  /// Sends the chunk again and again as fast as it is taken: so many bytes, or without end.
  case flood([UInt8], total: Int?)
  /// Does nothing for a while.
  case wait(Duration)
  /// Waits until so many more bytes have come.
  case read(Int)
  /// Waits until these bytes have come, and takes those before them too.
  case readUntil([UInt8])
  /// Takes nothing any more: the client's sends fill the kernel's buffers and stall.
  case stopReading
  /// FIN; what comes is still read.
  case finish
  /// RST.
  case reset

  /// Sends text as UTF-8.
  public static func send(_ text: String) -> PeerStep { .send(Array(text.utf8)) }

  /// Sends random bytes, the same for the same seed.
  public static func send(random count: Int, seed: UInt64) -> PeerStep {
    var generator = SplitMix64(seed: seed)
    return .send((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
  }

  /// Waits until this text has come.
  public static func readUntil(_ text: String) -> PeerStep { .readUntil(Array(text.utf8)) }
}
