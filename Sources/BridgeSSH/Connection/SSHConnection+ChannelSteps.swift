import BridgeErrors
import BridgeReactor

/// What one turn does for each channel: write, read, notice the end.
extension SSHConnection {
  /// What one read takes at most; a stream that brings less is given smaller arrays.
  private static let readSizes = (usual: 16 << 10, bulk: 128 << 10)

  func stepChannels() {
    for channel in channels.values where session != nil {
      guard writeOutgoing(channel), readIncoming(channel) else { continue }
      keepWindow(channel)
      noticeEnd(channel)
    }
    stepClosing()
  }

  /// False when the channel or the connection ended over it.
  private func writeOutgoing(_ channel: ChannelState) -> Bool {
    while let bytes = channel.outgoing.first, session?.wire.hasRoom == true {
      switch channel.native.write(bytes, from: channel.written) {
      case .again:
        return true
      case .failed(let code, let text):
        return lose(channel, code: code, text: text)
      case .done(let count):
        channel.written += count
        if channel.written == bytes.count {
          channel.outgoing.removeFirst()
          channel.written = 0
        }
        answerWriters(of: channel, count: count)
      }
    }
    if channel.isInputFinished, !channel.isEndSent, channel.outgoing.isEmpty {
      switch channel.native.sendEndOfFile() {
      case .again: break
      case .done: channel.isEndSent = true
      case .failed(let code, let text): return lose(channel, code: code, text: text)
      }
    }
    return true
  }

  private func answerWriters(of channel: ChannelState, count: Int) {
    var count = count
    while count > 0, let writer = channel.writers.first {
      let share = min(count, writer.left)
      count -= share
      channel.writers[0].left -= share
      guard channel.writers[0].left == 0 else { return }
      channel.writers.removeFirst()
      if callers.take(writer.id) != nil { writer.done(true) }
    }
  }

  private func readIncoming(_ channel: ChannelState) -> Bool {
    var isAnyRead = false
    for stream in NativeChannel.Stream.allCases {
      let mailbox = channel.mailbox(stream)
      var size = Self.readSizes.usual
      while size > 0, mailbox.hasRoom {
        isAnyRead = true
        switch channel.native.read(stream, upTo: size) {
        case .failed(let code, let text):
          return lose(channel, code: code, text: text)
        case .done(let bytes) where !bytes.isEmpty:
          mailbox.push(bytes)
          size = bytes.count == size ? Self.readSizes.bulk : size
        case .done, .again:
          size = 0
        }
      }
    }
    // Nobody reads; the wire must be read even so, for the sake of the others and of the protocol.
    if !isAnyRead, case .failed(let code, let text) = channel.native.drain() {
      return lose(channel, code: code, text: text)
    }
    return true
  }

  /// libssh2 tops the window up to what the channel was opened with; a longer round trip wants
  /// more.
  private func keepWindow(_ channel: ChannelState) {
    let wanted = WindowPolicy.window(for: roundTrip)
    guard wanted > channel.window, channel.output.hasRoom else { return }
    let left = channel.native.windowLeft()
    if left < wanted / 2 { _ = channel.native.widenWindow(by: wanted - left) }
  }

  private func noticeEnd(_ channel: ChannelState) {
    if let signal = channel.native.exitSignal() {
      endings[channel.native.number]?.settle(.success(.signal(signal)))
    } else if let status = channel.native.exitStatus {
      endings[channel.native.number]?.settle(.success(.status(Int(status))))
    }
    guard channel.native.isAtEnd else { return }
    channel.output.finish(.success(()))
    channel.error.finish(.success(()))
    guard case .done = channel.native.waitClosed() else { return }
    settle(channel, with: nil)
    closing.append(channel.native)
  }

  /// The channel's last word: how its command ended, or why that is not known.
  func settle(_ channel: ChannelState, with failure: SSHFailure?) {
    let number = channel.native.number
    channels[number] = nil
    let ending = endings.removeValue(forKey: number)
    if let signal = channel.native.exitSignal() {
      ending?.settle(.success(.signal(signal)))
    } else if let status = channel.native.exitStatus {
      ending?.settle(.success(.status(Int(status))))
    }
    let last =
      failure
      ?? self.failure(
        observation: channel.command.map { .noExitStatus(command: $0) }, phase: .stream)
    let error = AppError(sshError: outcome(of: channel.command, after: last))
    ending?.settle(.failure(error))
    channel.output.finish(failure == nil ? .success(()) : .failure(error))
    channel.error.finish(failure == nil ? .success(()) : .failure(error))
    for writer in channel.writers {
      guard let caller = callers.take(writer.id) else { continue }
      if failure == nil { writer.done(false) } else { caller.fail(last) }
    }
  }

  /// A command whose link went before its status came may or may not have run to its end.
  func outcome(of command: String?, after failure: SSHFailure) -> SSHFailure {
    guard failure.observation != .cancelled else { return failure }
    guard let command else { return failure.ofTheLink }
    var unknown = failure
    unknown.phase = .execute
    unknown.observation = .noExitStatus(command: command)
    return unknown
  }

  private func lose(_ channel: ChannelState, code: Int, text: String) -> Bool {
    end(now: failure(code: code, text: text, phase: .stream))
    return false
  }

  private func stepClosing() {
    closing.removeAll { channel in
      // libssh2 is still in the middle of a request on it.
      guard !operations.hasRequest(on: channel.number) else { return false }
      if case .again = channel.free() { return false }
      return true
    }
  }
}

extension SSHFailure {
  /// What it is for the link, and for all that no command hangs on: just gone.
  var ofTheLink: SSHFailure {
    guard kind == .outcomeUnknown else { return self }
    var loss = self
    loss.phase = .openChannel
    loss.observation = nil
    return loss
  }
}
