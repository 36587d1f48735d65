#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Failures that disclose nothing about accounts or infrastructure to a client (S3-87…S3-91).
public enum SecureError: Error, Sendable, Equatable, CaseIterable {
  /// Signing in failed; which half was wrong is not disclosed.
  case authenticationFailed
  /// Something inside failed; what, stays inside.
  case operationFailed
}

extension SecureError: LocalizedError {
  /// The text for a person.
  public var errorDescription: String? {
    switch self {
    case .authenticationFailed: "Invalid email or password."
    case .operationFailed: "Operation failed. Please try again."
    }
  }
}
