package import BridgeErrors
import BridgeFiles
package import BridgeSession
package import BridgeSessionProtocol
import BridgeTerminal

/// What a command line of `cp` asks for.
package struct CopyRequest: Sendable, Equatable {
  /// What is copied, as it was typed: at least one.
  package let sources: [CopyPlace]
  package let destination: CopyPlace
  /// HOST of what is remote.
  package let host: String
  /// Which end the host is.
  package let role: FileRequest.Role
  package let isRecursive: Bool
  /// What of a directory is left out.
  package let exclusion: FileExclusion
  /// How many connections carry a file.
  package let streams: Int
  /// How many bytes a second are copied; nil for as many as it goes.
  package let limit: UInt64?

  /// - Parameters:
  ///   - operands: the sources, and the destination behind them.
  ///   - excluded: patterns of what is left out of directories.
  ///   - streams: how many connections are to carry a file; nil for one.
  ///   - limit: how fast it may go, as it was typed.
  /// - Throws: `validationError` where not exactly one side is a host, for a number of streams or a
  ///   limit that is none, for streams of more than one file, for a pattern that fits nothing, and
  ///   for two sources of one name.
  package init(
    _ operands: [String], isRecursive: Bool, excluding excluded: [String] = [],
    streams: Int? = nil, limit: String? = nil
  ) throws(AppError) {
    guard operands.count > 1, let last = operands.last else {
      throw .validationError(field: "DST", message: "It is missing: SRC, then DST.")
    }
    let (sources, destination) = try Self.parsed(operands.dropLast(), last)
    host = try Self.host(of: sources, destination)
    role = destination.host == nil ? .get : .put
    self.isRecursive = isRecursive
    exclusion = try Self.exclusion(excluded, isRecursive: isRecursive)
    self.streams = streams ?? 1
    self.sources = zip(operands, sources).map { CopyPlace(typed: $0, path: $1.path) }
    self.destination = CopyPlace(typed: last, path: destination.path)
    self.limit = try ConnectRequest.map(limit) { (text) throws(AppError) in
      try SizeArgument.parse(
        text, field: "--limit", in: 1 << 10...1 << 40, example: "500K or 2M")
    }
    try checkStreams(streams)
    try check(self.sources.filter { !isPattern($0) })
  }

  private static func parsed(
    _ sources: ArraySlice<String>, _ destination: String
  ) throws(AppError) -> (sources: [CopyOperand], destination: CopyOperand) {
    var parsed: [CopyOperand] = []
    for source in sources { parsed.append(try CopyOperand(source, field: "SRC")) }
    return (parsed, try CopyOperand(destination, field: "DST"))
  }

  /// The host that one side is on.
  private static func host(
    of sources: [CopyOperand], _ destination: CopyOperand
  ) throws(AppError) -> String {
    let hosts = sources.compactMap(\.host)
    guard hosts.isEmpty || hosts.count == sources.count else {
      throw .validationError(
        field: "SRC", message: "Some of them are HOST:PATH, others are here: one run takes either.")
    }
    guard Set(hosts).count <= 1 else {
      throw .validationError(
        field: "SRC", message: "They are on different hosts: one run copies from one host.")
    }
    switch (hosts.first, destination.host) {
    case (let host?, nil), (nil, let host?): return host
    case (nil, nil):
      throw .validationError(
        field: "DST", message: "Neither SRC nor DST is HOST:PATH; cp(1) copies on one machine.")
    case (_?, _?):
      throw .validationError(
        field: "DST", message: "SRC and DST are both HOST:PATH; one of them must be here.")
    }
  }

  private static func exclusion(
    _ patterns: [String], isRecursive: Bool
  ) throws(AppError) -> FileExclusion {
    guard !patterns.isEmpty else { return .none }
    let refuse = { (message: String) in
      AppError.validationError(field: "--exclude", message: message)
    }
    guard isRecursive else { throw refuse("It leaves names out of directories: it takes -r.") }
    for pattern in patterns where FileExclusion([ArgumentBytes.bytes(of: pattern)]) == nil {
      let shown = PeerText.escaped(pattern, limit: 256)
      throw refuse("\"\(shown)\" fits no name: it is a name or a path, with *, ? and [a-c].")
    }
    guard let exclusion = FileExclusion(patterns.map { ArgumentBytes.bytes(of: $0) }) else {
      throw refuse("The patterns are longer than \(FileLimits.exclusion >> 10) KiB in all.")
    }
    return exclusion
  }

  private func checkStreams(_ streams: Int?) throws(AppError) {
    let counts = FileStripe.counts
    guard let streams, streams != 1 else { return }
    guard counts.contains(streams) else {
      throw .validationError(
        field: "--streams", message: "It takes a number from 1 to \(counts.upperBound).")
    }
    guard !isRecursive else {
      throw .validationError(field: "--streams", message: "It copies one file: -r takes none.")
    }
  }

  /// Whether the host is asked which names match a source.
  package func isPattern(_ source: CopyPlace) -> Bool { role == .get && source.isPattern }

  /// Makes sure that each of `places` has a name of its own in the destination.
  ///
  /// - Throws: `validationError`, also for more than one where several connections carry one file.
  package func check(_ places: [CopyPlace]) throws(AppError) {
    guard isSeveral(places) else { return }
    guard streams == 1 else {
      throw .validationError(field: "--streams", message: "It copies one file, not several.")
    }
    var known: [[UInt8]: CopyPlace] = [:]
    for place in places {
      let text = PeerText.escaped(place.text, limit: 1024)
      guard let name = place.name else {
        throw .validationError(
          field: "SRC", message: "\(text) has no name that it could have in DST: copy it alone.")
      }
      guard let other = known.updateValue(place, forKey: name) else { continue }
      let first = PeerText.escaped(other.text, limit: 1024)
      throw .validationError(
        field: "SRC", message: "\(first) and \(text) would have the same name in DST.")
    }
  }

  /// Whether several are copied, for which the destination has to be a directory: of those that
  /// were typed, or of those that were found.
  package func isSeveral(_ places: [CopyPlace]) -> Bool { sources.count > 1 || places.count > 1 }

  /// Makes sure that the destination of several is a directory, where that is here.
  ///
  /// - Throws: `fileWriteError`.
  package func checkDestination() throws(AppError) {
    guard role == .get else { return }
    let reason: String
    do throws(SystemFailure) {
      guard try OpenFile.status(named: destination.path).kind != .directory else { return }
      reason = "it is not a directory"
    } catch {
      let isMissing = error.ofSource.code == .notFound
      reason = isMissing ? "it does not exist" : FileFailure.reason(error.ofTarget, host: host)
    }
    throw .fileWriteError(
      path: PeerText.escaped(destination.text, limit: 1024),
      reason: "\(reason); \(FileFailure.needsDirectory)")
  }

  /// The copy of one source. Its transfer is the same for every run of the same command, and beside
  /// other sources.
  ///
  /// - Parameters:
  ///   - account: whom the host is reached as, and where.
  ///   - directory: the working directory.
  ///   - isInto: whether the destination has to be a directory.
  ///   - key: that of the check of all bytes; nil for SHA-256.
  package func job(
    of source: CopyPlace, isInto: Bool = false, account: String, directory: String,
    run: Identifier, key: [UInt8]?
  ) -> FileTransfer.Job {
    let (local, remote) =
      role == .get ? (destination.path, source.path) : (source.path, destination.path)
    let isAbsolute = local.first == UInt8(ascii: "/")
    let place = isAbsolute ? local : Array("\(directory)/".utf8) + local
    let parts =
      [
        Array("\(role)".utf8), Array(account.utf8), remote, place,
        isRecursive ? Array("r".utf8) : [],
      ] + exclusion.patterns
    let digest = FileHash.digest(of: Array(parts.joined(separator: [0])))
    let transfer = Identifier(bytes: Array(digest.prefix(16))) ?? run
    var job = FileTransfer.Job(
      role, local: local, remote: remote, name: source.name, isRecursive: isRecursive,
      transfer: transfer, run: run)
    job.key = key
    job.isInto = isInto
    job.exclusion = exclusion
    return job
  }
}
