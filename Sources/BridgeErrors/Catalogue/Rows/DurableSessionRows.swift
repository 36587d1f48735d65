// The cases of durable sessions.
extension CatalogueRow {
  static func durableSessionNotFound(_ host: String, _ id: String) -> Self {
    Self(
      "durableSessionNotFound", .session,
      cause: "The session was never started there, or it ended and what was kept was removed.",
      remedy: "List the sessions of the host, and check the id.",
      title: "Session Not Found",
      message: """
        \(Payload.exact(host)) has no session \(Payload.exact(id)). One that has ended is kept \
        there for seven days, or until the client that started it has all of it.
        """,
      icon: "terminal", metadata: ["session_id": Payload.exact(id)], automatic: .never,
      exit: .fileMissing)
  }

  static func durableSessionConflict(_ host: String, _ id: String) -> Self {
    Self(
      "durableSessionConflict", .session,
      cause: "The session with this id has another program, or the offsets are of another run.",
      remedy: "Start the program under a new id, or attach to the session that is there.",
      title: "Session Conflict",
      message: """
        Session \(Payload.exact(id)) on \(Payload.exact(host)) belongs to another program. Nothing \
        was started.
        """,
      icon: "terminal", metadata: ["session_id": Payload.exact(id)], automatic: .never,
      exit: .usage)
  }

  static func durableSessionReplaced(_ host: String, _ client: String) -> Self {
    let name = client.isEmpty ? "another client" : "client \(Payload.exact(client))"
    return Self(
      "durableSessionReplaced", .session,
      cause: "One client at a time writes to a session; another one took it over.",
      remedy: "Attach again to take it back, or attach for reading only.",
      title: "Taken Over",
      message: """
        The session on \(Payload.exact(host)) was taken over by \(name). The program goes on.
        """,
      icon: "terminal", options: [.reconnect, .dismiss], exit: .busy)
  }

  static func durableSessionFull(_ host: String) -> Self {
    Self(
      "durableSessionFull", .session,
      cause: "A session takes 16 clients, those that only read included.",
      remedy: "Let one of the others leave (`~d`), and attach again.",
      title: "Session Is Full",
      message: "The session on \(Payload.exact(host)) has as many clients as it takes.",
      icon: "terminal", options: [.retry, .dismiss], exit: .busy)
  }

  static func durableSessionGap(_ from: UInt64, _ to: UInt64) -> Self {
    Self(
      "durableSessionGap", .session,
      cause: "The program printed more than is kept, or the session ended too long ago, or before "
        + "others that have used up the space for ended sessions.",
      remedy:
        "Read sooner, or start the program so that it waits when all space is used.",
      title: "Output No Longer Kept",
      message: "Bytes \(from) to \(to) of the session are no longer kept.",
      icon: "terminal", automatic: .never, exit: .outcomeUnknown)
  }

  static func durableSessionOutcomeUnknown(_ host: String, _ reason: String) -> Self {
    Self(
      "durableSessionOutcomeUnknown", .session,
      cause: "The session's keeper died or its machine was restarted before the end was recorded.",
      remedy: """
        Read what output is kept, and check on the host what the program has done before you run \
        it again.
        """,
      title: "Outcome Unknown",
      message: """
        The outcome of the program on \(Payload.exact(host)) is not known: \
        \(Payload.sentence(reason))
        """,
      icon: "terminal", automatic: .never, exit: .outcomeUnknown)
  }

  static func durableSessionHostUnusable(_ host: String, _ reason: String) -> Self {
    // It is one session that cannot be used, and not the host.
    let isOfOne = reason.hasPrefix("The keeper of ")
    let (place, clause) = (Payload.exact(host), Payload.sentence(reason))
    return Self(
      "durableSessionHostUnusable", .session,
      cause: "Durable sessions need the program bridge-host on the remote machine.",
      remedy:
        "Mend what is named, install bridge-host there, or connect without a durable session.",
      title: isOfOne ? "Session Does Not Answer" : "No Durable Sessions",
      message: isOfOne
        ? "\(place) does not go on with the session: \(clause)"
        : "\(place) cannot keep durable sessions: \(clause)",
      icon: "terminal", options: [.checkSettings, .dismiss], exit: .configuration)
  }
}
