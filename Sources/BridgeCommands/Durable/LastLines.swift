package import BridgeSession

/// Where the last lines of an output begin: what is read of it passes through.
package struct LastLines: Sendable {
  private let count: Int
  /// Where lines begin, a ring of one more than are wanted: the last of them may be empty.
  private var beginnings: [UInt64] = []
  private var next = 0
  private var end: UInt64

  /// The last `count` lines.
  ///
  /// - Parameters:
  ///   - offset: the offset of the first byte that is read.
  ///   - beginsLine: whether that byte begins a line.
  package init(_ count: Int, from offset: UInt64, beginsLine: Bool) {
    self.count = count
    end = offset
    if beginsLine { add(offset) }
  }

  /// Takes what was read next.
  package mutating func take(_ chunk: SessionChunk) {
    end = chunk.end
    switch chunk.content {
    case .bytes(let bytes, _):
      for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
        add(chunk.offset + UInt64(index) + 1)
      }
    // What is kept goes on there.
    case .gap: add(end)
    case .screen, .omitted, .size: break
    }
  }

  /// The offset of the first of them; nil where fewer were read.
  package var beginning: UInt64? {
    guard count > 0 else { return end }
    var lines = beginnings[next...] + beginnings[..<next]
    // Behind the last newline no line has begun.
    if lines.last == end { lines.removeLast() }
    return lines.count < count ? nil : lines.suffix(count).first
  }

  private mutating func add(_ offset: UInt64) {
    guard beginnings.count == count + 1 else { return beginnings.append(offset) }
    beginnings[next] = offset
    next = (next + 1) % beginnings.count
  }
}
