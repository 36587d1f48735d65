public import BridgeErrors

/// The needs of a secret in a form: typed twice, empty at first, sent.
extension Secret: Equatable {
  /// Whether both hold the same bytes.
  public static func == (left: Secret, right: Secret) -> Bool {
    left.reveal { bytes in right.reveal { $0 == bytes } }
  }
}

extension Secret: ExpressibleByStringLiteral {
  /// The secret in a literal, for tests and empty forms.
  public convenience init(stringLiteral text: String) {
    self.init(text)
  }
}

extension Secret: Codable {
  /// Reads the text as it came over the wire.
  public convenience init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  /// Writes the text as it goes over the wire.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    try value.encode(reveal { String(decoding: $0, as: UTF8.self) })
  }

  /// Its length in Characters.
  var count: Int {
    reveal { String(decoding: $0, as: UTF8.self).count }
  }
}
