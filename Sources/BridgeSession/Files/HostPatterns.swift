package import BridgeErrors
import BridgeSessionProtocol
package import BridgeTransport

/// Finds the names of a host that patterns stand for. Its sh expands them, also where `bridge-host`
/// is there: no version of that has to know of it, and no login shell takes part.
package struct HostPatterns: Sendable {
  /// How a channel ended.
  package enum Outcome: Sendable, Equatable {
    /// The paths of each pattern, in the order of the patterns; none where nothing matches.
    case found([[[UInt8]]])
    /// Another channel may bring them.
    case ended(ByteChannelEnding)
    /// The account runs no shell.
    case unavailable(reason: String)
  }

  private let patterns: [[UInt8]]
  private let host: String
  private let unheard: UnheardLinks?
  private let clock: SessionClock
  /// How long the host may search, in milliseconds: as long as it may count a tree.
  private static let answerLimit: Milliseconds = 600_000
  /// How much it may send.
  package static let limit = 4 << 20

  /// - Parameters:
  ///   - patterns: as paths of the host: absolute, or from the home directory.
  ///   - unheard: that of the run; nil where a host is dialed for ever.
  ///   - clock: for the time that the host has for its answer.
  package init<C: Clock>(
    _ patterns: [[UInt8]], host: String, unheard: UnheardLinks? = nil,
    clock: C = ContinuousClock()
  ) where C.Duration == Duration {
    (self.patterns, self.host, self.unheard) = (patterns, host, unheard)
    self.clock = SessionClock(clock)
  }

  /// A command that searches, with a marker of its own.
  package func command() -> HostCommand {
    let marker = AnswerMarker()
    return HostCommand(
      text: PlainScript.command(marker: marker, reading: Self.program), marker: marker)
  }

  /// A path that exists is itself, whatever is in it. What the shell reads are octal escapes; what
  /// it expands is never split, and never read as a command.
  private static let program = #"""
    LC_ALL=C; export LC_ALL; unset CDPATH GLOBIGNORE; set -f; exec 2>/dev/null
    cd || cd / || exit 1
    is() { [ -e "$1" ] || [ -L "$1" ]; }
    say() { printf '%s\000' "$1"; }
    while read -r a; do
      v=$(printf %b. "$a"); v=${v%.}
      if is "$v"; then say "$v"
      else
        IFS=; set +f
        for f in $v; do ! is "$f" || say "$f"; done
        set -f; unset IFS
      fi
      say ""
    done

    """#

  /// Searches over one channel.
  ///
  /// - Throws: what ends the search for good.
  package func carry(
    over channel: any ByteChannel, _ command: HostCommand
  ) async throws(AppError) -> Outcome {
    let watch = AnswerWatch(clock)
    let search = AnswerWatch(clock, silence: Self.answerLimit)
    var answer = MarkedBytes(marker: command.marker)
    let result = await withTaskGroup(of: Void.self) { group -> Result<[[[UInt8]]]?, AppError> in
      group.addTask { await watch.run(closing: channel) }
      group.addTask { await search.run(closing: channel) }
      defer { group.cancelAll() }
      do throws(AppError) {
        return .success(try await exchange(over: channel, &answer, watch))
      } catch {
        return .failure(error)
      }
    }
    if case .success(nil) = result, !watch.isLate, !search.isLate, !Task.isCancelled {
      // One that was not heard may wait for what it is never sent.
      if !answer.hasBegun { try? await channel.finish() }
      let ending = await channel.ending(clock)
      await channel.close()
      return try outcome(of: ending, answer)
    }
    if case .success(.some) = result { _ = await channel.ending(clock) }
    await channel.close()
    if answer.hasBegun { unheard?.hear() }
    if let names = try result.get() { return .found(names) }
    if watch.isLate { throw watch.error(host: host) }
    if search.isLate { throw .sshTimeout(seconds: Int(clamping: Self.answerLimit / 1000)) }
    throw .cancelled
  }

  /// The end of a channel that brought less than all.
  private func outcome(
    of ending: ByteChannelEnding, _ answer: MarkedBytes
  ) throws(AppError) -> Outcome {
    if answer.hasBegun {
      unheard?.hear()
      return .ended(ending)
    }
    guard case .finished(let status) = ending else {
      unheard?.hearOthers(answer.preamble)
      if let error = unheard?.lose(host: host) { throw error }
      return .ended(ending)
    }
    // A status is the word of a program; without one the host may just be going down.
    guard let status else { return .ended(ending) }
    return .unavailable(reason: "a shell ended with \(status)")
  }

  /// The paths of each pattern; nil where the channel ends before.
  private func exchange(
    over channel: any ByteChannel, _ answer: inout MarkedBytes, _ watch: AnswerWatch
  ) async throws(AppError) -> [[[UInt8]]]? {
    var input = PlainInput()
    var names: [[[UInt8]]] = [[]]
    var (isSent, count) = (false, 0)
    while true {
      // The reason of an end is requested next.
      guard let bytes = try? await channel.read() else { return nil }
      watch.hear()
      guard let bytes = answer.take(bytes) else {
        throw SessionFailure.error(.noMarker, host: host)
      }
      // Before the marker another program may read what is sent.
      if answer.hasBegun, !isSent {
        isSent = true
        watch.stop()
        guard (try? await channel.write(request)) != nil else { return nil }
        // It ends by itself then: a channel that is closed before may cost the next one (Dropbear).
        try? await channel.finish()
      }
      count += bytes.count
      guard count <= Self.limit else {
        throw .featureUnavailable(
          feature: "Copying more names than \(Self.limit >> 20) MiB hold (\(host))")
      }
      input.append(bytes)
      do throws(ProtocolError) {
        if let names = try take(&input, &names) { return names }
      } catch {
        throw FileFailure.error(error, host: host)
      }
    }
  }

  /// The program, and a line for each pattern.
  var request: [UInt8] {
    let lines = patterns.map { PlainText.line([PlainText.escaped(PlainText.path($0))]) }
    return Array(Self.program.utf8) + lines.joined()
  }

  /// An empty name ends those of a pattern; returns all of them behind the last one.
  private func take(
    _ input: inout PlainInput, _ names: inout [[[UInt8]]]
  ) throws(ProtocolError) -> [[[UInt8]]]? {
    while let name = try input.text() {
      guard name.isEmpty else {
        names[names.count - 1].append(try path(name, of: patterns[names.count - 1]))
        continue
      }
      if names.count == patterns.count { return names }
      names.append([])
    }
    return nil
  }

  /// A path as the pattern was typed, without what the shell was given before it.
  private func path(_ name: [UInt8], of pattern: [UInt8]) throws(ProtocolError) -> [UInt8] {
    let added = PlainText.path(pattern).count - pattern.count
    guard name.count > added, name.count <= FileLimits.path else { throw PlainInput.violation }
    let path = Array(name.dropFirst(added))
    guard Self.matches(path, pattern) else {
      throw .malformedFields("a name that does not match its pattern")
    }
    return path
  }

  /// Whether the last name of a path is one that the user has asked for.
  private static func matches(_ path: [UInt8], _ pattern: [UInt8]) -> Bool {
    if path == pattern { return true }
    guard let name = path.split(separator: FileName.slash).last,
      let last = pattern.split(separator: FileName.slash).last
    else { return false }
    return [true, false].contains { escapes in
      [true, false].contains { caretNegates in
        NamePattern(last, escapes: escapes, caretNegates: caretNegates).matches(Array(name))
      }
    }
  }
}
