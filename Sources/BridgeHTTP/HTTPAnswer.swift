public import Foundation

/// An answer as it came, before it is interpreted.
public struct HTTPAnswer: Sendable {
  /// The HTTP status; nil where what came is not HTTP.
  public var status: Int?
  /// The header fields, by lower-case name.
  public var headers: [String: String]
  /// The body.
  public var body: Data

  /// An answer of these parts; names of `headers` are put into lower case.
  public init(status: Int?, headers: [String: String] = [:], body: Data = Data()) {
    self.status = status
    self.headers = Dictionary(
      headers.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
    self.body = body
  }
}
