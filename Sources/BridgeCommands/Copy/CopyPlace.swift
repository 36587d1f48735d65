import BridgeSessionProtocol

/// One end of a copy: where it is on its machine, and how it was typed.
package struct CopyPlace: Sendable, Equatable {
  /// For a person: the operand, or HOST:PATH of what a pattern stands for.
  package let text: String
  /// The path. It need not be text.
  package let path: [UInt8]

  package init(text: String, path: [UInt8]) { (self.text, self.path) = (text, path) }

  /// What was typed: bytes that are no UTF-8 stand in it as `ArgumentBytes` has them.
  init(typed text: String, path: [UInt8]) {
    self.init(text: String(decoding: ArgumentBytes.bytes(of: text), as: UTF8.self), path: path)
  }

  /// The name that a copy of it has in a directory; nil where only its content can be meant.
  package var name: [UInt8]? {
    guard let last = path.split(separator: UInt8(ascii: "/")).last else { return nil }
    let name = Array(last)
    return [Array(".".utf8), Array("..".utf8)].contains(name) ? nil : name
  }

  /// Whether no file can have it: the path, or a name in it, is longer than Linux takes (limits.h).
  package var isTooLong: Bool {
    path.count > FileLimits.path
      || path.split(separator: UInt8(ascii: "/")).contains { $0.count > FileLimits.name }
  }

  /// Whether a shell would look for names that match it.
  package var isPattern: Bool { path.contains { "*?[".utf8.contains($0) } }

  /// What it stands for as a pattern. A directory itself, and the one around it, have no name that
  /// `.*` could mean.
  package func matches(_ paths: [[UInt8]], on host: String) -> [CopyPlace] {
    let prefix = host + (host.hasPrefix("ssh://") ? "/" : ":")
    let found = paths.map { path in
      let text = path == self.path ? text : prefix + String(decoding: path, as: UTF8.self)
      return CopyPlace(text: text, path: path)
    }
    return name == nil ? found : found.filter { $0.name != nil }
  }
}
