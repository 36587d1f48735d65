import BridgeFiles
import BridgeSessionProtocol

/// `files`: one end of a copy. Frames of the file stream on standard input and output, many files
/// in one stream.
struct FilesVerb {
  static let name = "files"

  let answer: Answer
  /// The run of the client: what an earlier channel of it left running here is ended.
  let run: Identifier?
  private var parser = FileFrameParser()

  init(answer: Answer, run: Identifier?) {
    self.answer = answer
    self.run = run
  }

  /// Serves one stream.
  mutating func serve() -> UInt8 {
    Programs.enterHome()
    Machine.widenStandardDescriptors()
    Machine.keepFreedMemory()
    if let run { Programs.endOthers(running: Self.name, "\(run)") }
    let request: FileRequest
    do throws(ProtocolError) {
      guard case .open(let first)? = try receive() else { return HostStatus.violation }
      request = first
    } catch {
      let cause = "a start-up file of the login may read standard input"
      send([.failed(FileFault(Self.code(error), "no request came, but \(error): \(cause)"))])
      return HostStatus.violation
    }
    if request.asksSite { send([.site(FileSite(of: request))]) }
    do throws(ProtocolError) {
      switch request.role {
      case .get: return try send(request)
      case .put: return try store(request)
      case .join: return join(request)
      }
    } catch {
      send([.failed(FileFault(Self.code(error), "\(error)"))])
      return HostStatus.violation
    }
  }

  private static func code(_ error: ProtocolError) -> FileFault.Code {
    if case .wrongVersion = error { .version } else { .violation }
  }

  // MARK: Both ends

  private mutating func send(_ request: FileRequest) throws(ProtocolError) -> UInt8 {
    let path = request.path
    let sender = FileSender(
      path, isRecursive: request.isRecursive, excluding: request.exclusion,
      counts: request.point?.after == nil, stripe: request.stripe, key: request.key)
    guard case .ready(let point)? = try receive() else { return HostStatus.violation }
    sender.connect(point)
    while !sender.isFinished, sender.failure == nil {
      // The receiver says little: a full pipe to it never waits for what it says.
      while let frame = try parser.next() { try sender.take(frame) }
      _ = sender.takeEvents()
      let bytes = sender.next()
      if let bytes, !Machine.write(bytes, to: 1) { return HostStatus.success }
      if bytes != nil, !Machine.isReadable(0) { continue }
      if sender.isFinished || sender.failure != nil { break }
      guard let more = Machine.readSome(from: 0) else { return HostStatus.success }
      parser.append(more)
      while let frame = try parser.next() { try sender.take(frame) }
    }
    return HostStatus.success
  }

  private mutating func store(_ request: FileRequest) throws(ProtocolError) -> UInt8 {
    let receiver = FileReceiver(
      request.path, name: request.name, isRecursive: request.isRecursive,
      transfer: request.transfer, boot: Machine.boot,
      striping: request.stripe.flatMap { stripe in
        let salt = Identifier(high: Machine.entropy(), low: Machine.entropy())
        return request.run.map { FileReceiver.Striping(stripe, run: $0, salt: salt) }
      }, key: request.key)
    receiver.displace = SilentCopies.end
    // Where the link was lost, the client may come back: what is there stays.
    defer {
      receiver.disconnect()
      receiver.release()
    }
    do throws(FileFault) {
      send([.ready(try receiver.connect(request.point ?? FilePoint()))])
    } catch {
      send([.failed(error)])
      return HostStatus.storage
    }
    while !receiver.isFinished, receiver.failure == nil {
      while receiver.failure == nil, let frame = try parser.next() {
        try receiver.take(frame)
        write(receiver.takeOutbox(isIdle: false))
      }
      _ = receiver.takeEvents()
      let isOver = receiver.isFinished || receiver.failure != nil
      if isOver || !Machine.isReadable(0) { write(receiver.takeOutbox(isIdle: true)) }
      if isOver { break }
      guard let more = Machine.readSome(from: 0) else { return HostStatus.success }
      parser.append(more)
    }
    // A stream of a file keeps the part for its run until the client has all of them.
    while receiver.failure == nil, request.stripe != nil, Machine.readSome(from: 0) != nil {}
    if let failure = receiver.failure {
      receiver.abandon()
      return failure.isTarget ? HostStatus.storage : HostStatus.success
    }
    return HostStatus.success
  }

  /// The streams of a file are whole: gives it its name.
  private func join(_ request: FileRequest) -> UInt8 {
    do throws(FileFault) {
      try FileJoin(request, boot: Machine.boot)?.perform()
    } catch {
      send([.failed(error)])
      return HostStatus.storage
    }
    send([.finished])
    return HostStatus.success
  }

  // MARK: The channel

  /// The next frame; nil at the end of the input.
  private mutating func receive() throws(ProtocolError) -> FileFrame? {
    while true {
      if let frame = try parser.next() { return frame }
      guard let bytes = Machine.readSome(from: 0) else { return nil }
      parser.append(bytes)
    }
  }

  private func send(_ frames: [FileFrame]) { write(frames.flatMap(\.encoded)) }

  private func write(_ bytes: [UInt8]) {
    if !bytes.isEmpty { Machine.write(bytes, to: 1) }
  }
}

extension FileSite {
  /// Where this host is.
  fileprivate init(of request: FileRequest) {
    let roots = (try? StateRoot.open(creates: true)) ?? []
    func number(_ path: [UInt8]) -> UInt64 { (try? OpenFile.status(named: path))?.number ?? 0 }
    self.init(
      home: StateRoot.places(of: nil, in: roots).first,
      // The home directory is the current one.
      name: Array("\(Machine.node).\(number([UInt8(ascii: ".")]))".utf8),
      directory: number(FileTarget.split(request.path).directory))
  }
}
