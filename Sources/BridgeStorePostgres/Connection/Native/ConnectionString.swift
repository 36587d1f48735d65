import BridgeErrors
import CLibPQ

/// A connection string of libpq
/// (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING).
struct ConnectionString: Sendable {
  /// The host and the database, for errors: nothing else of it is shown.
  let name: String
  private let text: Secret

  /// - Throws: `validationError` where libpq cannot read it, without its text, which may name a
  ///   password.
  init(_ text: Secret) throws(AppError) {
    let values = text.reveal { Self.values(in: String(decoding: $0, as: UTF8.self)) }
    guard let values, text.reveal({ !$0.contains(0) }) else {
      throw .validationError(
        field: "connection", message: "PostgreSQL's library cannot read the connection string.")
    }
    self.text = text
    let host = values["host"] ?? values["hostaddr"] ?? "localhost"
    name = "PostgreSQL at \(host)" + (values["dbname"].map { "/\($0)" } ?? "")
  }

  /// What `PostgresConnection` takes.
  var settings: [(keyword: String, value: String)] {
    [
      ("fallback_application_name", "bridge-store"),
      ("dbname", text.reveal { String(decoding: $0, as: UTF8.self) }),
      ("client_encoding", "UTF8"),
    ]
  }

  private static func values(in text: String) -> [String: String]? {
    guard let options = unsafe PQconninfoParse(text, nil) else { return nil }
    defer { unsafe PQconninfoFree(options) }
    var values: [String: String] = [:]
    var option = unsafe options
    while let keyword = unsafe option.pointee.keyword {
      if let value = unsafe option.pointee.val {
        values[unsafe String(cString: keyword)] = unsafe String(cString: value)
      }
      unsafe option += 1
    }
    return values
  }
}
