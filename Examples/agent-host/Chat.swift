import BridgeAgentHost
import BridgeConsole
import BridgeErrors
import BridgeSessionProtocol
import BridgeWebSocket
import Foundation

/// A message to the chat.
struct ChatMessage: Encodable {
  struct Option: Encodable {
    var id: String
    var name: String
  }

  var agent: String
  /// What the agent has printed.
  var line: String?
  /// Whether that was to standard error.
  var isError: Bool?
  /// So many bytes that it has printed are no longer kept.
  var lost: Int?
  /// The number of a question, what it is, and the answers that it takes.
  var approval: Int?
  var title: String?
  var options: [Option]?
  /// What became of a person's answer.
  var answer: String?
  /// How the agent has ended.
  var ended: String?

  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}

extension ChatMessage {
  init(_ line: SessionLine, of agent: String) {
    self.init(agent: agent, line: line.text)
    if line.stream == .standardError { isError = true }
    if case .gap(let range) = line.content { lost = range.count }
  }

  init(_ record: ApprovalRecord) {
    let options = record.request.options.map { Option(id: $0.id, name: $0.name) }
    self.init(
      agent: record.id.agent, approval: record.id.number, title: record.request.title,
      options: options)
  }
}

/// An answer of a person in the chat.
private struct ChatAnswer: Decodable {
  var agent: String
  var approval: Int
  var option: String
  var by: String
}

/// The questions of the agents that this host carries, and about the keys of machines.
actor Questions {
  let hostKeys = HostKeyQuestions()
  private var approvals: [String: Approvals] = [:]
  /// Where people answer as well.
  private var console: Console?

  func show(on console: Console) { self.console = console }

  func use(_ approvals: Approvals, of session: CarriedSession) {
    self.approvals[session.agent.name] = approvals
    console?.show(approvals, of: session.agent.name)
    console?.show(session)
  }

  /// Takes what the chat says; returns what became of it, for the link that it came from.
  func answer(_ message: WebSocketMessage) async -> String {
    guard case .text(let text) = message,
      let answer = try? JSONDecoder().decode(ChatAnswer.self, from: Data(text.utf8)),
      let approvals = approvals[answer.agent]
    else { return #"{"problem":"This is no answer to an agent that is carried here."}"# }
    let id = ApprovalID(agent: answer.agent, number: answer.approval)
    var reply = ChatMessage(agent: answer.agent, approval: answer.approval)
    do throws(AppError) {
      reply.answer = try await approvals.decide(id, option: answer.option, by: answer.by).text
    } catch {
      reply.answer = error.shownMessage()
    }
    return reply.text
  }
}
