import BridgeSessionProtocol
import Testing

/// Keys and values: hello, welcome, start and status.
@Suite struct HandshakeTests {
  private func field(_ name: String, _ value: [UInt8]) -> [UInt8] {
    let length = UInt32(value.count)
    let prefix = (0..<4).map { UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * $0)) }
    return [UInt8(name.utf8.count)] + name.utf8 + prefix + value
  }

  private func read(_ type: FrameType, _ payload: [UInt8]) throws -> Frame? {
    var parser = FrameParser()
    parser.append(Frame.header(type, length: payload.count, offset: 0) + payload)
    return try parser.next()
  }

  private func payload(_ frame: Frame) -> [UInt8] {
    Array(frame.encoded.dropFirst(Limits.headerLength))
  }

  @Test func unknownKeysAreSkippedSoThatALaterVersionMayAddSome() throws {
    let later = payload(.hello(Sample.hello)) + field("from-version-two", [1, 2, 3])
    #expect(try read(.hello, later) == .hello(Sample.hello))
    let welcome = field("from-version-two", []) + payload(.welcome(Sample.welcome))
    #expect(try read(.welcome, welcome) == .welcome(Sample.welcome))
  }

  @Test(arguments: [0, 7, UInt64(Int64.max)])
  func aFencingNumberIsAPartOfAHello(number: UInt64) throws {
    var hello = Sample.hello
    hello.fence = number
    #expect(try read(.hello, payload(.hello(hello))) == .hello(hello))
  }

  /// A kind of a later version is none: the rest of the status is as before.
  @Test func whatAFullDiskDidNotTakeIsPartOfAStatus() throws {
    for memory in SessionStatus.Memory.allCases {
      var status = Sample.status
      status.memory = memory
      #expect(try read(.status, payload(.status(status))) == .status(status))
    }
    let later = payload(.status(Sample.status)) + field("memory", Array("later".utf8))
    #expect(try read(.status, later) == .status(Sample.status))
  }

  @Test(arguments: ["session", "client", "versions"]) func helloNeeds(_ key: String) {
    let fields = [
      "session": [UInt8](repeating: 1, count: 16), "client": [UInt8](repeating: 2, count: 16),
      "versions": [1],
    ]
    let rest = fields.filter { $0.key != key }.flatMap { field($0.key, $0.value) }
    #expect(throws: ProtocolError.malformedFields(key)) { try read(.hello, rest) }
  }

  @Test func aKeyIsThereOnce() {
    let twice = payload(.hello(Sample.hello)) + field("role", Array("viewer".utf8))
    #expect(throws: ProtocolError.malformedFields("role")) { try read(.hello, twice) }
  }

  @Test func numbersAndNamesAreStrict() {
    let base = payload(.hello(Hello(session: Sample.session, client: Sample.client)))
    let faults: [(String, [UInt8])] = [
      ("acknowledged", [1]), ("committed", [UInt8](repeating: 255, count: 8)), ("size", [0]),
      ("epoch", [1, 2, 3]),
    ]
    for (key, value) in faults {
      #expect(throws: ProtocolError.malformedFields(key)) {
        try read(.hello, base + field(key, value))
      }
    }
    #expect(throws: ProtocolError.malformedFields("a key is not made of a to z and hyphens")) {
      try read(.hello, base + field("Role", []))
    }
    #expect(throws: ProtocolError.malformedFields("received")) {
      try read(.hello, base + field("epoch", [UInt8](repeating: 0, count: 8)))
    }
  }

  @Test func acknowledgedIsAtMostReceivedAndCommittedAtMostAcknowledged() {
    var hello = Sample.hello
    hello.acknowledged = 1001
    #expect(throws: ProtocolError.malformedFields("acknowledged")) {
      try read(.hello, payload(.hello(hello)))
    }
    hello.acknowledged = 700
    #expect(throws: ProtocolError.malformedFields("committed")) {
      try read(.hello, payload(.hello(hello)))
    }
  }

  @Test func aWelcomeContradictsItselfNowhere() {
    let changes: [(String, (inout Welcome) -> Void)] = [
      ("newest", { $0.oldest = 5000 }), ("newest", { $0.resume = 5000 }),
      ("accepted", { $0.inputTaken = 8 }), ("own", { $0.ownAccepted = 8 }),
    ]
    for (key, change) in changes {
      var welcome = Sample.welcome
      change(&welcome)
      #expect(throws: ProtocolError.malformedFields(key)) {
        try read(.welcome, payload(.welcome(welcome)))
      }
    }
  }

  @Test func aPayloadCutAnywhereIsAnErrorOrLacksOnlyItsLastKeys() {
    for frame in [Frame.hello(Sample.hello), .welcome(Sample.welcome), .start(Sample.spec)] {
      let whole = payload(frame)
      var readable = 0
      for cut in 0..<whole.count {
        let found = try? read(frame.type, Array(whole[..<cut]))
        #expect(found != frame)
        if found != nil { readable += 1 }
      }
      #expect(readable < 20, "only cuts between keys can be read")
    }
  }

  @Test func aLengthBeyondThePayloadIsCutOff() {
    let bytes: [UInt8] = [7] + Array("session".utf8) + [255, 255, 255, 255]
    #expect(throws: ProtocolError.malformedFields("cut off")) { try read(.hello, bytes) }
  }

  @Test func keysAreBounded() {
    let many = (0...Limits.fields).flatMap { _ in field("a", []) }
    #expect(throws: ProtocolError.malformedFields("too many keys")) { try read(.hello, many) }
  }

  @Test func aSpecHasNoZeroBytesAndItsEnvironmentHasNames() {
    var spec = Sample.spec
    spec.command = [65, 0, 66]
    #expect(throws: ProtocolError.malformedFields("zero byte")) {
      try read(.start, payload(.start(spec)))
    }
    for variable in ["novalue", "=x"] {
      spec = Sample.spec
      spec.environment = [Array(variable.utf8)]
      #expect(throws: ProtocolError.malformedFields("environment")) {
        try read(.start, payload(.start(spec)))
      }
    }
    spec = Sample.spec
    spec.modes = [1, 2]
    #expect(throws: ProtocolError.malformedFields("modes")) {
      try read(.start, payload(.start(spec)))
    }
  }

  @Test func textThatIsTooLongIsCutAtACharacter() throws {
    let refusal = Refusal(.violation, String(repeating: "ü", count: 600))
    #expect(refusal.text.utf8.count == 1024)
    #expect(try read(.refused, payload(.refused(refusal))) == .refused(refusal))
  }

  /// Each byte is replaced by a character of three.
  @Test func textThatIsNotUTF8IsCutWhereItBecomesTooLong() throws {
    let frame = try #require(
      try read(.refused, [0, 6] + [UInt8](repeating: 0xBE, count: 1000)))
    guard case .refused(let refusal) = frame else {
      Issue.record("\(frame)")
      return
    }
    #expect(refusal.text == String(repeating: "\u{FFFD}", count: 341))
    #expect(try read(.refused, payload(frame)) == frame)
  }

  /// Fields of later versions, absent where they say nothing.
  @Test func whoWritesAndWhatLostItsKeeperGoesThroughTheWire() throws {
    var welcome = Sample.welcome
    welcome.writerAddress = "10.0.0.5"
    welcome.writerAge = 60
    #expect(try read(.welcome, payload(.welcome(welcome))) == .welcome(welcome))
    var status = Sample.status
    status.end = .orphaned
    #expect(try read(.status, payload(.status(status))) == .status(status))
  }

  @Test func anIdentifierIs32HexadecimalDigits() {
    #expect(Sample.session.description == "00112233445566778899aabbccddeeff")
    #expect(Identifier(text: Sample.session.description) == Sample.session)
    for text in ["", "0", "../etc", String(repeating: "G", count: 32), "A" + "0"] {
      #expect(Identifier(text: text) == nil)
    }
    #expect(Identifier(text: Sample.session.description.uppercased()) == nil)
    #expect(Identifier(text: Sample.session.description + "0") == nil)
    var generator = SeededGenerator(seed: 1)
    #expect(Identifier(using: &generator) != Identifier(using: &generator))
  }

  @Test(arguments: [
    [UInt8](), [0], [6], [1, 0, 80], [2], [2, 88], [3, 1], [4, 0], [5, 0],
    [3, 255, 255, 255, 255, 255, 255, 255, 255],
  ])
  func aControlThatIsNoneIsMalformed(_ bytes: [UInt8]) {
    let expected =
      bytes.isEmpty
      ? ProtocolError.wrongLength(type: 8, length: 0) : .malformedPayload(type: 8)
    #expect(throws: expected) { try read(.control, bytes) }
  }

  @Test(arguments: [
    [0, 0, 0, 0, 0, 0, 0, 0], [5, 0, 0, 0, 0, 0, 0, 0], [1, 2, 0, 0, 0, 0, 0, 0],
    [1, 0, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 1, 0],
  ])
  func anEndThatIsNoneIsMalformed(_ bytes: [UInt8]) {
    #expect(throws: ProtocolError.malformedPayload(type: 9)) { try read(.ended, bytes) }
  }
}
