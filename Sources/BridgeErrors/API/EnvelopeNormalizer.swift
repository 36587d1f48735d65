/// Makes every error body an envelope, whatever a route answered with (S4-31…S4-33, G-32).
public enum EnvelopeNormalizer {
  static let fallbackMessage = "An error occurred"

  /// `body` as it may be sent with `status`.
  ///
  /// Below 400, and where `body` has an `error` object, it stays as it is. Everything else is
  /// wrapped: text becomes the message, and what says nothing becomes "An error occurred". Both are
  /// JSON values as `JSONSerialization` makes them, nil or null for none.
  public static func normalize(status: Int, body: Any?) -> Any? {
    guard status >= 400 else { return body }
    guard let object = body as? [String: Any], let error = object["error"] else {
      return envelope(message: body as? String)
    }
    if error is [String: Any] {
      return body
    }
    return envelope(message: error as? String)
  }

  private static func envelope(message: String?) -> [String: Any] {
    let text = message.map(APIText.peer) ?? ""
    return [
      "error": [
        "code": ErrorResponse.unknownCode,
        "message": text.isEmpty ? fallbackMessage : text,
      ]
    ]
  }
}
