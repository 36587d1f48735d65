/// A script on its way through one connection. Pure: bytes and time in, decisions out.
struct ScriptRun {
  enum Decision: Equatable {
    case write([UInt8])
    case wake(at: Duration)
    case stopReading
    case finish
    case reset
    /// Waits for bytes.
    case awaitBytes
    /// Waits until the socket takes more.
    case awaitSpace
    case done
  }

  /// Unread bytes kept for `read` and `readUntil`; older ones are forgotten.
  static let capacity = 1 << 20

  private var steps: ArraySlice<PeerStep>
  private var unread: [UInt8] = []
  /// Bytes the running step has sent.
  private var sent = 0
  private var due: Duration?

  init(_ script: PeerScript) { steps = script.steps[...] }

  mutating func take(_ bytes: [UInt8]) {
    unread += bytes
    if unread.count > Self.capacity { unread.removeFirst(unread.count - Self.capacity) }
  }

  /// The next thing to do; call again until it waits or is done.
  mutating func next(at now: Duration, hasSpace: Bool) -> Decision {
    while let step = steps.first {
      switch step {
      case .send(let bytes): return go(.write(bytes))
      case .drip(let bytes, let gap):
        if let due, due > now { return .wake(at: due) }
        guard sent < bytes.count else { break }
        due = now + gap
        sent += 1
        return .write([bytes[sent - 1]])
      case .flood(let chunk, let total):
        guard !chunk.isEmpty, sent < total ?? .max else { break }
        guard hasSpace else { return .awaitSpace }
        let piece = Array(chunk.prefix((total ?? .max) - sent))
        sent += total == nil ? 0 : piece.count
        return .write(piece)
      case .wait(let time):
        let end = due ?? now + time
        due = end
        if end > now { return .wake(at: end) }
      case .read(let count):
        guard unread.count >= count else { return .awaitBytes }
        unread.removeFirst(count)
      case .readUntil(let pattern):
        guard let range = unread.firstRange(of: pattern) else { return .awaitBytes }
        unread.removeSubrange(..<range.upperBound)
      case .stopReading: return go(.stopReading)
      case .finish: return go(.finish)
      case .reset: return go(.reset)
      }
      advance()
    }
    return .done
  }

  private mutating func go(_ decision: Decision) -> Decision {
    advance()
    return decision
  }

  private mutating func advance() {
    steps = steps.dropFirst()
    sent = 0
    due = nil
  }
}
