#if canImport(BridgeSessionProtocol)
  import BridgeSessionProtocol
#endif

/// Rules that hold for every sequence of bytes. The tests run it on seeded bytes, `scripts/fuzz` on
/// those that libFuzzer chooses: it compiles this file with the sources of the protocol.
enum FuzzBody {
  /// The first rule that these bytes break; nil where all hold. The first byte decides how the rest
  /// is cut into pieces.
  static func broken(by data: [UInt8]) -> String? {
    guard let first = data.first else { return nil }
    let rest = Array(data.dropFirst())
    let pieces = cut(rest, by: Int(first))
    return parser(rest, pieces) ?? machine(rest) ?? client(rest)
  }

  private static func cut(_ bytes: [UInt8], by seed: Int) -> [[UInt8]] {
    var (pieces, position, length) = ([[UInt8]](), 0, seed % 7 + 1)
    while position < bytes.count {
      let end = min(position + length, bytes.count)
      pieces.append(Array(bytes[position..<end]))
      position = end
      length = (length * 5 + seed) % 97 + 1
    }
    return pieces
  }

  // MARK: Frames

  private static func parse(
    _ pieces: [[UInt8]], splitsOutput: Bool = false
  ) -> (frames: [Frame], error: ProtocolError?) {
    var (parser, frames) = (FrameParser(splitsOutput: splitsOutput), [Frame]())
    for piece in pieces {
      parser.append(piece)
      do throws(ProtocolError) {
        while let frame = try parser.next() { frames.append(frame) }
      } catch {
        return (frames, error)
      }
    }
    return (frames, nil)
  }

  private static func parser(_ whole: [UInt8], _ pieces: [[UInt8]]) -> String? {
    let (once, inPieces) = (parse([whole]), parse(pieces))
    guard once.frames == inPieces.frames, once.error == inPieces.error else {
      return "the frames depend on where the bytes were cut"
    }
    let split = parse(pieces, splitsOutput: true)
    let (parts, all) = (split.frames.bytewise, once.frames.bytewise)
    // Of the last frame some may be missing.
    guard split.error == once.error, parts.starts(with: all),
      parts[all.count...].allSatisfy({ $0.type == .output })
    else { return "output that comes in parts is another one" }
    for frame in once.frames {
      let again = parse([frame.encoded])
      guard again.error == nil, again.frames.count == 1, again.frames[0].encoded == frame.encoded
      else { return "\(frame.type) is not the frame that it encodes to" }
    }
    return nil
  }

  private static let session = SessionID(high: 1, low: 2)

  /// A host that receives the frames, from two attachments in turn, while its program prints.
  private static func machine(_ bytes: [UInt8]) -> String? {
    let configuration = HostSession.Configuration(session: session, epoch: 3, kind: .pipes)
    var host = HostSession(configuration)
    host.produced(3 << 20, at: 0)
    var now: Milliseconds = 0
    let frames = parse([bytes]).frames
    let windows = frames.map { frame -> UInt64 in
      guard case .hello(let hello) = frame else { return Limits.window }
      return hello.window ?? Limits.window
    }
    let window = windows.max() ?? Limits.window
    for (index, frame) in frames.enumerated() {
      let id = HostSession.AttachmentID(index % 3)
      now += 50
      if index < 3 { _ = host.connect(id) }
      var effects = host.receive(frame, from: id, at: now)
      effects += host.inputWritten(index % 5, at: now) + host.acknowledgements(at: now)
      for case .writeInput(let written) in effects where written.count > Int(Limits.window) {
        return "input beyond the window"
      }
      if let broken = pull(&host, id, window) { return broken }
      guard host.inputTaken <= host.inputAccepted, host.committed <= host.newest,
        host.attachedCount <= Limits.attachments
      else { return "the host's numbers contradict each other" }
    }
    return nil
  }

  private static func pull(
    _ host: inout HostSession, _ id: HostSession.AttachmentID, _ window: UInt64
  ) -> String? {
    var sent: UInt64 = 0
    while true {
      switch host.nextOutput(for: id, limit: 64 << 10) {
      case .nothing, .ended: return nil
      case .size: continue
      case .gap(let from, let to): if from >= to { return "an empty gap" }
      case .bytes(let from, let count):
        sent += UInt64(count)
        guard from + UInt64(count) <= host.newest else { return "output that is not there" }
        guard sent <= window else { return "output beyond the window" }
      }
    }
  }

  /// A client that writes, and receives the frames after a welcome and again after a reconnect.
  private static func client(_ bytes: [UInt8]) -> String? {
    let configuration = ClientSession.Configuration(
      session: session, client: ClientID(high: 4, low: 5))
    var client = ClientSession(configuration)
    var welcome = Welcome(session: session, epoch: 3)
    welcome.lease = 1
    var (next, now): (UInt64, Milliseconds) = (0, 0)
    for (index, frame) in parse([bytes]).frames.enumerated() {
      if index % 8 == 0 {
        client.disconnect()
        client.connect()
        (welcome.resume, welcome.newest) = (client.received, max(welcome.newest, client.received))
        (welcome.inputTaken, welcome.inputAccepted) = (client.inputTaken, client.inputTaken)
        guard (try? client.receive(.welcome(welcome), at: now)) != nil else { return nil }
      }
      now += 50
      _ = try? client.write([1, 2, 3])
      while let sent = client.nextFrame(at: now) {
        if case .acknowledge(let through, let settled) = sent, settled > through {
          return "a commit beyond what was acknowledged"
        }
      }
      guard let events = try? client.receive(frame, at: now) else { return nil }
      if let broken = follow(events, &next) { return broken }
      client.commit(through: next, at: now)
      guard client.committed <= client.consumed, client.consumed <= client.received,
        client.received == next, client.inputTaken <= client.inputOffset ?? client.inputTaken
      else { return "the client's numbers contradict each other" }
    }
    return nil
  }

  /// Output is delivered once and in order, with gaps in their place.
  private static func follow(_ events: [ClientSession.Event], _ next: inout UInt64) -> String? {
    for event in events {
      switch event {
      case .output(let offset, _, let bytes):
        guard offset == next, !bytes.isEmpty else { return "output out of its place" }
        next += UInt64(bytes.count)
      case .size(_, let offset): guard offset == next else { return "a size out of its place" }
      case .gap(let from, let to), .screen(let from, let to, bytes: _):
        guard from == next, to > from else { return "a gap out of its place" }
        next = to
      case .attached, .inputTaken, .controlsDone, .inputDropped, .ended, .refused, .notice, .pong:
        break
      }
    }
    return nil
  }
}

extension [Frame] {
  /// With a frame for each byte of output.
  var bytewise: [Frame] {
    flatMap { frame -> [Frame] in
      guard case .output(let offset, let stream, let bytes) = frame else { return [frame] }
      return bytes.enumerated().map {
        .output(offset: offset + UInt64($0.offset), stream: stream, bytes: [$0.element])
      }
    }
  }
}
