public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Whatever carries a request to a server (S4-44).
public protocol HTTPTransport: Sendable {
  /// The server's answer. Throws the `URLError` of an exchange that failed, `.cancelled` where the
  /// caller gave up.
  func answer(to request: URLRequest) async throws(URLError) -> HTTPAnswer
}
