import HTTPTypes
import Hummingbird

/// All that is served.
enum ConsoleRoute: CaseIterable, Sendable {
  case page, script, style, health
  case logIn, logOut
  case state, events, outages, screen, decide, trust, choose
  case metrics, description

  /// Who may use it.
  enum Audience: Sendable {
    case all, readers, writers
  }

  var method: HTTPRequest.Method { isPost ? .post : .get }

  /// Whether it changes something.
  var isPost: Bool {
    switch self {
    case .logIn, .logOut, .decide, .trust, .choose: true
    case .page, .script, .style, .health, .state, .events, .outages, .screen, .metrics,
      .description:
      false
    }
  }

  /// Its path, with the names of what stands for parameters in braces.
  var path: String {
    switch self {
    case .page: "/"
    case .script: "/console.js"
    case .style: "/console.css"
    case .health: "/healthz"
    case .logIn: "/login"
    case .logOut: "/logout"
    case .state: "/api/state"
    case .events: "/api/events"
    case .outages: "/api/outages"
    case .screen: "/api/agents/{agent}/screen"
    case .decide: "/api/approvals/{agent}/{number}/decide"
    case .trust: "/api/host-keys/{number}/decide"
    case .choose: "/api/problems/{id}/choose"
    case .metrics: "/metrics"
    case .description: "/api/openapi.json"
    }
  }

  var audience: Audience {
    switch self {
    case .page, .script, .style, .health, .logIn: .all
    case .logOut, .state, .events, .outages, .screen, .metrics, .description: .readers
    case .decide, .trust, .choose: .writers
    }
  }

  /// The route of this path where it has no parameters.
  static func open(_ path: String) -> ConsoleRoute? {
    allCases.first { $0.audience == .all && $0.path == path }
  }
}

/// What a request is answered with beside its request.
struct ConsoleContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// Where it comes from.
  let address: String
  /// Who makes it; nil before the login.
  var visitor: Visitor?

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    address = source.channel.remoteAddress?.ipAddress ?? ""
  }
}
