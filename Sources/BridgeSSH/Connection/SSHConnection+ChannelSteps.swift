import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWaiting

/// The steps of one turn for each channel: write, read, detect the end.
extension SSHConnection {
  func stepChannels() {
    openWindowsAtEnd()
    for channel in channels.values where session != nil {
      guard writeOutgoing(channel), readIncoming(channel) else { continue }
      if channel.isLetGo { abandon(channel) } else { noticeEnd(channel) }
    }
    stepClosing()
  }

  /// False when the channel or the connection ended over it.
  private func writeOutgoing(_ channel: ChannelState) -> Bool {
    while let (bytes, start) = channel.outgoing.next, session?.wire.hasSpace == true {
      switch channel.native.write(bytes, from: start) {
      case .again:
        channel.outgoing.hold(channel.native.heldBytes(of: bytes.count - start))
        return true
      case .failed(let code, let text):
        return lose(code: code, text: text)
      case .done(let count):
        channel.sent += UInt64(count)
        guard let (id, done) = channel.outgoing.advance(by: count) else { continue }
        if callers.take(id) != nil { done(true) }
      }
    }
    if channel.isInputFinished, !channel.isEndSent, channel.outgoing.isEmpty {
      switch channel.native.sendEndOfFile() {
      case .again: break
      case .done: channel.isEndSent = true
      case .failed(let code, let text): return lose(code: code, text: text)
      }
    }
    return true
  }

  private func readIncoming(_ channel: ChannelState) -> Bool {
    var isAnyRead = false
    // What is read out after the server has closed the channel is all there will be.
    let isClosed = channel.native.isClosedByServer
    channel.isReadOut = isClosed
    channel.isHandedOut = true
    for stream in NativeChannel.Stream.allCases {
      let mailbox = channel.mailbox(stream)
      // Only a read says so: a full mailbox may be emptied between two looks at it.
      var isEmpty = false
      while channel.takesMore(of: stream) {
        isAnyRead = true
        let read = channel.native.read(stream, through: reactor.scratch)
        if case .failed(let code, let text) = read { return lose(code: code, text: text) }
        guard case .done(let bytes) = read, !bytes.isEmpty else {
          isEmpty = !channel.native.isWindowDue(before: reactor.scratch)
          break
        }
        mailbox.store(bytes)
      }
      channel.isReadOut = channel.isReadOut && isEmpty
      channel.isHandedOut = channel.isHandedOut && isEmpty
    }
    if let damage = damage(to: channel) {
      settle(channel, with: damage)
      closing.append(channel.native)
      return false
    }
    // The packet that closes it came with these reads, perhaps behind more output.
    if !isClosed, channel.native.isClosedByServer { return readIncoming(channel) }
    // No reader; the wire must be read even so, for the other channels and the protocol.
    if !isAnyRead,
      case .failed(let code, let text) = channel.native.drain(through: reactor.scratch)
    {
      return lose(code: code, text: text)
    }
    return true
  }

  /// What a server that breaks the rules has done to the output; nil where it is whole so far.
  private func damage(to channel: ChannelState) -> SSHFailure? {
    let isReadOut = channel.isHandedOut || channel.native.isAtEnd
    guard let damage = channel.native.damage(isReadOut: isReadOut) else { return nil }
    let detail = damage.words(status: channel.native.reportedStatus)
    return failure(observation: .outputLost(detail: detail), phase: .stream)
  }

  /// Behind the end of the output the window is opened once more, so far that all of it can be
  /// read without the wire.
  ///
  /// A window that cannot be opened yet waits for an exchange of keys, and that for packets: they
  /// are taken again, until the exchange is done (`PacketTap`).
  private func openWindowsAtEnd() {
    for channel in channels.values where !openWindowAtEnd(of: channel.native) { return }
    // Nothing comes any more of one that the server has closed before it started anything there.
    for channel in starting.values where !channel.isClosedByServer {
      guard openWindowAtEnd(of: channel) else { return }
    }
    if session?.hasNewEnd == true { session?.forgetNewEnd() }
  }

  /// False when the connection ended over it.
  private func openWindowAtEnd(of channel: NativeChannel) -> Bool {
    guard channel.hasAllOutput, !channel.isOutputHere,
      case .failed(let code, let text) = channel.openWindow(before: reactor.scratch)
    else { return true }
    return lose(code: code, text: text)
  }

