import BridgeErrors
import BridgeWaiting
import HTTPTypes
import Hummingbird

/// Refuses what may not pass, and gives every answer the header fields that protect it.
struct Gate<Next: HTTPResponder>: HTTPResponder where Next.Context == ConsoleContext {
  typealias Context = ConsoleContext

  let sessions: Sessions
  /// Known once the page is served, as the rules are.
  let port: @Sendable () -> Int
  let rules: @Sendable () -> RequestRules?
  let next: Next

  @concurrent func respond(
    to request: Request, context: ConsoleContext
  ) async throws -> Response {
    var response: Response
    do {
      var context = context
      context.visitor = try admit(request, context)
      response = try await next.respond(to: request, context: context)
    } catch let refusal as RequestRefusal {
      response = Answers.refusal(refusal)
    } catch let error as HTTPError {
      response = Answers.refusal(RequestRefusal(error.status.code, "There is no such page."))
    } catch {
      response = Answers.refusal(RequestRefusal(500, "The page has failed."))
    }
    for (name, value) in Protection.fields { response.headers[name] = value }
    return response
  }

  /// Who makes the request; nil for one that needs no login.
  private func admit(
    _ request: Request, _ context: ConsoleContext
  ) throws(RequestRefusal) -> Visitor? {
    let open = ConsoleRoute.open(request.uri.path)
    let token = Self.bearer(request)
    if let refusal = rules().map({ $0.refusal(of: Self.facts(request, open)) }) {
      if let refusal { throw refusal }
    } else {
      throw RequestRefusal(503, "The page is not served yet.")
    }
    guard open == nil else { return nil }
    if let token { return try sessions.visitor(withToken: token, from: context.address) }
    guard let value = Cookie(port: port()).value(in: request.headers[values: .cookie]),
      let visitor = sessions.visitor(withCookie: value)
    else { throw RequestRefusal(401, "Log in first.") }
    return visitor
  }

  private static func facts(_ request: Request, _ open: ConsoleRoute?) -> RequestFacts {
    RequestFacts(
      isPost: request.method != .get && request.method != .head,
      isStatic: open != nil && open != .logIn, host: request.head.authority,
      origins: request.headers[values: .origin],
      fetchSite: Protection.fetchSite.flatMap { request.headers[$0] },
      contentType: request.headers[.contentType], hasBearer: bearer(request) != nil)
  }

  private static func bearer(_ request: Request) -> [UInt8]? {
    guard let value = request.headers[.authorization], value.hasPrefix("Bearer ") else {
      return nil
    }
    return Array(value.utf8.dropFirst("Bearer ".utf8.count))
  }
}

/// Header fields that tell a browser what the page may do: nothing but what it needs.
enum Protection {
  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  static let fields: [(HTTPField.Name, String)] = [
    ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"),
    ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
  ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }
  static let fetchSite = HTTPField.Name("Sec-Fetch-Site")
}

/// The cookie of a login.
struct Cookie: Sendable {
  /// Only the host itself may set a cookie with this prefix, over a way that the browser trusts:
  /// TLS, or loopback. Ports share cookies: its name has the port, so that two pages of one machine
  /// do not log each other out.
  let name: String

  init(port: Int) { name = "__Host-bridge-\(port)" }

  func header(_ value: String, lasting: Duration) -> String {
    "\(name)=\(value); Path=/; Secure; HttpOnly; SameSite=Strict; "
      + "Max-Age=\(lasting.components.seconds)"
  }

  /// The value in header fields of a request; nil where it is not there, or twice.
  func value(in fields: [String]) -> String? {
    let pairs = fields.joined(separator: ";").split(separator: ";").map { pair in
      pair.drop { $0 == " " }
    }
    let values = pairs.filter { $0.hasPrefix(name + "=") }.map { $0.dropFirst(name.count + 1) }
    return values.count == 1 ? values.first.map(String.init) : nil
  }
}
