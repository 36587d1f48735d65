/// The entries of a tree that a copy leaves out: each with all that is below it.
///
/// A pattern is that of a name anywhere in the tree (`*.o`), or of the last names of a path
/// (`cache/*.tmp`); with a slash in front it begins at the top of the tree (`/build`), and with one
/// at its end it stands for directories only (`node_modules/`). These are the rules of rsync(1) for
/// what they have in common; a `*` stands for no slash.
package struct FileExclusion: Sendable, Equatable {
  private struct Rule: Sendable, Equatable {
    /// Of the last names of a path.
    var names: [NamePattern]
    /// Whether these are all of them.
    var isFromTop: Bool
    /// Whether it stands for directories only.
    var isDirectory: Bool

    /// Nil for what can be the end of no path.
    init?(_ pattern: [UInt8]) {
      let parts = pattern.split(separator: FileName.slash, omittingEmptySubsequences: false)
      isFromTop = parts.first?.isEmpty == true
      isDirectory = parts.count > 1 && parts.last?.isEmpty == true
      let names = parts.dropFirst(isFromTop ? 1 : 0).dropLast(isDirectory ? 1 : 0)
      guard (1...FileLimits.depth).contains(names.count),
        names.allSatisfy({ FileName($0) != nil })
      else { return nil }
      // As with rsync, a backslash is itself where there is nothing else with a meaning.
      let hasWildcard = pattern.contains { "*?[".utf8.contains($0) }
      self.names = names.map { NamePattern($0, escapes: hasWildcard) }
    }

    func fits(_ path: FilePath) -> Bool {
      guard isFromTop ? path.count == names.count : path.count >= names.count else { return false }
      return zip(names, path.suffix(names.count)).allSatisfy { pattern, name in
        pattern.matches(name, hidesDots: false)
      }
    }
  }

  /// The patterns as they were given.
  package let patterns: [[UInt8]]
  private let rules: [Rule]

  /// Nothing is left out.
  package static let none = FileExclusion()

  private init() { (patterns, rules) = ([], []) }

  /// Nil where one is no pattern, and for more than a request can hold.
  package init?(_ patterns: [[UInt8]]) {
    let rules = patterns.compactMap { Rule($0) }
    let length = patterns.reduce(0) { $0 + $1.count + 1 }
    guard rules.count == patterns.count, length <= FileLimits.exclusion else { return nil }
    (self.patterns, self.rules) = (patterns, rules)
  }

  /// Whether `path` is left out; that what it is in is left out, too, is not seen here.
  package func leavesOut(_ path: FilePath, isDirectory: Bool) -> Bool {
    rules.contains { (isDirectory || !$0.isDirectory) && $0.fits(path) }
  }
}

extension FileExclusion {
  /// The bytes of the wire, nil for nothing: a zero byte is in no pattern.
  var bytes: [UInt8]? {
    patterns.isEmpty ? nil : Array(patterns.joined(separator: [0]))
  }

  /// What `bytes` says.
  init(_ bytes: [UInt8]) throws(ProtocolError) {
    let patterns = bytes.split(separator: 0, omittingEmptySubsequences: false).map { [UInt8]($0) }
    guard let known = FileExclusion(patterns) else { throw .malformedFields("exclude") }
    self = known
  }
}
