// The cases of stores of agent hosts.
extension CatalogueRow {
  static func storeUnusable(_ store: String, _ problem: StoreProblem) -> Self {
    Self(
      "storeUnusable", .persistence, cause: problem.cause, remedy: problem.remedy,
      title: "Store Not Usable",
      message: "\(Payload.exact(store)) cannot be used: \(problem.fact)",
      options: problem.isTransient ? [.retry, .dismiss] : [.dismiss],
      automatic: problem.isTransient ? .repeatOperation : .needsPerson,
      exit: problem.isTransient ? .unreachable : .configuration)
  }

  static func agentTakenOver(_ agent: String, _ host: String) -> Self {
    let carrier = host.isEmpty ? "by no host now" : "by \(Payload.exact(host))"
    return Self(
      "agentTakenOver", .agent,
      cause: "One host at a time carries an agent; this one did not renew its lease in time.",
      remedy: "Leave the agent to the other host, or end that one first.",
      title: "Agent Taken Over",
      message: "\(Payload.exact(agent)) is carried \(carrier). This host writes no more for it.",
      automatic: .never, exit: .busy)
  }
}

extension StoreProblem {
  /// Why it happens, for the catalogue.
  var cause: String {
    switch self {
    case .unavailable: "The database is down, cannot be reached, or has too much to do."
    case .newerSchema: "A newer version of the program has used the store."
    case .otherProgram: "The file or the schema was made by another program."
    case .notADatabase: "There is another kind of file at the path."
    case .inUse: "Another process of the program has the store open."
    case .readOnly: "The file, its folder or the database may be read and not written."
    case .full: "The disk is full, or the quota is used up."
    case .damaged: "The disk failed, or the file was written by something else."
    case .refused: "The database does not accept the user, or not from this address."
    }
  }

  /// What is wrong, as the end of a sentence.
  var fact: String {
    switch self {
    case .unavailable(let reason): "it does not answer: \(Payload.sentence(reason))"
    case .newerSchema(let found, let known):
      "it has version \(found) of the schema, and this program knows \(known)."
    case .otherProgram: "it belongs to another program."
    case .notADatabase: "it is no database."
    case .inUse: "another process has it open."
    case .readOnly: "it cannot be written."
    case .full: "the disk is full."
    case .damaged: "it is damaged."
    case .refused: "the database refuses the login."
    }
  }

  /// What a person can do.
  var remedy: String {
    switch self {
    case .unavailable: "Start the database, or check its address; it is tried again by itself."
    case .newerSchema: "Update this program; nothing was changed."
    case .otherProgram: "Name another file or database for the store; nothing was changed."
    case .notADatabase: "Check the path; nothing was changed."
    case .inUse: "End the other process, or give this one a store of its own."
    case .readOnly: "Check the permissions (`ls -l`, `ls -ld`) and how the disk is mounted."
    case .full: "Free some space, then try again; all that was reported as written is kept."
    case .damaged: "Keep a copy of it, and restore it from a backup."
    case .refused: "Check user and password, and pg_hba.conf of the database."
    }
  }
}
