/// What of a request decides whether it is taken.
struct RequestFacts: Sendable, Equatable {
  var isPost = false
  /// Whether it asks for what anybody may have: the empty page and its parts.
  var isStatic = false
  /// What it calls us; nil where it does not say.
  var host: String?
  /// `Origin`, each time it is there.
  var origins: [String] = []
  /// `Sec-Fetch-Site`.
  var fetchSite: String?
  var contentType: String?
  /// Whether it brings a token by itself, which no browser does for a foreign page.
  var hasBearer = false
}

/// Why a request is not taken.
struct RequestRefusal: Error, Sendable, Equatable {
  var status: Int
  var message: String
  /// In how many seconds another attempt makes sense.
  var retryAfter: Int?

  init(_ status: Int, _ message: String, retryAfter: Int? = nil) {
    (self.status, self.message, self.retryAfter) = (status, message, retryAfter)
  }
}

/// The hosts and the origins under which the page is served.
///
/// A name that leads here by a trick (DNS rebinding) is none of the hosts. A page of another
/// origin, also of another port of this machine, is refused although the browser sends its cookie
/// along: ports are one site to `SameSite`.
struct RequestRules: Sendable, Equatable {
  private let hosts: Set<String>
  private let origins: Set<String>

  init(_ origins: [Origin]) {
    hosts = Set(origins.map(\.host))
    self.origins = Set(origins.map(\.text))
  }

  /// The rules of a page on this address.
  init(address: String, port: Int, isEncrypted: Bool, besides origins: [String]) {
    let scheme = isEncrypted ? "https" : "http"
    var names = ["127.0.0.1", "localhost", "[::1]"]
    // The address of all interfaces is no name.
    if !["0.0.0.0", "::"].contains(address) {
      names.append(address.contains(":") ? "[\(address)]" : address)
    }
    self.init((names.map { "\(scheme)://\($0):\(port)" } + origins).compactMap { Origin($0) })
  }

  func refusal(of request: RequestFacts) -> RequestRefusal? {
    guard let host = request.host, hosts.contains(host.lowercased()) else {
      return RequestRefusal(421, "The page is not served under this name.")
    }
    // A browser names one; `null` is the origin of no page of ours.
    if request.origins.count > 1 || request.origins.contains(where: { !origins.contains($0) }) {
      return RequestRefusal(403, "The request comes from another origin.")
    }
    let sites = request.isStatic ? nil : request.fetchSite
    if let sites, sites != "same-origin", sites != "none" {
      return RequestRefusal(403, "The request comes from another site.")
    }
    guard request.isPost else { return nil }
    if request.origins.isEmpty, !request.hasBearer {
      return RequestRefusal(403, "The request has no origin.")
    }
    guard request.contentType?.lowercased().hasPrefix("application/json") == true else {
      return RequestRefusal(415, "The body must be application/json.")
    }
    return nil
  }
}
