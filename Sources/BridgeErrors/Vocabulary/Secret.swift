/// A password, a passphrase or a token: bytes that no description, mirror or dump shows, set to
/// zero when the last owner lets go.
///
/// Copies of its bytes (by `reveal`, or by the code that made it) are not wiped; keep such copies
/// short-lived.
public final class Secret: Sendable {
  private let storage: WipedStorage

  /// A secret of these bytes. They should not be referenced from elsewhere, or a copy remains.
  public init(_ bytes: consuming [UInt8]) {
    storage = WipedStorage(bytes: bytes)
  }

  /// A secret of the UTF-8 of `text`.
  public convenience init(_ text: String) {
    self.init(Array(text.utf8))
  }

  /// Whether there is nothing in it.
  public var isEmpty: Bool { storage.bytes.value.isEmpty }

  /// Passes the bytes to `body`; they are valid while it runs.
  ///
  /// - Throws: what `body` throws.
  public func reveal<Result, Failure: Error>(
    _ body: ([UInt8]) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(storage.bytes.value)
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Never the bytes, nor how many.
  public var description: String { "[secret]" }
  /// Never the bytes, nor how many.
  public var debugDescription: String { "[secret]" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

private struct WipedStorage: ~Copyable, Sendable {
  /// A field of its own type, because a `deinit` may only consume its fields, not change them.
  struct Bytes: ~Copyable, Sendable {
    var value: [UInt8]

    consuming func wipe() {
      for index in value.indices { value[index] = 0 }
    }
  }

  let bytes: Bytes

  init(bytes: consuming [UInt8]) {
    self.bytes = Bytes(value: bytes)
  }

  deinit { bytes.wipe() }
}