  private func noticeEnd(_ channel: ChannelState) {
    report(channel)
    // libssh2 sees no end as long as something is queued that is not read: data of an unknown type,
    // or behind the end (RFC 4254, 5.2 and 5.3).
    guard channel.native.isAtEnd || channel.isReadOut else { return }
    channel.output.finish(.success(()))
    channel.error.finish(.success(()))
    if !channel.isReadOut {
      guard case .done = channel.native.waitClosed() else { return }
    }
    settle(channel, with: nil)
    closing.append(channel.native)
  }

  /// The channel's last word: how its command ended, or why that is not known.
  func settle(_ channel: ChannelState, with failure: SSHFailure?) {
    let number = channel.native.number
    channels[number] = nil
    report(channel)
    let ending = endings.removeValue(forKey: number)
    var failure = failure
    if failure?.observation != .cancelled, let damage = damage(to: channel) { failure = damage }
    let last =
      failure
      ?? self.failure(
        observation: channel.command.map { .closedWithoutStatus(command: $0) }, phase: .stream)
    let outcome = outcome(
      of: channel.command, after: last, reported: channel.native.reportedStatus)
    // A shell that the server closed on a connection that goes on.
    let isClosedShell = failure == nil && channel.command == nil
    let error =
      isClosedShell
      ? .sshConnectionFailed(
        host: hostName, reason: "The server closed the channel without an exit status.")
      : AppError(sshError: outcome)
    ending?.settle(
      .failure(error), isClosedShell ? nil : FailureContext(sshFailure: outcome))
    let isHere = !last.isOutputLost && (channel.native.isAtEnd || channel.isReadOut)
    let isWhole = failure == nil || isHere
    channel.damage = last.isOutputLost ? error : nil
    channel.output.finish(isWhole ? .success(()) : .failure(error))
    channel.error.finish(isWhole ? .success(()) : .failure(error))
    for (id, done) in channel.outgoing.callers {
      guard let caller = callers.take(id) else { continue }
      if failure == nil { done(false) } else { caller.fail(last) }
    }
    channel.isOver = true
    channel.isLost = failure != nil
    channel.onTurn?()
  }

  /// Resumes the callers of the exit status with what the server has sent so far. It is an
  /// outcome only once all of the output is here as well: that is handed out whatever becomes of
  /// the link.
  private func report(_ channel: ChannelState) {
    guard let ending = endings[channel.native.number],
      let status = channel.native.reportedStatus
    else { return }
    ending.report(status)
    guard channel.native.isAtEnd || channel.isOutputHere && channel.isHandedOut,
      damage(to: channel) == nil
    else { return }
    ending.settle(.success(status))
  }

  /// Hands out all that libssh2 has queued for channels, whatever a mailbox's limit: nothing more
  /// can come. The windows bound it.
  func drainChannels() {
    guard let session else { return }
    session.wire.seal(.silent)
    for channel in channels.values {
      channel.native.openWindowWithoutLink(before: reactor.scratch)
      for stream in NativeChannel.Stream.allCases {
        while case .done(let bytes) = channel.native.read(stream, through: reactor.scratch),
          !bytes.isEmpty
        {
          channel.mailbox(stream).store(bytes)
        }
      }
      channel.isHandedOut = !channel.native.isWindowDue(before: reactor.scratch)
    }
  }

  /// A command whose link went before its status and all of its output came may or may not have
  /// run to its end.
  func outcome(
    of command: String?, after failure: SSHFailure, reported: ExitStatus? = nil
  ) -> SSHFailure {
    guard failure.observation != .cancelled, !failure.isOutputLost else { return failure }
    guard let command else { return failure.ofTheLink }
    var unknown = failure
    unknown.phase = .execute
    unknown.observation =
      reported.map { .outputCut(command: command, ending: $0.words) }
      ?? (failure.kind == .noStatus ? failure.observation : .noExitStatus(command: command))
    return unknown
  }

  private func lose(code: SSHFailure.Code, text: String) -> Bool {
    end(now: failure(code: code, text: text, phase: .stream))
    return false
  }

  private func stepClosing() {
    closing.removeAll { channel in
      // libssh2 is still in the middle of a request on it.
      guard !operations.hasRequest(on: channel.number) else { return false }
      if case .again = channel.free() { return false }
      hasJustClosed = true
      return true
    }
  }
}

extension SSHFailure {
  /// Whether a server that breaks the rules has lost some output.
  fileprivate var isOutputLost: Bool {
    if case .outputLost = observation { true } else { false }
  }

  /// What it is for the link, and for all that no command hangs on: just gone.
  var ofTheLink: SSHFailure {
    guard kind == .outcomeUnknown else { return self }
    var loss = self
    loss.phase = .openChannel
    loss.observation = nil
    return loss
  }
}
