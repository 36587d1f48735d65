extension CatalogueRow {
  private static let differentVersions = """
    Client and server probably differ in version: update the older one. If both are new, report \
    it with this text.
    """

  static func apiNotFound(_ endpoint: String) -> Self {
    Self(
      "apiNotFound", .api, cause: "The server has nothing at that address (404).",
      remedy: "Check the address, and that the versions of client and server match.",
      fact: "The server does not know \(Payload.shown(endpoint)).", exit: .unreachable)
  }

  static func apiBadRequest(_ message: String) -> Self {
    Self(
      "apiBadRequest", .api, cause: "The server does not understand or accept the request (400).",
      remedy: "Correct the request; the same one fails again.",
      fact: "The server did not accept the request: \(Payload.sentence(message))")
  }

  static func apiUnauthorized() -> Self {
    Self(
      "apiUnauthorized", .api, cause: "No user is signed in, or the sign-in has expired (401).",
      remedy: "Sign in again, or check the token this client uses.",
      fact: "The server requires you to sign in.", exit: .refused, tool: .permission)
  }

  static func apiRateLimited(_ retryAfter: Int?) -> Self {
    let isBounded = retryAfter.map { $0 <= AppError.longestWait } ?? false
    return Self(
      "apiRateLimited", .api, cause: "More requests were sent than the server allows (429).",
      remedy: "Wait; an earlier request only makes the wait longer.",
      message: rateLimit(retryAfter), automatic: isBounded ? .waitThenRepeat : .needsPerson,
      exit: .busy, tool: .network)
  }

  static func apiDecodingError(_ type: String, _ detail: String) -> Self {
    Self(
      "apiDecodingError", .api, cause: "The server's answer is not what this client expects.",
      remedy: differentVersions,
      fact: """
        The server's answer could not be read as \(Payload.shown(type)): \
        \(Payload.sentence(detail))
        """,
      exit: .protocolBroken, tool: .parse)
  }

  static func apiMissingField(_ field: String) -> Self {
    Self(
      "apiMissingField", .api, cause: "The server's answer lacks something this client needs.",
      remedy: differentVersions,
      fact: "The server's answer lacks the field \(Payload.shown(field)).",
      exit: .protocolBroken, tool: .parse)
  }

  private static func rateLimit(_ retryAfter: Int?) -> String {
    let when = retryAfter.map { "in \($0) \($0 == 1 ? "second" : "seconds")" }
    return when.map { "You've hit the rate limit. Please try again \($0)." }
      ?? "You've hit the rate limit. Please wait a moment and try again."
  }
}
