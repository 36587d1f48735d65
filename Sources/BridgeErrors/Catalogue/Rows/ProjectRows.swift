extension CatalogueRow {
  static func validationError(_ field: String, _ message: String) -> Self {
    Self(
      "validationError", .validation, cause: "A value that was entered is not acceptable.",
      remedy: "Correct the value.", messageSaysAll: true,
      message: "\(Payload.exact(field)): \(Payload.exact(message))",
      icon: "exclamationmark.triangle", exit: .usage)
  }

  static func invalidURL(_ string: String) -> Self {
    Self(
      "invalidURL", .validation, cause: "An address is not written as a URL.",
      remedy: """
        Write it in full, as in wss://example.org/path, without a user, a password or a fragment \
        (#…).
        """,
      fact: "\"\(Payload.shown(string))\" is not a valid URL.", exit: .usage)
  }

  static func invalidProjectPath(_ path: String) -> Self {
    Self(
      "invalidProjectPath", .validation, cause: "The path does not lead to a project's folder.",
      remedy: "Choose the folder that holds the project.",
      fact: "\(Payload.shown(path)) is not the folder of a project.", exit: .usage)
  }

  static func sessionNotFound(_ id: String) -> Self {
    Self(
      "sessionNotFound", .session, cause: "The session was deleted, or was never here.",
      remedy: "Look through the list of sessions, or start a new one.",
      title: "Session Not Found",
      message: """
        Session \(Payload.exact(id).prefix(8))... was not found. It may have been deleted.
        """,
      metadata: ["session_id": Payload.exact(id)])
  }

  static func sessionArchived(_ id: String) -> Self {
    Self(
      "sessionArchived", .session, cause: "The session is archived and can only be read.",
      remedy: "Restore it before you continue it.",
      fact: "Session \(Payload.shown(id)) is archived.")
  }

  static func sessionExportFailed(_ reason: String) -> Self {
    Self(
      "sessionExportFailed", .session, cause: "The target could not be written.",
      remedy: "Check that the target can be written, and the free space (`df -h`).",
      fact: "The session could not be exported: \(Payload.sentence(reason))")
  }

  static func sessionSearchFailed(_ query: String, _ reason: String) -> Self {
    Self(
      "sessionSearchFailed", .session, cause: "The search could not be carried out.",
      remedy: "Search for something simpler.",
      fact: "The search for \"\(Payload.shown(query))\" failed: \(Payload.sentence(reason))")
  }

  static func projectNotFound(_ path: String) -> Self {
    Self(
      "projectNotFound", .project, cause: "The project was moved or deleted.",
      remedy: "Choose its folder again.", fact: "There is no project at \(Payload.shown(path)).",
      exit: .fileMissing)
  }

  static func projectCloneFailed(_ url: String, _ reason: String) -> Self {
    Self(
      "projectCloneFailed", .project, cause: "The repository could not be copied.",
      remedy: "Check the address, your access to it, and the free space (`df -h`).",
      fact: "\(Payload.shown(url)) could not be cloned: \(Payload.sentence(reason))")
  }

  static func projectAlreadyExists(_ path: String) -> Self {
    Self(
      "projectAlreadyExists", .project, cause: "The folder already holds a project.",
      remedy: "Open that one, or choose another folder.",
      fact: "There is already a project at \(Payload.shown(path)).", exit: .fileNotWritable)
  }

  static func unknown(_ message: String) -> Self {
    Self(
      "unknown", .general, cause: "An error that has no case of its own.",
      remedy: "If it happens again, report it with this text.",
      fact: "Something unexpected happened: \(Payload.sentence(message))")
  }

  static func internalError(_ detail: String) -> Self {
    Self(
      "internalError", .general, cause: "A bug in this program.",
      remedy: "Report it with this text; if the program no longer responds, restart it.",
      fact: "The program has a bug: \(Payload.sentence(detail))", severity: .critical)
  }

  static func featureUnavailable(_ feature: String) -> Self {
    Self(
      "featureUnavailable", .general, cause: "It is switched off, or not part of this version.",
      remedy: "Check the configuration and the version of this program.",
      fact: "\(Payload.shown(feature)) is not available here.", exit: .configuration)
  }
}
