/// How much there is to copy: known once it is known of every source, or of every stream of the
/// only one.
package struct CopyTotals: Sendable {
  private var parts: [(files: Int?, bytes: Int)?]

  /// Of so many parts nothing is known.
  package init(_ count: Int) { parts = Array(repeating: nil, count: count) }

  /// A part has so much; files are nil where they are not counted.
  package mutating func set(_ part: Int, files: Int?, bytes: Int) {
    guard parts.indices.contains(part) else { return }
    parts[part] = (files, bytes)
  }

  /// A part is over, after so much: where it was not known before, that was all of it.
  package mutating func settle(_ part: Int, files: Int, bytes: Int) {
    guard parts.indices.contains(part), parts[part] == nil else { return }
    set(part, files: files, bytes: bytes)
  }

  /// All bytes; nil where they are not known of each part.
  package var bytes: Int? {
    parts.reduce(0) { sum, part in
      guard let sum, let part else { return nil }
      let (next, isBeyond) = sum.addingReportingOverflow(part.bytes)
      return isBeyond ? .max : next
    }
  }

  /// All files; nil where they are not known of each part.
  package var files: Int? {
    parts.reduce(0) { sum, part in
      guard let sum, let files = part?.files else { return nil }
      let (next, isBeyond) = sum.addingReportingOverflow(files)
      return isBeyond ? .max : next
    }
  }
}
