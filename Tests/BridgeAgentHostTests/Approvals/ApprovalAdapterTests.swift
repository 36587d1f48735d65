import BridgeErrors
import BridgeFaults
import Foundation
import Testing

@testable import BridgeAgentHost

@Suite("The questions of agents, found among their lines") struct ApprovalAdapterTests {
  private static func adapter(_ dialect: ApprovalDialect) -> ApprovalAdapter {
    ApprovalAdapter(agent: "a", dialect: dialect)
  }

  private static func read(
    _ line: String, _ dialect: ApprovalDialect, at offset: UInt64? = nil
  ) -> ApprovalReading {
    adapter(dialect).read(Array(line.utf8), endingAt: offset)
  }

  private static func request(
    _ line: String, _ dialect: ApprovalDialect, at offset: UInt64? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) throws -> ApprovalRequest {
    let reading = read(line, dialect, at: offset)
    guard case .request(let request) = reading else {
      Issue.record("\(reading)", sourceLocation: location)
      throw CancellationError()
    }
    return request
  }

  /// The line that the agent receives for an option.
  private static func response(
    to request: ApprovalRequest, _ option: String, values: [String: ApprovalValue] = [:]
  ) throws -> String {
    var ledger = ApprovalLedger()
    guard case .store(let write) = try ledger.request(request, at: ApprovalSample.time(0)) else {
      throw CancellationError()
    }
    ledger.commit(write)
    let id = try #require(write.record?.id)
    guard
      case .store(let decision) = try ledger.decide(
        id, option: option, values: values, by: "ada", at: ApprovalSample.time(0))
    else { throw CancellationError() }
    ledger.commit(decision)
    let line = try #require(ledger.take(for: request.agent)?.responseLine)
    return String(decoding: line, as: UTF8.self)
  }

  // Examples in the words of the schemas.
  private static let acp = """
    {"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s1",\
    "toolCall":{"toolCallId":"call_1","title":"Edit a.txt","kind":"edit"},"options":[\
    {"optionId":"o/1","name":"Allow once","kind":"allow_once"},\
    {"optionId":"o2","name":"Always","kind":"allow_always"},\
    {"optionId":"o3","name":"No","kind":"reject_once"},\
    {"optionId":"o4","name":"Never","kind":"reject_always"},\
    {"optionId":"o5","name":"Ask Bob","kind":"ask_bob"}]}}
    """
  private static let mcp = """
    {"jsonrpc":"2.0","id":"e-1","method":"elicitation/create","params":{"mode":"form",\
    "message":"Your name?","requestedSchema":{"type":"object","properties":{\
    "name":{"type":"string","title":"Name"},"age":{"type":"integer","minimum":0},\
    "size":{"type":"string","oneOf":[{"const":"S","title":"Small"},{"const":"L","title":"Large"}]},\
    "tags":{"type":"array","items":{"type":"string","enum":["x","y"]}},\
    "ok":{"type":"boolean"}},"required":["name"]}}}
    """
  private static let command = """
    {"id":7,"method":"item/commandExecution/requestApproval","params":{"threadId":"t1",\
    "turnId":"u1","itemId":"i1","startedAtMs":1,"command":"git push","cwd":"/src",\
    "proposedExecpolicyAmendment":["git","push"],"proposedNetworkPolicyAmendments":[\
    {"action":"allow","host":"example.org"},{"action":"deny","host":"example.org"}]}}
    """

  // MARK: Passing on

  @Test(arguments: [
    "", "plain text", "[1,2]", #"{"jsonrpc":"2.0","id":1,"result":{}}"#, "{}", "{ }\r\n",
    #"{"method":1}"#, #"{"method":"session/update","params":{"method":"elicitation/create"}}"#,
    #"{"result":"session/request_permission"}"#, #"[{"method":"elicitation/create","id":1}]"#,
    #"{"id":1,"method":"fs/read_text_file","params":{"path":"/a"}}"#, "  \t",
  ])
  func whatIsNoQuestionIsNotTouched(line: String) {
    for dialect in [ApprovalDialect.acp, .mcp, .codex] {
      #expect(Self.read(line, dialect) == .other)
    }
  }

  @Test func aQuestionOfAnotherProtocolIsPassedOn() {
    #expect(Self.read(Self.acp, .mcp) == .other && Self.read(Self.acp, .codex) == .other)
    #expect(Self.read(Self.mcp, .acp) == .other && Self.read(Self.command, .acp) == .other)
  }

  // MARK: What is refused

