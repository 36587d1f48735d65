#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension JSONDecoder {
  /// The decoder of the contract: ISO 8601 dates, keys as they are (S4-18, G-34). A new one each
  /// time, because a decoder is a mutable class.
  public static var apiDecoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return decoder
  }
}

extension JSONEncoder {
  /// The encoder of the contract, the mirror of `JSONDecoder.apiDecoder`.
  public static var apiEncoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}
