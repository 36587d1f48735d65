import BridgeAgentHost
import BridgeErrors
import BridgeWebSocket
import Foundation

/// What `agent-host` runs, from a JSON file.
struct HostConfiguration: Decodable {
  /// An agent: a program on a machine.
  struct Agent: Decodable {
    var name: String
    var machine: String
    /// For the user's shell there.
    var command: String
    /// What the program reads; all that it reads, where it does not ask for approvals.
    var input: String?
    /// In which protocol it asks for approvals; nil where it does not.
    var approvals: ApprovalDialect?
  }

  /// The page for browsers.
  struct Page: Decodable {
    /// On loopback.
    var port: Int
  }

  /// The machines, named as in ssh_config.
  var machines: [String]
  /// The WebSocket URL of the chat.
  var chat: String
  /// The path of the file that keeps what is to outlive this program.
  var store: String
  /// The path of the `bridge-host` that is installed on machines that have none.
  var bridgeHost: String?
  /// nil for none.
  var page: Page?
  var agents: [Agent]

  private static let keys: Set = ["machines", "chat", "store", "bridgeHost", "page", "agents"]
  private static let pageKeys: Set = ["port"]
  private static let agentKeys: Set = ["name", "machine", "command", "input", "approvals"]

  /// Reads the file at `path`.
  ///
  /// - Throws: `fileNotFound`; `validationError` with the path, and what is wrong where.
  init(path: String) throws(AppError) {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw .fileNotFound(path: path)
    }
    do {
      _ = try JSONSerialization.jsonObject(with: data)
    } catch {
      throw .validationError(field: path, message: Self.syntax(error, in: data))
    }
    if let problem = Self.unknownKey(in: data) {
      throw .validationError(field: path, message: problem)
    }
    do {
      self = try JSONDecoder().decode(Self.self, from: data)
    } catch {
      throw .validationError(field: path, message: Self.reason(error))
    }
    if let problem {
      throw .validationError(field: path, message: problem)
    }
  }

  private var problem: String? {
    do throws(AppError) {
      _ = try WebSocketEndpoint(chat)
    } catch {
      return "chat: \(error.shownMessage())"
    }
    if let page, !(0...65535).contains(page.port) { return "page.port: \(page.port) is no port." }
    for (index, agent) in agents.enumerated() {
      if !machines.contains(agent.machine) {
        return "agents[\(index)].machine: \(agent.machine) is not one of the machines."
      }
      if agents[..<index].contains(where: { $0.name == agent.name }) {
        return "agents[\(index)].name: There are two agents \(agent.name)."
      }
    }
    return Set(machines).count == machines.count ? nil : "machines: One is there twice."
  }

  /// A word that is misspelled would be one that has no effect.
  private static func unknownKey(in data: Data) -> String? {
    let object = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
    if let key = object.keys.sorted().first(where: { !keys.contains($0) }) {
      return "\(key): There is no such key."
    }
    let page = object["page"] as? [String: Any] ?? [:]
    if let key = page.keys.sorted().first(where: { !pageKeys.contains($0) }) {
      return "page.\(key): There is no such key."
    }
    for (index, agent) in (object["agents"] as? [[String: Any]] ?? []).enumerated() {
      if let key = agent.keys.sorted().first(where: { !agentKeys.contains($0) }) {
        return "agents[\(index)].\(key): There is no such key."
      }
    }
    return nil
  }

  /// What is no JSON, and in which line.
  private static func syntax(_ error: any Error, in data: Data) -> String {
    let detail = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String ?? "no JSON"
    guard let offset = detail.firstMatch(of: /around character ([0-9]+)/)?.output.1 else {
      return "JSON: \(detail)"
    }
    let line = data.prefix(Int(offset) ?? 0).count { $0 == UInt8(ascii: "\n") } + 1
    return "line \(line): \(detail)"
  }

  private static func reason(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .keyNotFound(let key, let context):
      return "\(place(context.codingPath + [key])): This key is missing."
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return "\(place(context.codingPath)): \(context.debugDescription)"
    case .dataCorrupted(let context):
      return "\(place(context.codingPath)): \(context.debugDescription)"
    @unknown default: return "\(error)"
    }
  }

  private static func place(_ path: [any CodingKey]) -> String {
    let text = path.reduce("") { text, key in
      text + (key.intValue.map { "[\($0)]" } ?? (text.isEmpty ? "" : ".") + key.stringValue)
    }
    return text.isEmpty ? "JSON" : text
  }
}
