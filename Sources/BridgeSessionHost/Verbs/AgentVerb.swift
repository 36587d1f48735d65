import BridgeSessionProtocol

/// `agent`: the ssh-agent of a client, at a socket of this host for as long as the channel lasts.
/// What programs ask there is passed on to the client, and its answers back.
struct AgentVerb {
  static let name = "agent"

  let answer: Answer
  /// Names the socket; the same over all channels of a client.
  let token: Identifier

  func serve() -> UInt8 {
    Programs.ignoreBrokenPipes()
    // What a link before has left here answers nothing any more.
    Programs.endOthers(running: Self.name, "\(token)")
    let place: AgentPlace
    do throws(SystemError) {
      place = try AgentPlace(AgentMessage.directory(token))
    } catch {
      answer.begin("")
      let text = "the socket for the agent cannot be made: \(error.text)"
      Machine.write(AgentMessage(0, Array(text.utf8)).encoded, to: 1)
      return HostStatus.storage
    }
    answer.begin("")
    var exchange = AgentExchange(place)
    while exchange.turn() {}
    place.remove()
    return HostStatus.success
  }
}

/// The socket of a client's agent, in a directory of this user alone.
private struct AgentPlace {
  let listener: Descriptor
  private let path: String
  private let directory: Directory
  private let info: FileInfo?

  init(_ path: String) throws(SystemError) {
    self.path = path
    directory = try Directory.ownAlone(path)
    listener = try directory.listen(stream: AgentMessage.socket)
    info = directory.info(of: AgentMessage.socket)
  }

  /// Leaves the socket that another channel of the client has made meanwhile.
  func remove() {
    guard directory.info(of: AgentMessage.socket)?.number == info?.number else { return }
    directory.remove(AgentMessage.socket)
    Directory.removeEmpty(path)
  }
}

/// The connections of programs to the agent, and the client that answers them.
private struct AgentExchange {
  private enum Token: Equatable {
    case client
    case output
    case listener
    case program(UInt32)
  }

  /// A program of the host at the socket.
  private struct Line {
    let channel: Channel
    var requests = AgentParser.plain
    /// Whether the client has its request.
    var isAsked = false
    /// What it is sent.
    var reply: [UInt8] = []
    var sent = 0
  }

  private let place: AgentPlace
  private var lines: [UInt32: Line] = [:]
  private var newest: UInt32 = 0
  private var answers = AgentParser.messages
  private var list = PollList<Token>()

  init(_ place: AgentPlace) { self.place = place }

  /// Waits for the next of what comes; false at the end of the client.
  mutating func turn() -> Bool {
    list.removeAll()
    list.add(.client, 0, reads: true)
    list.add(.output, 1)
    list.add(.listener, place.listener.number, reads: true)
    for (number, line) in lines {
      list.add(
        .program(number), line.channel.descriptor.number,
        reads: !line.isAsked && line.reply.isEmpty, writes: !line.reply.isEmpty)
    }
    list.wait(nil)
    for index in 0..<list.count where list[index].readiness.isAny {
      let (token, readiness) = list[index]
      switch token {
      case .client: guard takeAnswers() else { return false }
      case .output: return false
      case .listener: accept()
      case .program(let number): guard serve(number, readiness) else { return false }
      }
    }
    return true
  }

  private mutating func accept() {
    guard let connection = place.listener.accept() else { return }
    // A program that waits for nothing waits for ever; one that is closed says so.
    guard lines.count < AgentMessage.connections else { return connection.closeNow() }
    newest = newest == .max ? 1 : newest + 1
    lines[newest] = Line(channel: Channel(connection, .own))
  }

  /// Serves a program; false where the client is gone.
  private mutating func serve(_ number: UInt32, _ readiness: Readiness) -> Bool {
    guard var line = lines[number] else { return true }
    if readiness.isWritable, !line.reply.isEmpty {
      guard case .wrote(let count) = line.channel.write(line.reply, from: line.sent) else {
        return drop(number)
      }
      line.sent += count
      guard line.sent == line.reply.count else {
        lines[number] = line
        return true
      }
      (line.reply, line.sent) = ([], 0)
      // Of a program that sends before it has read there may be a whole request.
      return ask(number, line)
    }
    guard readiness.isReadable else { return readiness.isClosed ? drop(number) : true }
    guard case .bytes(let bytes) = line.channel.read(64 << 10) else { return drop(number) }
    line.requests.append(bytes)
    return ask(number, line)
  }

  /// Passes the next request of a program on, where a whole one is there.
  private mutating func ask(_ number: UInt32, _ line: Line) -> Bool {
    var line = line
    let request: AgentMessage?
    do throws(AgentParser.Violation) {
      request = try line.requests.next()
    } catch {
      return drop(number)
    }
    line.isAsked = request != nil
    lines[number] = line
    guard let request else { return true }
    return Machine.write(AgentMessage(number, request.body).encoded, to: 1)
  }

  /// Ends a program's connection, and tells the client; false where that is gone.
  private mutating func drop(_ number: UInt32) -> Bool {
    lines[number] = nil
    return Machine.write(AgentMessage(number, []).encoded, to: 1)
  }

  /// Hands out what the client says; false at its end.
  private mutating func takeAnswers() -> Bool {
    guard let bytes = Machine.readSome(from: 0) else { return false }
    answers.append(bytes)
    do throws(AgentParser.Violation) {
      while let message = try answers.next() {
        guard var line = lines[message.connection], line.isAsked else { continue }
        guard !message.body.isEmpty else {
          lines[message.connection] = nil
          continue
        }
        // The next request is passed on when it has this answer: one would overwrite the other.
        (line.isAsked, line.reply) = (false, AgentMessage.framed(message.body))
        lines[message.connection] = line
      }
      return true
    } catch {
      return false
    }
  }
}
