import BridgeSessionProtocol

/// Where the top of a copy lies: a name in a directory that the user named.
package struct FileTarget {
  /// The directory around it.
  var directory: OpenFile
  /// Its name there; nil where it is that directory itself.
  var name: [UInt8]?
  /// Whether it lies inside the destination, a directory that was there before.
  var isInside: Bool

  /// - Parameters:
  ///   - path: the destination.
  ///   - name: the name inside of it where it is a directory; nil for its content.
  ///   - isInside: what an earlier channel of the same copy decided.
  ///   - isRecursive: whether it becomes a directory where nothing is there.
  init(
    _ path: [UInt8], name: [UInt8]?, isInside: Bool?, isRecursive: Bool
  ) throws(FileFault) {
    let (before, last) = Self.split(path)
    // As cp(1): a name with a slash behind it is that of a directory.
    if path.last == UInt8(ascii: "/"), !isRecursive, !Self.isDirectory(path) {
      throw FileFault(.notDirectory)
    }
    do throws(SystemFailure) {
      if isInside ?? Self.isDirectory(path) {
        self.isInside = true
        self.name = name
        directory = try .directory(named: path)
      } else {
        guard let last, FileName(last) != nil else {
          throw last.map { $0.count > FileLimits.name } == true ? SystemFailure.tooLong : .missing
        }
        self.isInside = false
        self.name = last
        directory = try .directory(named: before)
      }
    } catch {
      throw error.isMissing
        ? FileFault(.unwritable, FileFault.noDirectory) : error.ofTarget
    }
  }

  private static func isDirectory(_ path: [UInt8]) -> Bool {
    (try? OpenFile.status(named: path))?.kind == .directory
  }

  /// The directory of a path and the name in it; nil for what ends in no name.
  package static func split(_ path: [UInt8]) -> (directory: [UInt8], name: [UInt8]?) {
    let slash = UInt8(ascii: "/")
    var path = path[...]
    while path.count > 1, path.last == slash { path.removeLast() }
    let name = path.suffix(while: { $0 != slash })
    var directory = path.dropLast(name.count)
    while directory.count > 1, directory.last == slash { directory.removeLast() }
    return (
      directory.isEmpty ? [UInt8(ascii: ".")] : Array(directory), name.isEmpty ? nil : Array(name)
    )
  }
}

extension Collection where Element == UInt8, Self: BidirectionalCollection {
  /// The longest end of which every byte fits.
  fileprivate func suffix(while fits: (UInt8) -> Bool) -> SubSequence {
    var start = endIndex
    while start > startIndex, fits(self[index(before: start)]) { start = index(before: start) }
    return self[start...]
  }
}
