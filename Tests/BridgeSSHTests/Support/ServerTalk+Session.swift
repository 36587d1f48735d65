import BridgeSSH

// What a scripted server says once keys are agreed (RFC 4252, RFC 4254, RFC 4256).
extension ServerTalk {
  /// A message: its number, then its fields.
  func say(_ number: UInt8, _ fields: (inout WireWriter) -> Void = { _ in }) throws {
    try send(message(number, fields))
  }

  /// The payload of a message: its number, then its fields.
  func message(_ number: UInt8, _ fields: (inout WireWriter) -> Void = { _ in }) -> [UInt8] {
    var message = WireWriter()
    message.byte(number)
    fields(&message)
    return message.bytes
  }

  /// SSH_MSG_USERAUTH_REQUEST.
  struct Request {
    var user = ""
    var method = ""
    /// What the method adds.
    var rest: [UInt8] = []
  }

  /// The client's next authentication request.
  func request() throws -> Request {
    var reader = WireReader(Array(try expect(50).dropFirst()))
    guard let user = reader.string(), reader.string() != nil, let method = reader.string() else {
      throw End.broken
    }
    return Request(
      user: String(decoding: user, as: UTF8.self), method: String(decoding: method, as: UTF8.self),
      rest: reader.rest)
  }

  /// SSH_MSG_USERAUTH_FAILURE.
  func refuse(goOnWith methods: String, isPartialSuccess: Bool = false) throws {
    try say(51) {
      $0.string(methods)
      $0.byte(isPartialSuccess ? 1 : 0)
    }
  }

  /// Questions (RFC 4256, 3.2), and the answers to them (3.4).
  func ask(
    _ prompts: [(text: String, isEchoed: Bool)], name: String = "", saying instruction: String = ""
  ) throws -> [String] {
    try say(60) { message in
      for text in [name, instruction, ""] { message.string(text) }
      message.uint32(UInt32(prompts.count))
      for prompt in prompts {
        message.string(prompt.text)
        message.byte(prompt.isEchoed ? 1 : 0)
      }
    }
    var reader = WireReader(Array(try expect(61).dropFirst()))
    return (0..<(reader.uint32() ?? 0)).map { _ in
      String(decoding: reader.string() ?? [], as: UTF8.self)
    }
  }

  /// One hidden question, and the answer to it.
  func askForPassword(saying instruction: String = "") throws -> String {
    try ask([("Password: ", false)], saying: instruction).first ?? ""
  }

  /// SSH_MSG_USERAUTH_SUCCESS.
  func welcome() throws { try say(52) }

  /// Accepts every login.
  func admit() throws {
    _ = try request()
    try welcome()
  }

  /// Confirms the channel that the client asks for, and starts what it requests there; returns the
  /// client's number of it.
  func startCommand() throws -> UInt32 { try startCommandWithWindow().number }

  /// As `startCommand`; returns the window of its output as well.
  func startCommandWithWindow() throws -> (number: UInt32, window: UInt32) {
    let opened = try openRequestWithWindow()
    try confirmChannel(opened.number)
    _ = try expect(98)
    try say(99) { $0.uint32(opened.number) }
    return opened
  }

  /// The payload of SSH_MSG_CHANNEL_DATA.
  func data(_ bytes: [UInt8], of number: UInt32) -> [UInt8] {
    message(94) {
      $0.uint32(number)
      $0.string(bytes)
    }
  }

  /// The payload of the request that tells the exit status 0.
  func exitStatus(of number: UInt32) -> [UInt8] {
    message(98) {
      $0.uint32(number)
      $0.string("exit-status")
      $0.byte(0)
      $0.uint32(0)
    }
  }

  /// The payload of a message that has the channel's number only.
  func message(_ type: UInt8, of number: UInt32) -> [UInt8] { message(type) { $0.uint32(number) } }

  /// The client's number of the channel it asks for.
  func openRequest() throws -> UInt32 { try openRequestWithWindow().number }

  /// The client's number of the channel it asks for, and the window that it opens for it.
  func openRequestWithWindow() throws -> (number: UInt32, window: UInt32) {
    var reader = WireReader(Array(try expect(90).dropFirst()))
    guard reader.string() != nil, let number = reader.uint32(), let window = reader.uint32() else {
      throw End.broken
    }
    return (number, window)
  }

  /// SSH_MSG_CHANNEL_OPEN_FAILURE.
  func refuseChannel(_ number: UInt32, reason: UInt32, _ text: String) throws {
    try send(refusal(ofChannel: number, reason: reason, text))
  }

  /// The payload of SSH_MSG_CHANNEL_OPEN_FAILURE.
  func refusal(ofChannel number: UInt32, reason: UInt32, _ text: String = "") -> [UInt8] {
    message(92) {
      $0.uint32(number)
      $0.uint32(reason)
      $0.string(text)
      $0.string("")
    }
  }

  /// Confirms every open, whatever its type, and every close if it `closes`; notes both. Our number
  /// of a channel is the client's.
  func confirmEveryChannel(_ record: (String) -> Void, closes: Bool = true) throws {
    while true {
      let packet = try receive()
      var reader = WireReader(Array(packet.dropFirst()))
      switch packet.first {
      case 90:
        guard reader.string() != nil, let number = reader.uint32() else { throw End.broken }
        record("open")
        try say(91) { for field in [number, number, 1 << 20, 32_768] { $0.uint32(field) } }
      case 97:
        guard let number = reader.uint32() else { throw End.broken }
        record("close")
        if closes { try say(97) { $0.uint32(number) } }
      case _: break
      }
    }
  }

  /// SSH_MSG_CHANNEL_OPEN_CONFIRMATION.
  func confirmChannel(_ number: UInt32) throws {
    try say(91) {
      for field in [number, 0, 1 << 20, 32_768] { $0.uint32(field) }
    }
  }
}
