package import BridgeErrors
import BridgeFiles
package import BridgeSessionProtocol
package import BridgeTransport

/// Stands for the `bridge-host` of a host that has none: what a client of it sends and receives,
/// over the usual tools of that host.
package actor PlainChannel: ByteChannel {
  /// What the host has tools for.
  package struct Tools: Sendable, Equatable {
    /// SHA-256.
    package var digests: Bool
    /// The time of the last change, in seconds.
    package var times: Bool

    package init(digests: Bool, times: Bool) {
      (self.digests, self.times) = (digests, times)
    }
  }

  private let channel: any ByteChannel
  private let marker: String
  private var answer: MarkedBytes
  private var greeting = PlainInput()
  private var parser = FileFrameParser()
  private var request: FileRequest?
  private var end: (any PlainEnd)?
  /// Frames from before the host answered.
  private var held: [FileFrame] = []
  private var toHost: [UInt8]
  private var toClient: [UInt8] = []
  private var isFlushing = false
  private var isOver = false
  /// The name of the machine and the number of its home directory.
  private var site: [UInt8] = []
  /// What the host has; nil before it answered.
  package private(set) var tools: Tools?

  /// The command that `channel` has to run.
  package static func command() -> HostCommand {
    let marker = AnswerMarker()
    return HostCommand(text: PlainScript.command(marker: marker), marker: marker)
  }

  /// - Parameters:
  ///   - marker: that of the command.
  ///   - run: the same for every channel of one run.
  package init(_ channel: any ByteChannel, marker: String, run: Identifier) {
    self.channel = channel
    toHost = Array(PlainScript.text(run: run).utf8)
    self.marker = marker
    answer = MarkedBytes(marker: marker)
  }

  package func read() async throws(AppError) -> [UInt8]? {
    while toClient.isEmpty {
      guard !isOver, let bytes = try await channel.read() else {
        // What the client wrote meanwhile may have ended it.
        guard !toClient.isEmpty else { return nil }
        break
      }
      do throws(ProtocolError) {
        try take(bytes)
      } catch {
        fail(error)
      }
      try await flush()
    }
    defer { toClient = [] }
    return toClient
  }

  /// The copy ends as one does that `bridge-host` has ended.
  private func fail(_ error: ProtocolError) {
    isOver = true
    toClient += FileFrame.failed(FileFault(.violation, "\(error)")).encoded
  }

  package func write(_ bytes: [UInt8]) async throws(AppError) {
    parser.append(bytes)
    do throws(ProtocolError) {
      while let frame = try parser.next() {
        held.append(frame)
      }
      try takeHeld()
    } catch {
      fail(error)
      // Who reads waits for the host, which was asked for nothing.
      return await channel.close()
    }
    try await flush()
  }

  package func finish() async throws(AppError) { try await channel.finish() }

  package func close() async { await channel.close() }

  package func peerAnswers() async -> Bool { await channel.peerAnswers() }

  package func ending() async -> ByteChannelEnding { await channel.ending() }

  /// One at a time: requests and data go in order.
  private func flush() async throws(AppError) {
    // Before the marker another program may read what is sent.
    guard !isFlushing, answer.hasBegun else { return }
    isFlushing = true
    defer { isFlushing = false }
    while !toHost.isEmpty {
      let bytes = toHost
      toHost = []
      try await channel.write(bytes)
    }
  }

  // MARK: The host

  private func take(_ bytes: [UInt8]) throws(ProtocolError) {
    guard let bytes = answer.take(bytes) else { throw PlainInput.violation }
    guard tools == nil else { return try takeAnswers(bytes) }
    greeting.append(bytes)
    guard let words = try greeting.line() else { return }
    guard words.first == PlainScript.greeting[...], words.count == 4 else {
      throw PlainInput.violation
    }
    tools = Tools(digests: words[1] == "y", times: words[2] == "y")
    site = Array(words[3].utf8)
    toClient += Array((marker + FileLimits.greeting).utf8)
    try takeHeld()
    try takeAnswers(greeting.bytes(.max))
  }

  private func takeAnswers(_ bytes: [UInt8]) throws(ProtocolError) {
    guard !bytes.isEmpty else { return }
    guard end != nil else { throw PlainInput.violation }
    try end?.take(bytes)
    collect()
  }

  /// What the end has to send.
  private func collect() {
    toHost += end?.toHost ?? []
    toClient += end?.toClient ?? []
    end?.toHost = []
    end?.toClient = []
  }

  // MARK: The client

  private func takeHeld() throws(ProtocolError) {
    guard let tools else { return }
    let frames = held
    held = []
    for frame in frames { try take(frame, tools) }
    // The sender may wait for what is acknowledged.
    end?.flush()
    collect()
  }

  private func take(_ frame: FileFrame, _ tools: Tools) throws(ProtocolError) {
    guard end != nil else { return try begin(frame, tools) }
    try end?.send(frame)
    collect()
  }

  private func begin(_ frame: FileFrame, _ tools: Tools) throws(ProtocolError) {
    switch frame {
    case .open(let request):
      self.request = request
      if request.asksSite {
        toClient += FileFrame.site(FileSite(name: site)).encoded
      }
      if request.role == .put { end = PlainPut(request) }
    case .ready(let point):
      guard let request else { throw .unexpectedFrame(type: frame.number) }
      end = PlainGet(request, at: point, hasDigests: tools.digests)
      collect()
    case .acknowledge, .refused, .totals, .directory, .leave, .file, .link, .data, .mark, .end,
      .skipped, .done, .finished, .failed, .site:
      throw .unexpectedFrame(type: frame.number)
    }
  }
}

/// One direction of a copy over the host's own tools: what `bridge-host` does for it there.
protocol PlainEnd: Sendable {
  /// What is to be sent to the program on the host.
  var toHost: [UInt8] { get set }
  /// What is to be handed to the client.
  var toClient: [UInt8] { get set }
  /// Takes a frame of the client.
  mutating func send(_ frame: FileFrame) throws(ProtocolError)
  /// Takes what the program on the host answered.
  mutating func take(_ bytes: [UInt8]) throws(ProtocolError)
  /// Acknowledges what was taken so far.
  mutating func flush()
}
