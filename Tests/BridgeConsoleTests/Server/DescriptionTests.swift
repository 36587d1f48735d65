import BridgeAgentHost
import BridgeErrors
import BridgeStore
import BridgeSupervision
import BridgeTestKit
import Foundation
import Testing

@testable import BridgeConsole

/// A value of JSON.
private indirect enum Value: Decodable, Equatable {
  case object([String: Value])
  case array([Value])
  case text(String)
  case number(Double)
  case boolean(Bool)
  case null

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([String: Value].self) {
      self = .object(value)
    } else if let value = try? container.decode([Value].self) {
      self = .array(value)
    } else {
      self = .null
    }
  }

  subscript(key: String) -> Value? {
    guard case .object(let members) = self else { return nil }
    return members[key]
  }

  var members: [String: Value] {
    guard case .object(let members) = self else { return [:] }
    return members
  }

  var elements: [Value] {
    guard case .array(let elements) = self else { return [] }
    return elements
  }

  var text: String? {
    guard case .text(let text) = self else { return nil }
    return text
  }
}

/// Compares values with the schemas of the document.
private struct Document {
  let root: Value

  /// Where a value differs from a schema; empty where it does not.
  func problems(of value: Value, _ schema: Value, at path: String = "") -> [String] {
    if let name = schema["$ref"]?.text?.split(separator: "/").last {
      guard let named = root["components"]?["schemas"]?[String(name)] else {
        return ["\(path): no schema \(name)"]
      }
      return problems(of: value, named, at: path)
    }
    if let choices = schema["oneOf"]?.elements {
      let fits = choices.contains { problems(of: value, $0, at: path).isEmpty }
      return fits ? [] : ["\(path): none of the choices"]
    }
    if let words = schema["enum"]?.elements, !words.contains(value) {
      return ["\(path): \(value) is none of \(words)"]
    }
    switch (schema["type"]?.text, value) {
    case ("object", .object(let members)): return problems(of: members, schema, at: path)
    case ("array", .array(let elements)):
      guard let item = schema["items"] else { return ["\(path): an array of what?"] }
      return elements.enumerated().flatMap {
        problems(of: $0.element, item, at: "\(path)[\($0.offset)]")
      }
    case ("string", .text), ("number", .number), ("boolean", .boolean): return []
    case ("integer", .number(let number)) where number == number.rounded(): return []
    case (let type, _): return ["\(path): \(value) is no \(type ?? "value")"]
    }
  }

  private func problems(
    of members: [String: Value], _ schema: Value, at path: String
  ) -> [String] {
    guard let known = schema["properties"]?.members else { return [] }
    let required = (schema["required"]?.elements ?? []).compactMap(\.text)
    return required.filter { members[$0] == nil }.map { "\(path).\($0) is missing" }
      + members.flatMap { name, value in
        known[name].map { problems(of: value, $0, at: "\(path).\(name)") }
          ?? ["\(path).\(name) is not described"]
      }
  }

  /// Compares an answer with what its route and status are described to have.
  func problems(of reply: Reply, _ route: ConsoleRoute) -> [String] {
    let operation = root["paths"]?[route.path]?[route.isPost ? "post" : "get"]
    let response = operation?["responses"]?["\(reply.status)"]
    guard let content = response?["content"]?.members, let (type, media) = content.first else {
      return ["\(route.path): \(reply.status) is not described"]
    }
    guard reply.headers["content-type"]?.hasPrefix(type) == true else {
      return ["\(route.path): \(reply.headers["content-type"] ?? "") is not \(type)"]
    }
    guard type == "application/json" else { return [] }
    guard let value = try? reply.value(as: Value.self), let schema = media["schema"] else {
      return ["\(route.path): no JSON: \(reply.body)"]
    }
    return problems(of: value, schema, at: route.path)
  }
}

