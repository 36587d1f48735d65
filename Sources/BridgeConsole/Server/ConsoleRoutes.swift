import BridgeAgentHost
import BridgeErrors
import BridgeStore
import BridgeWaiting
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore

/// What the routes do.
struct ConsoleRoutes: Sendable {
  private struct Token: Decodable {
    var token: String
  }

  private struct Decision: Decodable {
    var option: String
    var values: [String: ApprovalValue]?
  }

  private struct Trust: Decodable {
    var trusts: Bool
  }

  private struct Choice: Decodable {
    var option: ErrorRecoveryOption.Kind
  }

  private struct LoggedIn: Encodable {
    var name: String
    var access: ConsoleToken.Access
  }

  private struct Decided: Encodable {
    /// `decided`, `alreadyDecided` or `canceled`.
    var result: String
    var text: String
  }

  private struct Chosen: Encodable {
    var done: Bool
  }

  let console: Console

  private var cookie: Cookie { Cookie(port: console.port ?? 0) }

  func responder() -> some HTTPResponder<ConsoleContext> {
    let router = Router(context: ConsoleContext.self)
    for route in ConsoleRoute.allCases {
      router.on(RouterPath(route.path), method: route.method) { request, context in
        try await answer(route, request, context)
      }
    }
    return Gate(
      sessions: console.sessions, port: { [console] in console.port ?? 0 },
      rules: { [console] in console.rules }, next: router.buildResponder())
  }

  private func answer(
    _ route: ConsoleRoute, _ request: Request, _ context: ConsoleContext
  ) async throws -> Response {
    if route.audience == .writers, context.visitor?.access != .write {
      throw RequestRefusal(403, "This token may read, and nothing else.")
    }
    switch route {
    case .page: return Answers.data(PackageResources.index_html, "text/html; charset=utf-8")
    case .script:
      return Answers.data(PackageResources.console_js, "text/javascript; charset=utf-8")
    case .style: return Answers.data(PackageResources.console_css, "text/css; charset=utf-8")
    case .description: return Answers.data(PackageResources.openapi_json, "application/json")
    case .health: return await health()
    case .logIn: return try await logIn(request, context)
    case .logOut, .state, .events, .outages, .screen, .decide, .trust, .choose, .metrics:
      guard let visitor = context.visitor else { throw RequestRefusal(401, "Log in first.") }
      return try await answer(route, request, context, visitor)
    }
  }

  private func answer(
    _ route: ConsoleRoute, _ request: Request, _ context: ConsoleContext, _ visitor: Visitor
  ) async throws -> Response {
    switch route {
    case .logOut: return logOut(visitor)
    case .state: return Answers.json(console.board.snapshot(for: visitor, at: console.now()))
    case .events: return try events(request, visitor)
    case .outages: return try await outages(request)
    case .screen: return try screen(request, context, visitor)
    case .decide: return try await decide(request, context, visitor)
    case .trust: return try await trust(request, context, visitor)
    case .choose: return try await choose(request, context)
    case .metrics: return await metrics(visitor)
    case .page, .script, .style, .health, .logIn, .description:
      throw RequestRefusal(404, "There is no such page.")
    }
  }

  // MARK: Reading

  private func health() async -> Response {
    let health = await console.host.health
    let word =
      switch health {
      case .ready: "ready"
      case .degraded: "degraded"
      case .stopping: "stopping"
      }
    return Answers.json(["health": word], health.isServing ? .ok : .serviceUnavailable)
  }