  @Test(arguments: [
    ("{", 1), (#"{"id":1,"method":"elicitation/create""#, 37), (#"{"a" 1}"#, 5), ("{]", 1),
    (#"{"a":[1}}"#, 7), (#"{"a":tru}"#, 5), (#"{"a":01}"#, 5), (#"{"a":1}x"#, 7),
    (#"{"a":"b"#, 7), (#"{"a":}"#, 5), (#"{"a":1,}"#, 7), ("{\"a\":\"\u{1}\"}", 7),
  ])
  func aLineThatIsNoJSONIsNamedWithItsOffset(line: String, offset: Int) {
    let error = AppError.decodingError(
      type: "JSON-RPC", detail: "The line is no JSON at \(offset).")
    #expect(Self.read(line, .mcp) == .invalid(error, response: nil))
  }

  @Test func aLineMayBeNestedSoDeep() {
    let nested = { (depth: Int) in
      "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
    }
    #expect(Self.read(nested(256), .mcp) == .other)
    guard case .invalid = Self.read(nested(257), .mcp) else {
      Issue.record("It is read.")
      return
    }
  }

  @Test(arguments: [
    (#""params":{}"#, "id: missing"), (#""id":null"#, "id: neither a string nor a number"),
    (#""id":[1]"#, "id: neither a string nor a number"), (#""id":1,"id":2"#, "id: there twice"),
    (#""id":1,"params":{},"params":{}"#, "params: there twice"),
    (#""id":1,"method":"x""#, "method: there twice"),
  ])
  func aQuestionWithoutOneIDCannotBeAnswered(members: String, detail: String) {
    #expect(
      Self.read(#"{"method":"elicitation/create",\#(members)}"#, .mcp)
        == .invalid(.decodingError(type: "elicitation/create", detail: detail), response: nil))
  }

  @Test(arguments: [
    (ApprovalDialect.mcp, "elicitation/create", "1", "params: missing"),
    (.mcp, "elicitation/create", #"1,"params":[]"#, "params: of another type"),
    (.mcp, "elicitation/create", #"1,"params":{"message":1}"#, "params.message: of another type"),
    (
      .mcp, "elicitation/create", #"1,"params":{"message":"m"}"#, "params.requestedSchema: missing"
    ),
    (
      .mcp, "elicitation/create", #"1,"params":{"message":"m","mode":"url"}"#, "params.url: missing"
    ),
    (
      .mcp, "elicitation/create", #"1,"params":{"message":"m","mode":"x"}"#,
      "params.mode: x is not known"
    ),
    (
      .mcp, "elicitation/create",
      #"1,"params":{"message":"m","requestedSchema":{"properties":{"p":{"type":"object"}}}}"#,
      "params.requestedSchema.properties.p.type: object is not known"
    ),
    (
      .acp, "session/request_permission",
      #"1,"params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}"#,
      "params.options: none"
    ),
    (
      .acp, "session/request_permission", #"1,"params":{"toolCall":{"toolCallId":"c"}}"#,
      "params.sessionId: missing"
    ),
    (
      .codex, "execCommandApproval", #"1,"params":{"command":"ls"}"#,
      "params.conversationId: missing"
    ),
    (
      .codex, "item/commandExecution/requestApproval",
      #"1,"params":{"threadId":"t","itemId":"i","availableDecisions":[{}]}"#,
      "params.availableDecisions: neither a word nor an object of one"
    ),
  ])
  func aQuestionThatCannotBeReadHasAnErrorForAnAnswer(
    dialect: ApprovalDialect, method: String, rest: String, detail: String
  ) {
    let reading = Self.read(#"{"jsonrpc":"2.0","method":"\#(method)","id":\#(rest)}"#, dialect)
    guard case .invalid(let error, let response) = reading else {
      Issue.record("\(reading)")
      return
    }
    #expect(error == .decodingError(type: method, detail: detail))
    #expect(
      response.map { String(decoding: $0, as: UTF8.self) }
        == #"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"\#(detail)"}}"# + "\n")
  }

  @Test func twoOptionsOfOneIDAreRefused() {
    let line = Self.acp.replacing("\"o3\"", with: "\"o2\"")
    guard case .invalid(let error, response: .some) = Self.read(line, .acp) else {
      Issue.record("It is read.")
      return
    }
    #expect(
      error
        == .decodingError(
          type: "session/request_permission", detail: "params.options: two of one id"))
  }

  /// Also where the bytes are in a part that is passed on and not shown.
  @Test(arguments: [#""title":"Edit"#, #""kind":"e"#]) func aQuestionIsUTF8(part: String) throws {
    var line = Array(Self.acp.replacing(part, with: part + "#").utf8)
    let place = try #require(line.firstIndex(of: UInt8(ascii: "#")))
    line[place] = 0xFF
    guard case .invalid = Self.adapter(.acp).read(line) else {
      Issue.record("It is read.")
      return
    }
  }

  @Test func aQuestionThatIsTooLongIsRefusedByTheLedgerAndTheAgentLearnsIt() throws {
    let text = String(repeating: "x", count: 1 << 20)
    let request = try Self.request(Self.acp.replacing("Edit a.txt", with: text), .acp)
    var ledger = ApprovalLedger()
    let limit = ApprovalLimits().size
    #expect(throws: ApprovalRefusal.tooLarge(size: request.size, limit: limit)) {
      try ledger.request(request, at: ApprovalSample.time(0))
    }
    #expect(
      String(decoding: request.refusalLine("Too long."), as: UTF8.self)
        == #"{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"Too long."}}"# + "\n")
  }

  // MARK: Ids

  @Test(arguments: [
    "0", "-1", "12345678901234567890123", "1.0", "1e3", #""a""#, #""a\/b\u0041""#, #""""#,
    #""1""#, #""ü""#,
  ])
  func anIDComesBackAsItWas(id: String) throws {
    let request = try Self.request(Self.acp.replacing("\"id\":5", with: "\"id\" : \(id) "), .acp)
    #expect(request.wireID == id)
    #expect(
      try Self.response(to: request, "o2")
        == #"{"jsonrpc":"2.0","id":\#(id),"result":{"outcome":{"outcome":"selected","#
        + #""optionId":"o2"}}}"# + "\n")
  }

  // MARK: Agent Client Protocol

  @Test func acpAsksForPermission() throws {
    let request = try Self.request(Self.acp, .acp, at: 99)
    #expect(request.title == "Edit a.txt" && request.scope == "s1" && request.outputOffset == 99)
    #expect(request.options.map(\.id) == ["o/1", "o2", "o3", "o4", "o5"])
    #expect(
      request.options.map(\.kind)
        == [.allowOnce, .allowAlways, .rejectOnce, .rejectAlways, .other("ask_bob")])
    #expect(Self.acp.contains("\"params\":\(request.parameters)}"))
    #expect(
      try Self.response(to: request, "o/1")
        == #"{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","#
        + #""optionId":"o/1"}}}"# + "\n")
    // A Swift program escapes slashes.
    let escaped = Self.acp.replacing("session/request", with: #"session\/request"#)
    #expect(try Self.request(escaped, .acp).method == "session/request_permission")
    let plain = Self.acp.replacing(#""title":"Edit a.txt","#, with: "")
    #expect(try Self.request(plain, .acp).title == "call_1")
  }

  @Test func acpAsksNoLonger() {
    #expect(
      Self.read(#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}"#, .acp)
        == .cancellation(
          wireID: "5", reply: .error(code: -32800, message: "Canceled")))
    guard case .invalid = Self.read(#"{"method":"$/cancel_request","params":{}}"#, .acp) else {
      Issue.record("It is read.")
      return
    }
  }

  @Test func anApplicationThatCancelsATurnAnswersItsQuestions() {
    let line = Array(#"{"method":"session/cancel","params":{"sessionId":"s1"}}"#.utf8)
    let cancellation = Self.adapter(.acp).cancellation(byInput: line)
    #expect(cancellation?.scope == "s1")
    #expect(cancellation?.reply == .result(#"{"outcome":{"outcome":"cancelled"}}"#))
    #expect(Self.adapter(.codex).cancellation(byInput: line) == nil)
    #expect(Self.adapter(.acp).cancellation(byInput: Array(Self.acp.utf8)) == nil)
  }

  // MARK: Model Context Protocol

  @Test func mcpAsksForValues() throws {
    let request = try Self.request(Self.mcp, .mcp)
    #expect(request.title == "Your name?")
    #expect(request.options.map(\.id) == ["accept", "decline", "cancel"])
    #expect(
      request.form?.fields == [
        .init(name: "name", title: "Name", kind: .text, isRequired: true),
        .init(name: "age", kind: .integer),
        .init(name: "size", kind: .text, choices: ["S", "L"]),
        .init(name: "tags", kind: .texts, choices: ["x", "y"]), .init(name: "ok", kind: .boolean),
      ])
    let values: [String: ApprovalValue] = [
      "name": .text("A \"B\"/C\n"), "age": .integer(3), "tags": .texts(["y"]), "ok": .boolean(true),
    ]
    #expect(
      try Self.response(to: request, "accept", values: values)
        == #"{"jsonrpc":"2.0","id":"e-1","result":{"action":"accept","content":"#
        + #"{"age":3,"name":"A \"B\"/C\n","ok":true,"tags":["y"]}}}"# + "\n")
    #expect(
      try Self.response(to: request, "decline")
        == #"{"jsonrpc":"2.0","id":"e-1","result":{"action":"decline"}}"# + "\n")
    #expect(throws: ApprovalRefusal.wrongValues("The field name is required.")) {
      try Self.response(to: request, "accept")
    }
  }

  @Test func mcpAsksToOpenAPage() throws {
    let request = try Self.request(
      """
      {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"url",\
      "message":"Log in","elicitationId":"e","url":"https://example.org/"}}
      """, .mcp)
    #expect(request.form == nil && request.parameters.contains("https://example.org/"))
    #expect(
      try Self.response(to: request, "accept")
        == #"{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}"# + "\n")
  }

  @Test func mcpAsksNoLonger() {
    #expect(
      Self.read(
        #"{"method":"notifications/cancelled","params":{"requestId":"e-1","reason":"r"}}"#, .mcp)
        == .cancellation(wireID: #""e-1""#, reply: nil))
  }

  // MARK: The app server of codex

  @Test func codexAsksForACommand() throws {
    let request = try Self.request(Self.command, .codex)
    #expect(request.title == "git push" && request.scope == "t1" && !request.hasVersion)
    #expect(
      request.options.map(\.id) == [
        "accept", "acceptForSession", "acceptWithExecpolicyAmendment",
        "applyNetworkPolicyAmendment", "applyNetworkPolicyAmendment-2", "decline", "cancel",
      ])
    #expect(
      request.options.map(\.name) == [
        "Allow", "Allow in this session", "Allow all that begins with: git push",
        "Allow example.org from now on", "Refuse example.org from now on", "Refuse",
        "Refuse and stop",
      ])
    for (option, decision) in [
      ("accept", #""accept""#), ("cancel", #""cancel""#),
      (
        "acceptWithExecpolicyAmendment",
        #"{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["git","push"]}}"#
      ),
      (
        "applyNetworkPolicyAmendment-2",
        #"{"applyNetworkPolicyAmendment":{"network_policy_amendment":"#
          + #"{"action":"deny","host":"example.org"}}}"#
      ),
    ] {
      #expect(
        try Self.response(to: request, option)
          == #"{"id":7,"result":{"decision":\#(decision)}}"# + "\n")
    }
  }

  @Test func codexOffersItsOwnDecisions() throws {
    let line = """
      {"id":1,"method":"item/commandExecution/requestApproval","params":{"threadId":"t",\
      "itemId":"i","command":null,"networkApprovalContext":{"host":"h","protocol":"https"},\
      "availableDecisions":["decline","new",{"newer":{"a":[1, 2]}}]}}
      """
    let request = try Self.request(line, .codex)
    #expect(request.title == "Connect to h")
    #expect(request.options.map(\.id) == ["decline", "new", "newer"])
    #expect(request.options.map(\.kind) == [.rejectOnce, .other("new"), .other("newer")])
    #expect(
      try Self.response(to: request, "newer")
        == #"{"id":1,"result":{"decision":{"newer":{"a":[1, 2]}}}}"# + "\n")
  }

  @Test(arguments: [
    (
      "item/fileChange/requestApproval",
      #"{"threadId":"t","turnId":"u","itemId":"i","startedAtMs":1,"reason":"More space"}"#,
      "More space", "acceptForSession"
    ),
    (
      "execCommandApproval",
      #"{"conversationId":"t","callId":"c","command":["ls","-l"],"cwd":"/","parsedCmd":[]}"#,
      "ls -l", "approved_for_session"
    ),
    (
      "applyPatchApproval",
      #"{"conversationId":"t","callId":"c","fileChanges":{"b":{"type":"delete"},"a":{}}}"#,
      "Change a, b", "abort"
    ),
  ])
  func codexAsksForFilesAndInOlderWords(
    method: String, parameters: String, title: String, option: String
  ) throws {
    let request = try Self.request(
      #"{"id":"x","method":"\#(method)","params":\#(parameters)}"#, .codex)
    #expect(request.title == title && request.scope == "t" && request.parameters == parameters)
    #expect(request.options.count == 4)
    #expect(
      try Self.response(to: request, option)
        == #"{"id":"x","result":{"decision":"\#(option)"}}"# + "\n")
  }

  @Test func codexHasTheAnswer() {
    #expect(
      Self.read(
        #"{"method":"serverRequest/resolved","params":{"threadId":"t","requestId":7}}"#, .codex)
        == .resolution(wireID: "7"))
  }

  // MARK: Any bytes

  /// What was written by a program that is broken, or by one that means harm.
  @Test(arguments: 0..<200) func anyBytesAreReadToAnEnd(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let samples = [Self.acp, Self.mcp, Self.command].map { Array($0.utf8) }
    for dialect in [ApprovalDialect.acp, .mcp, .codex] {
      var line = samples[Int(seed % 3)]
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let place = Int.random(in: 0..<line.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: line[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: line.remove(at: place)
        default:
          line.insert(contentsOf: Array(#""{}[],:\0"#.utf8).shuffled(using: &generator), at: place)
        }
      }
      guard case .request(let request) = Self.adapter(dialect).read(line) else { continue }
      #expect(JSONText.isID(Array(request.wireID.utf8)[...]))
      #expect(request.options.allSatisfy { JSONText.isValue(Array($0.result.utf8)[...]) })
    }
  }
}
