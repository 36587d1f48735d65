package import BridgeErrors
package import BridgeSessionProtocol
package import BridgeTerminal

/// SESSION as the user typed it: an id, the unique beginning of one in four digits or more, or a
/// name.
package struct SessionSelector: Sendable, Equatable {
  /// The typed text; nil for the only session that runs.
  package let text: String?

  /// The session of this id.
  package init(_ id: SessionID) { text = "\(id)" }

  /// - Throws: `validationError` for what can be neither an id nor a name.
  package init(_ text: String?) throws(AppError) {
    if let text {
      guard !text.isEmpty, text.utf8.count <= StartRequest.longestName else {
        throw .validationError(
          field: "SESSION",
          message: "\"\(PeerText.escaped(text, limit: 64))\" is neither an id nor a name.")
      }
    }
    self.text = text
  }

  /// The id, where the text is a whole one: no list is needed then.
  package var id: SessionID? { text.flatMap { Identifier(text: $0) } }

  /// The session of `sessions` that is meant. Of several with one name the running one, or, where
  /// none runs, the one that was started last.
  ///
  /// - Throws: `durableSessionNotFound`; `validationError` that names the sessions that may be
  ///   meant.
  package func resolve(
    in sessions: [SessionStatus], on host: String
  ) throws(AppError) -> SessionStatus {
    switch try find(in: sessions, on: host) {
    case .one(let session): return session
    case .several(let reason, let sessions): throw Self.ambiguous(reason, sessions)
    }
  }

  /// What a text stands for.
  package enum Match: Sendable, Equatable {
    case one(SessionStatus)
    /// Any of these, for this reason.
    case several(String, [SessionStatus])
  }

  /// The sessions of `sessions` that may be meant.
  ///
  /// - Throws: `durableSessionNotFound`; `validationError` for too few digits of an id.
  package func find(in sessions: [SessionStatus], on host: String) throws(AppError) -> Match {
    guard let text else {
      let running = sessions.filter { $0.state == .running }
      if let only = running.first, running.count == 1 { return .one(only) }
      guard running.isEmpty else { return .several("Several sessions run", running) }
      let orphans = sessions.filter { $0.end == .orphaned }
      guard orphans.isEmpty else { return .several("Only orphaned programs run", orphans) }
      throw .durableSessionNotFound(host: host, id: "that runs")
    }
    let named = sessions.filter { $0.name.map { String(decoding: $0, as: UTF8.self) } == text }
    if !named.isEmpty {
      let running = named.filter { $0.state == .running }
      guard running.count < 2 else {
        return .several("Several running sessions have this name", running)
      }
      let newest = named.max { $0.startedAt < $1.startedAt }
      if let found = running.first ?? newest { return .one(found) }
    }
    let matching = sessions.filter { "\($0.session)".hasPrefix(text.lowercased()) }
    guard let first = matching.first else { throw .durableSessionNotFound(host: host, id: text) }
    guard text.utf8.count >= Self.shortestBeginning else {
      throw .validationError(
        field: "SESSION",
        message: "\"\(text)\" is no name; of an id \(Self.shortestBeginning) digits are needed.")
    }
    return matching.count == 1 ? .one(first) : .several("Several ids begin so", matching)
  }

  /// Refuses a session whose own terminal this is: shown in itself it would print without an end.
  /// One of tmux in it is another terminal.
  ///
  /// - Throws: `validationError`.
  package static func refuse(
    _ session: SessionStatus, within local: LocalEnvironment
  ) throws(AppError) {
    guard local.variables["BRIDGE_SESSION"] == "\(session.session)",
      session.process == UInt64(local.sessionLeader)
    else { return }
    throw .validationError(
      field: "SESSION",
      message: "This is the terminal of the session, which cannot be shown in itself.")
  }

  /// A slip of one or two keys names no session, as in Git (core.abbrev).
  static let shortestBeginning = 4
  private static let shownLimit = 8

  /// The error of a text that may mean any of `sessions`.
  package static func ambiguous(_ reason: String, _ sessions: [SessionStatus]) -> AppError {
    let names = sessions.prefix(shownLimit).map { session in
      let name = session.name.map { " (\(PeerText.escaped(SessionText.text($0), limit: 64)))" }
      return "\(session.session)".prefix(SessionText.shortID) + (name ?? "")
    }
    let more = sessions.count > shownLimit ? ", and \(sessions.count - shownLimit) more" : ""
    return .validationError(
      field: "SESSION", message: "\(reason): \(names.joined(separator: ", "))\(more).")
  }
}
