/// Bytes under way to a reader, in the arrays that they were read into: a copy of each would cost
/// as much as to send it.
struct FrameOutbox {
  private var parts: [ArraySlice<UInt8>] = []
  /// The first part that is not sent.
  private var head = 0
  /// Bytes that are not sent.
  private(set) var count = 0

  /// How many arrays are kept.
  var partCount: Int { parts.count }

  /// From this length on a part is not copied. A short one may be of an array with much more space.
  static let shortestShared = 32 << 10

  /// So many parts that are sent are removed at once.
  private static let longestTail = 64

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    guard !bytes.isEmpty else { return }
    count += bytes.count
    let last = parts.count - 1
    if last >= head, parts[last].count < Self.shortestShared, bytes.count < Self.shortestShared {
      parts[last] += bytes
    } else {
      parts.append(bytes.count < Self.shortestShared ? ArraySlice(Array(bytes)) : bytes)
    }
  }

  /// Sends what fits now; `.wrote` says that nothing is left.
  mutating func write(to channel: Channel) -> Channel.Output {
    var sent = 0
    while count > 0 {
      let next = head + 1 < parts.count ? parts[head + 1] : []
      switch channel.write(parts[head], next) {
      case .wrote(let written):
        sent += written
        drop(written)
      case let other: return other
      }
    }
    return .wrote(sent)
  }

  private mutating func drop(_ written: Int) {
    count -= written
    var left = written
    while left > 0, left >= parts[head].count {
      left -= parts[head].count
      parts[head] = []
      head += 1
    }
    if left > 0 { parts[head] = parts[head].dropFirst(left) }
    guard head == parts.count || head >= Self.longestTail else { return }
    parts.removeFirst(head)
    head = 0
  }
}
