#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An answer that is looked at in the order status, error, success (S4-06…S4-08, S4-15).
public protocol APIResponse {
  /// What a good answer holds.
  associatedtype SuccessType: Decodable
  /// The success, or the error the server reported. Throws the `DecodingError` of a success body
  /// that is not a `SuccessType`.
  static func decode(
    from data: Data, statusCode: Int
  ) throws -> Result<SuccessType, APIError>
}
