package import BridgeErrors
import BridgeTerminal

/// SRC or DST as the user typed it: a path on this machine, or `[user@]host:path`. Bytes that are
/// no UTF-8 stand in it as `ArgumentBytes` has them.
package enum CopyOperand: Sendable, Equatable {
  /// A path on this machine.
  case local(String)
  /// A path on a host: absolute, or from the home directory.
  case remote(host: String, path: String)

  /// Parses `text` as scp(1) does: a colon before the first slash makes it remote, `./a:b` is a
  /// file here. `ssh://host:port/path` (or `scp://`) is from the home directory,
  /// `ssh://host//path` absolute; `%XX` in one is a byte.
  ///
  /// - Throws: `validationError` that names `field`.
  package init(_ text: String, field: String) throws(AppError) {
    guard !text.isEmpty else {
      throw .validationError(field: field, message: "It is empty: a path, or HOST:PATH.")
    }
    guard text.utf8.count <= 4095, !text.utf8.contains(0) else {
      throw .validationError(field: field, message: "It is longer than 4095 bytes.")
    }
    guard !["ws://", "wss://"].contains(where: text.lowercased().hasPrefix) else {
      throw .validationError(field: field, message: "Files are copied over SSH only.")
    }
    if let scheme = ["ssh://", "scp://"].first(where: text.lowercased().hasPrefix) {
      let rest = text.dropFirst(scheme.count)
      let slash = rest.firstIndex(of: "/") ?? rest.endIndex
      let coded = ArgumentBytes.bytes(of: String(rest[slash...].dropFirst()))
      guard let path = PercentCoding.decoded(coded).flatMap({ ArgumentBytes.text(of: $0) }) else {
        throw .validationError(
          field: field, message: "A % in it is not followed by the digits of a byte: %25 is a %.")
      }
      self = .remote(host: "ssh://" + rest[..<slash], path: Self.path(path))
      return
    }
    var isBracketed = false
    for index in text.indices {
      switch text[index] {
      case "[": isBracketed = true
      case "]": isBracketed = false
      case "/" where !isBracketed:
        self = .local(text)
        return
      case ":" where !isBracketed && index != text.startIndex:
        let path = String(text[text.index(after: index)...])
        self = .remote(host: String(text[..<index]), path: Self.path(path))
        return
      case _: continue
      }
    }
    self = .local(text)
  }

  /// The home directory is where a command of the host begins.
  private static func path(_ text: String) -> String {
    if text.isEmpty || text == "~" { return "." }
    guard text.hasPrefix("~/") else { return text }
    let rest = text.drop { $0 == "~" || $0 == "/" }
    return rest.isEmpty ? "." : String(rest)
  }

  /// The path.
  package var path: [UInt8] {
    switch self {
    case .local(let path), .remote(_, let path): ArgumentBytes.bytes(of: path)
    }
  }

  /// HOST as it was typed; nil for a path on this machine.
  package var host: String? {
    switch self {
    case .local: nil
    case .remote(let host, _): host
    }
  }
}
