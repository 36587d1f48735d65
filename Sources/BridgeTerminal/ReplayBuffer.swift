/// The input of a command that may run again, so that every run has all of it.
package struct ReplayBuffer: Sendable {
  /// More than this is not kept: then there is no second run.
  package static let limit = 4 << 20

  /// Whether all that was read can be given again.
  package private(set) var isWhole = true
  private let isKept: Bool
  private var chunks: [[UInt8]] = []
  private var size = 0

  /// - Parameter isKept: false for what runs once.
  package init(isKept: Bool) { self.isKept = isKept }

  /// Appends `bytes`, which were read next.
  package mutating func record(_ bytes: [UInt8]) {
    size += bytes.count
    isWhole = isWhole && isKept && size <= Self.limit
    if isWhole { chunks.append(bytes) } else { chunks = [] }
  }

  /// The chunk with `index`, from 0; nil where it is not kept.
  package func chunk(_ index: Int) -> [UInt8]? {
    chunks.indices.contains(index) ? chunks[index] : nil
  }
}
