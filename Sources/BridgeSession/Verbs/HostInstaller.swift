public import BridgeErrors
public import BridgeTransport

/// Installs `bridge-host` on a host and removes it: over exec channels, with a POSIX shell and
/// nothing else on the other side.
public struct HostInstaller: Sendable {
  /// Where programs can be installed on a host.
  public struct Place: Sendable, Equatable {
    /// The directory.
    public var directory: String
    /// The system and the processor, as uname(1) prints them.
    public var machine: String
    /// Whether the `bridge-host` there is of this digest and length.
    public var hasIt: Bool

    /// A place that was found.
    public init(directory: String, machine: String, hasIt: Bool) {
      self.directory = directory
      self.machine = machine
      self.hasIt = hasIt
    }
  }

  private let source: any ByteChannelSource
  private let host: String
  private let unheard: UnheardLinks

  /// An installer for the host behind `source`; errors name it `host`.
  public init(_ source: any ByteChannelSource, host: String) {
    self.init(source, host: host, unheard: UnheardLinks())
  }

  /// An installer for the host behind one of the links of a run.
  package init(_ source: any ByteChannelSource, host: String, unheard: UnheardLinks) {
    self.source = source
    self.host = host
    self.unheard = unheard
  }

  /// The first directory that can hold and execute programs.
  ///
  /// - Parameters:
  ///   - digest: the SHA-256 of the program, in 64 lower-case hexadecimal digits.
  ///   - length: its bytes; a disk with less space is passed over.
  /// - Throws: `durableSessionHostUnusable` where no directory may execute programs;
  ///   `fileWriteError` where none can be written; what ended the link; `cancelled`.
  public func place(for digest: String, length: Int = 0) async throws(AppError) -> Place {
    let answer = try await run(InstallScript.probe(digest, length: length)) { _ in [] }
    guard let directory = answer["place"], let machine = answer["machine"] else {
      throw failure(in: answer)
    }
    return Place(directory: directory, machine: machine, hasIt: answer["have"] != nil)
  }

