package import BridgeSessionProtocol

/// What the streams of one file say of it together.
package struct FileParts: Sendable, Equatable {
  /// One stream that is settled.
  package struct Part: Sendable, Equatable {
    /// How its file began: the length of the stream, times and mode, which file it is.
    package var start: FileStart
    /// Who wrote it, as its receiver said when it was ready.
    package var origin: [UInt8]
    /// Whether the file was changed while it was read.
    package var hasChanged: Bool

    package init(_ start: FileStart, origin: [UInt8], hasChanged: Bool) {
      (self.start, self.origin, self.hasChanged) = (start, origin, hasChanged)
    }
  }

  /// How many streams there were.
  package let count: Int
  /// The length of the file.
  package let size: UInt64
  package let meta: FileMeta
  /// Who wrote all of them.
  package let origin: [UInt8]
  /// Whether the file was changed while one of them read it: the copy has what was read.
  package let hasChanged: Bool

  /// All streams of a file, in their order.
  ///
  /// - Throws: `unreadable` where the file was changed in between, `busy` where another run wrote
  ///   in between, `violation` for lengths that no file has.
  package init(_ parts: [Part]) throws(FileFault) {
    let stripes = FileStripe.all(of: parts.count)
    guard let first = parts.first, stripes.count == parts.count else {
      throw FileFault(.violation, "\(parts.count) streams")
    }
    var size: UInt64 = 0
    for part in parts {
      let (sum, isBeyond) = size.addingReportingOverflow(part.start.size)
      guard !isBeyond else { throw FileFault(.violation, "a file of more than 2^64 bytes") }
      size = sum
    }
    // One that is put together of two states of it would be neither.
    let isOne = parts.allSatisfy {
      $0.start.identity == first.start.identity && $0.start.meta == first.start.meta
    }
    guard isOne else { throw FileFault(.unreadable, "it was changed while it was read") }
    guard zip(stripes, parts).allSatisfy({ $0.length(of: size) == $1.start.size }) else {
      throw FileFault(.violation, "the streams of a file have lengths that do not fit together")
    }
    guard parts.allSatisfy({ $0.origin == first.origin }) else { throw FileFault(.busy) }
    count = parts.count
    self.size = size
    meta = first.start.meta
    origin = first.origin
    hasChanged = parts.contains(where: \.hasChanged)
  }
}
