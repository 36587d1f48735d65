/// One name in a directory, as a peer sent it, which can lead nowhere but into that directory.
package struct FileName: Sendable, Hashable {
  /// Its bytes: any but zero and the slash.
  package let bytes: [UInt8]

  /// Nil for what is no name of a file: nothing, `.`, `..`, with a slash or a zero byte, too long.
  package init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard (1...FileLimits.name).contains(bytes.count), !bytes.contains(0),
      !bytes.contains(Self.slash), bytes != [Self.dot], bytes != [Self.dot, Self.dot]
    else { return nil }
    self.bytes = bytes
  }

  package static let slash = UInt8(ascii: "/")
  static let dot = UInt8(ascii: ".")

  /// Whether a symbolic link leads to a place inside the copied tree, whatever other links like it
  /// lie on the way: relative, `..` only in front, and not above the top.
  ///
  /// - Parameter depth: directories of the tree around the link, its top one included.
  package static func staysInside(target: [UInt8], depth: Int) -> Bool {
    guard let first = target.first, first != slash, target.count <= FileLimits.path,
      !target.contains(0)
    else { return false }
    var above = 0
    var wentDown = false
    for part in target.split(separator: slash) {
      if part.elementsEqual([dot]) { continue }
      guard part.elementsEqual([dot, dot]) else {
        wentDown = true
        continue
      }
      guard !wentDown else { return false }
      above += 1
    }
    return above < depth
  }
}

/// The names that lead to an entry from the top of a tree; none for the top itself.
package typealias FilePath = [[UInt8]]

extension FilePath {
  /// The names with slashes between them.
  package var joined: [UInt8] { [UInt8](joined(separator: [FileName.slash])) }

  /// The names of a path of the wire; nil where one is no name.
  package init?(joined bytes: [UInt8]) {
    guard !bytes.isEmpty else {
      self = []
      return
    }
    let parts = bytes.split(separator: FileName.slash, omittingEmptySubsequences: false)
    guard parts.count <= FileLimits.depth, parts.allSatisfy({ FileName($0) != nil }) else {
      return nil
    }
    self = parts.map { [UInt8]($0) }
  }
}