  private func events(_ request: Request, _ visitor: Visitor) throws -> Response {
    guard let place = console.board.place(for: .stream) else {
      throw RequestRefusal(
        503, "Too many pages are open: close one, and load this one again.", retryAfter: 10)
    }
    let lastID = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }
    let stream = BrowserStream(
      board: console.board, sessions: console.sessions, visitor: visitor, lastID: lastID,
      now: console.now)
    return answer(request, with: stream, place)
  }

  private func screen(
    _ request: Request, _ context: ConsoleContext, _ visitor: Visitor
  ) throws -> Response {
    guard let agent = context.parameters.get("agent")?.removingPercentEncoding,
      let screen = console.screen(of: agent)
    else { throw RequestRefusal(404, "There is no screen of such an agent here now.") }
    guard let place = console.board.place(for: .screen) else {
      throw RequestRefusal(503, "Too many screens are open: close one.", retryAfter: 10)
    }
    let stream = ScreenStream(
      screen, console.board, console.sessions, visitor, now: console.now)
    return answer(request, with: stream, place)
  }

  private func answer(
    _ request: Request, with stream: some ServedEvents, _ place: ReaderPlace
  ) -> Response {
    Response(
      status: .ok, headers: [.contentType: "text/event-stream"],
      body: ResponseBody { writer in
        defer { withExtendedLifetime(place) {} }
        // A browser that is gone is noticed here, not by the next event.
        try await request.body.consumeWithCancellationOnInboundClose { _ in
          try await stream.write(to: &writer)
        }
        try await writer.finish(nil)
      })
  }

  private func outages(_ request: Request) async throws -> Response {
    let week: Int64 = 7 * 24 * 3600 * 1000
    var start = console.now().milliseconds - week
    if let text = request.uri.queryParameters["since"] {
      guard let number = Int64(text) else {
        throw RequestRefusal(400, "`since` is a number of milliseconds since 1970.")
      }
      start = number
    }
    do throws(AppError) {
      let outages = try await console.store.outages(since: start)
      return Answers.json(outages.suffix(10_000).map { ConsoleState.Outage($0) })
    } catch {
      throw Answers.refusal(for: error)
    }
  }

  private func metrics(_ visitor: Visitor) async -> Response {
    let text = MetricsText(
      console.board.snapshot(for: visitor, at: console.now()), await console.host.snapshot(),
      streams: console.board.count(of: .stream), missed: console.board.missed,
      refused: console.sessions.refused
    ).text
    return Answers.data(Array(text.utf8), "text/plain; version=0.0.4; charset=utf-8")
  }

  // MARK: Logins

  private func logIn(_ request: Request, _ context: ConsoleContext) async throws -> Response {
    let body = try await request.value(of: Token.self, limit: console.configuration.limits.body)
    let visitor = try console.sessions.visitor(
      withToken: Array(body.token.utf8), from: context.address)
    let value = console.sessions.logIn(visitor)
    var response = Answers.json(LoggedIn(name: visitor.name, access: visitor.access))
    response.headers[.setCookie] = cookie.header(
      value, lasting: console.configuration.limits.login)
    return response
  }

  private func logOut(_ visitor: Visitor) -> Response {
    console.sessions.logOut(visitor)
    console.board.changes.announce()
    var response = Answers.json(["name": visitor.name])
    response.headers[.setCookie] = cookie.header("", lasting: .zero)
    return response
  }

  // MARK: Writing

  private func decide(
    _ request: Request, _ context: ConsoleContext, _ visitor: Visitor
  ) async throws -> Response {
    let body = try await request.value(of: Decision.self, limit: console.configuration.limits.body)
    guard let agent = context.parameters.get("agent")?.removingPercentEncoding,
      let number = context.parameters.get("number", as: Int.self),
      let approvals = console.approvals(of: agent)
    else { throw RequestRefusal(404, "No such question is asked here now.") }
    let id = ApprovalID(agent: agent, number: number)
    guard await approvals.record(id) != nil else {
      throw RequestRefusal(404, "No such question is asked here now.")
    }
    do throws(AppError) {
      let answer = try await approvals.decide(
        id, option: body.option, values: body.values ?? [:], by: visitor.name)
      let word =
        switch answer {
        case .decided: "decided"
        case .alreadyDecided: "alreadyDecided"
        case .canceled: "canceled"
        }
      return Answers.json(
        Decided(result: word, text: answer.text.shown), word == "decided" ? .ok : .conflict)
    } catch {
      throw Answers.refusal(for: error)
    }
  }

  private func trust(
    _ request: Request, _ context: ConsoleContext, _ visitor: Visitor
  ) async throws -> Response {
    let body = try await request.value(of: Trust.self, limit: console.configuration.limits.body)
    guard let number = context.parameters.get("number", as: Int.self),
      let answer = console.hostKeys?.decide(number, trusts: body.trusts, by: visitor.name)
    else { throw RequestRefusal(404, "No such key is asked about here now.") }
    let text = answer.text.shown
    return switch answer {
    case .decided: Answers.json(Decided(result: "decided", text: text))
    case .alreadyDecided: Answers.json(Decided(result: "alreadyDecided", text: text), .conflict)
    }
  }

  private func choose(_ request: Request, _ context: ConsoleContext) async throws -> Response {
    let body = try await request.value(of: Choice.self, limit: console.configuration.limits.body)
    guard let id = context.parameters.get("id").flatMap({ UUID(uuidString: $0) }) else {
      throw RequestRefusal(404, "There is no such error now.")
    }
    // Each supervisor has errors of its own, and does nothing about those of others.
    for supervised in console.supervised where await supervised.choose(body.option, id) {
      return Answers.json(Chosen(done: true))
    }
    return Answers.json(Chosen(done: false), .conflict)
  }
}