@Suite("The document describes the page", .timeLimit(.minutes(2))) struct DescriptionTests {
  private func document() throws -> Document {
    Document(
      root: try JSONDecoder().decode(Value.self, from: Data(PackageResources.openapi_json)))
  }

  @Test func itHasEachRouteAndNoOther() throws {
    let root = try document().root
    #expect(root["openapi"] == .text("3.1.0"))
    let described = (root["paths"]?.members ?? [:]).flatMap { path, item in
      item.members.keys.map { "\($0) \(path)" }
    }
    let routes = ConsoleRoute.allCases.map { "\($0.isPost ? "post" : "get") \($0.path)" }
    #expect(described.sorted() == routes.sorted())
    for route in ConsoleRoute.allCases {
      let operation = root["paths"]?[route.path]?[route.isPost ? "post" : "get"]
      #expect((operation?["security"]?.elements.isEmpty == true) == (route.audience == .all))
      let names = route.path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
        String($0.dropFirst().dropLast())
      }
      let parameters = (operation?["parameters"]?.elements ?? [])
        .filter { $0["in"] == .text("path") }.compactMap { $0["name"]?.text }
      #expect(parameters == names, "\(route.path)")
    }
  }

  @Test func answersAreAsItSays() async throws {
    let world = try await ConsoleWorld()
    try await withWorld(world) { world in
      let document = try document()
      let approvals = ApprovalSample.approvals()
      let id = try await fill(world, approvals)
      let field = world.bearer(world.writer)
      for route in ConsoleRoute.allCases where !route.isPost && route != .events {
        let reply = try await world.get(route.path, [field])
        #expect(document.problems(of: reply, route) == [])
        let foreign = try await world.get(route.path, ["Host: evil.example"])
        #expect(document.problems(of: foreign, route) == [])
        let bare = try await world.get(route.path)
        #expect(document.problems(of: bare, route) == [])
      }
      let paths: [ConsoleRoute: [String]] = [
        .logIn: ["/login"], .logOut: ["/logout"],
        .decide: ["/api/approvals/a/1/decide", "/api/approvals/a/9/decide"],
        .choose: ["/api/problems/\(id)/choose", "/api/problems/x/choose"],
      ]
      let bodies = [
        "{}", #"{"option":"maybe"}"#, #"{"option":"checkSettings"}"#, #"{"option":"yes"}"#,
        #"{"option":"no"}"#, #"{"option":"dismiss"}"#,
        #"{"token":"\#(ConsoleWorld.text(world.writer))"}"#,
      ]
      for (route, paths) in paths {
        for (path, body) in paths.flatMap({ path in bodies.map { (path, $0) } }) {
          let reply = try await world.post(path, body, [field])
          #expect(document.problems(of: reply, route) == [], "\(path) \(body)")
        }
        let foreign = try await world.post(paths[0], "{}", [field], from: "http://evil.example")
        #expect(document.problems(of: foreign, route) == [])
      }
    }
  }

  /// Something of everything that a state may have; the id of an error.
  private func fill(_ world: ConsoleWorld, _ approvals: Approvals) async throws -> String {
    world.console.show(approvals, of: "a")
    let form = ApprovalForm(
      option: "no", fields: [.init(name: "n", kind: .text, choices: ["x"])])
    try await approvals.request(ApprovalSample.request(of: "a", form: form))
    try await approvals.request(ApprovalSample.request(of: "a", "2"))
    _ = try await approvals.decide(.init(agent: "a", number: 2), option: "yes", by: "ben")
    try await world.addLink()
    try await world.moving { world.link()?.state == .up }
    world.peer.answer = .refuse
    await world.peer.cut()
    try await world.moving { world.state.problems.count == 1 && world.link()?.nextAt != nil }
    try await world.store.record(
      StoredOutage(
        id: "o", link: "l", start: Date().milliseconds,
        phases: [.init(name: "wait", duration: .milliseconds(1.5))], end: Date().milliseconds))
    try await eventually { world.state.approvals.count == 2 }
    return try #require(world.state.problems.first?.id)
  }
}
