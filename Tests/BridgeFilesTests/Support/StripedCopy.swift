import BridgeFiles
import BridgeSessionProtocol

/// All streams of one file, each as `Copy` has it, and the host's end of the join.
struct StripedCopy {
  var streams: [Copy]
  let target: [UInt8]
  let name: [UInt8]?
  let run: Identifier

  private static func salt(_ run: Identifier, _ stripe: FileStripe) -> Identifier {
    Identifier(high: run.high, low: run.low << 8 | UInt64(stripe.index))
  }

  init(
    _ source: String, to target: String, name: String? = nil, count: Int,
    run: Identifier = Identifier(high: 5, low: 6)
  ) {
    (self.target, self.name, self.run) = (Array(target.utf8), name.map { Array($0.utf8) }, run)
    streams = FileStripe.all(of: count).map { stripe in
      Copy(
        source, to: target, name: name,
        striping: .init(stripe, run: run, salt: Self.salt(run, stripe)))
    }
  }

  /// A directory with a file `a` of so many bytes.
  static func place(size: Int) throws -> (Place, [UInt8]) {
    let place = try Place()
    let block = Place.bytes(1 << 20, seed: size)
    var bytes: [UInt8] = []
    while bytes.count < size {
      bytes += block
      // No two units are the same.
      bytes[bytes.count - 1] = UInt8(truncatingIfNeeded: bytes.count >> 20)
    }
    bytes.removeLast(bytes.count - size)
    try place.write(bytes, to: "a")
    return (place, bytes)
  }

  /// One stream goes on in another process.
  mutating func restart(_ index: Int, salt: UInt64) {
    guard let stripe = FileStripe(index, of: streams.count) else { return }
    streams[index].restartReceiver(
      String(decoding: target, as: UTF8.self),
      striping: .init(stripe, run: run, salt: Identifier(high: salt, low: 0)))
  }

  /// No stream of the run is left: it was interrupted, or its links were lost.
  func end() { for stream in streams { stream.receiver.release() } }

  /// What the streams say together.
  func parts() throws -> FileParts {
    try FileParts(
      streams.map { stream in
        var hasChanged = false
        for case .copied(_, _, _, let changed) in stream.sentEvents { hasChanged = changed }
        return FileParts.Part(
          stream.sender.start
            ?? FileStart(
              name: [], size: 0, offset: 0, meta: FileMeta(mode: 0, seconds: 0, nanoseconds: 0),
              identity: []),
          origin: stream.origin, hasChanged: hasChanged)
      })
  }

  func request(_ parts: FileParts, isRepeated: Bool = false) -> FileRequest {
    var request = FileRequest(.join, path: target, transfer: Identifier(high: 1, low: 2))
    request.name = name
    request.stripe = FileStripe(0, of: streams.count)
    request.run = run
    request.point = FilePoint(boot: parts.origin)
    request.join = .init(size: parts.size, meta: parts.meta, isRepeated: isRepeated)
    return request
  }

  func join(isRepeated: Bool = false) throws {
    try FileJoin(request(try parts(), isRepeated: isRepeated))?.perform()
  }
}