  /// Installs a program in the first directory for it, unless it is there.
  ///
  /// - Parameters:
  ///   - copying: is called before it is copied, with the directory.
  ///   - sent: is called with the number of bytes that are on their way or there.
  /// - Returns: where it is, and whether it was there before.
  /// - Throws: `durableSessionHostUnusable` for a program of another system or processor, too; what
  ///   `place` and `install` throw.
  package func provide(
    _ program: HostBinary, copying: (_ directory: String) -> Void = { _ in },
    sent: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws(AppError) -> Place {
    let place = try await place(for: program.digest, length: program.bytes.count)
    if let refusal = program.refusal(of: place.machine) {
      throw .durableSessionHostUnusable(host: host, reason: refusal)
    }
    guard !place.hasIt else { return place }
    copying(place.directory)
    try await install(program.bytes, digest: program.digest, in: place.directory, sent: sent)
    return place
  }

  /// Writes the program under a temporary name, goes on with what a lost link has left there,
  /// verifies its length and its hash there, runs it
  /// once and renames it.
  ///
  /// - Throws: `validationError` for another program; `durableSessionHostUnusable` where it does
  ///   not run there; `fileWriteError` where it cannot be written, or what arrived is not what was
  ///   sent; what ended the link; `cancelled`.
  public func install(
    _ program: [UInt8], digest: String, in directory: String
  ) async throws(AppError) {
    try await install(program, digest: digest, in: directory, sent: { _ in })
  }

  /// Likewise.
  ///
  /// - Parameter sent: is called with the number of bytes that are on their way or there.
  private func install(
    _ program: [UInt8], digest: String, in directory: String,
    sent: @escaping @Sendable (Int) -> Void
  ) async throws(AppError) {
    let script = InstallScript.install(digest, length: program.count, in: directory)
    func copy() async throws(AppError) -> InstallAnswer {
      try await run(script, sent: sent) { answer in answer.kept.map { program.dropFirst($0) } }
    }
    var answer = try await copy()
    // What was there was damaged, and is removed.
    if answer["error-hash"] != nil, answer.kept ?? 0 > 0 { answer = try await copy() }
    guard answer["ok"] != nil else { throw failure(in: answer, directory) }
  }

  /// Removes what was installed; sessions and their output stay.
  ///
  /// - Returns: the directories that were removed.
  /// - Throws: `fileWriteError` where one cannot be removed; what ended the link; `cancelled`.
  public func uninstall() async throws(AppError) -> [String] {
    let answer = try await run(InstallScript.uninstall) { _ in [] }
    guard answer["end"] != nil else { throw failure(in: answer) }
    return answer.all("removed")
  }

  private func failure(in answer: InstallAnswer, _ directory: String? = nil) -> AppError {
    let path = "\(host):\(directory ?? "~/.local/lib/bridge")"
    if let text = answer["error-run"] {
      return .durableSessionHostUnusable(
        host: host,
        reason: text.isEmpty
          ? "bridge-host does not run there, and says nothing: its file may be incomplete."
          : "bridge-host does not run there: \(text)")
    }
    if answer["error-program"] != nil {
      return .validationError(field: "--binary", message: "The file is not bridge-host.")
    }
    if let found = answer["error-hash"] {
      return .fileWriteError(
        path: path, reason: "what arrived has another SHA-256 than what was sent (\(found))")
    }
    if let count = answer["error-length"] {
      return .fileWriteError(path: path, reason: "only \(count) bytes of it arrived")
    }
    if answer["error-tools"] != nil {
      return .durableSessionHostUnusable(
        host: host, reason: "it has none of sha256sum, shasum and openssl to verify a copy with")
    }
    let blocked = answer.all("noexec")
    if !blocked.isEmpty {
      return .durableSessionHostUnusable(
        host: host,
        reason: "no programs may be executed in \(blocked.joined(separator: ", ")) (noexec)")
    }
    let reasons = answer.all("unwritable") + answer.all("error-write")
    guard reasons.isEmpty else {
      return .fileWriteError(path: path, reason: reasons.joined(separator: "; "))
    }
    let rest = answer.rest.isEmpty ? "a start-up file or the shell itself ended it" : answer.rest
    return .durableSessionHostUnusable(host: host, reason: "its shell did not answer: \(rest)")
  }

  // MARK: The channel

  private static var pieceSize: Int { 64 << 10 }

  /// - Parameter input: what is sent, once it is known.
  private func run(
    _ script: String, sent: @escaping @Sendable (Int) -> Void = { _ in },
    _ input: (InstallAnswer) -> ArraySlice<UInt8>?
  ) async throws(AppError) -> InstallAnswer {
    let marker = AnswerMarker()
    let channel = try await source.channel(
      running: InstallScript.command(script, marker: marker))
    let watch = AnswerWatch(SessionClock(ContinuousClock()))
    let answer = await withTaskGroup(of: Void.self) { group in
      group.addTask { await watch.run(closing: channel) }
      var answer = InstallAnswer(marker: marker)
      var isSent = false
      defer { group.cancelAll() }
      // Why it ended is asked for next, but for a canceled caller.
      while let bytes = try? await channel.read() {
        watch.hear()
        answer.append(bytes)
        // Before the marker another program may read what is sent.
        guard answer.hasBegun, !isSent, let input = input(answer) else { continue }
        isSent = true
        watch.stop()
        group.addTask { await Self.send(input, over: channel, sent) }
      }
      return answer
    }
    // It has an end then, whatever the host does.
    if Task.isCancelled { await channel.close() }
    let ending = await channel.ending(SessionClock(ContinuousClock()))
    await channel.close()
    if answer.hasBegun {
      unheard.hear()
    } else {
      unheard.hearOthers(answer.rest.utf8)
    }
    guard !Task.isCancelled else { throw .cancelled }
    guard !watch.isLate else { throw watch.error(host: host) }
    switch ending {
    case .lost(let error): throw error
    case .closed: throw .cancelled
    case .finished: return answer
    }
  }

  /// A host that takes no more has said why.
  private static func send(
    _ input: ArraySlice<UInt8>, over channel: any ByteChannel, _ sent: (Int) -> Void
  ) async {
    do throws(AppError) {
      var rest = input
      while !rest.isEmpty {
        try await channel.write(Array(rest.prefix(pieceSize)))
        rest = rest.dropFirst(pieceSize)
        sent(rest.startIndex)
      }
      try await channel.finish()
    } catch {
      // The answer or the end of the channel says what happened.
    }
  }
}
