public import BridgeErrors
import FoundationEssentials

/// A value of the application's, as it is kept: the store does not look into it.
public struct StoredValue: Sendable, Hashable {
  /// What is kept.
  public var bytes: [UInt8]

  /// A value of these bytes.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  /// A value as JSON, with sorted keys: equal values have equal bytes.
  ///
  /// - Throws: `encodingError`.
  public init(encoding value: some Encodable) throws(AppError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      bytes = Array(try encoder.encode(value))
    } catch {
      throw .encodingError(type: "\(type(of: value))", detail: "\(error)")
    }
  }

  /// The value, from JSON.
  ///
  /// - Throws: `decodingError` where it is none, or of another type.
  public func decoded<Value: Decodable>(as type: Value.Type) throws(AppError) -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      throw .decodingError(type: "\(type)", detail: "\(error)")
    }
  }
}
