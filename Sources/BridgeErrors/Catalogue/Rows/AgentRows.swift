extension CatalogueRow {
  static func agentBusy() -> Self {
    Self(
      "agentBusy", .agent, cause: "The agent handles one request at a time and has not finished.",
      remedy: "Wait for it to finish, or abort what it is doing.",
      title: "Agent Busy",
      message: """
        The agent is still working on your previous request. Please wait for it to finish.
        """,
      icon: "hourglass", options: [.waitForCompletion, .abort], severity: .info,
      automatic: .waitThenRepeat)
  }

  static func agentCreationFailed(_ reason: String) -> Self {
    Self(
      "agentCreationFailed", .agent, cause: "The agent's program did not start on the host.",
      remedy: "Check that it is installed there and that its settings are right.",
      fact: "The agent could not be started: \(Payload.sentence(reason))")
  }

  static func agentAborted() -> Self {
    Self(
      "agentAborted", .agent, cause: "The agent was stopped by a person or a program.",
      remedy: "If that was you, nothing is wrong; start it again when you are ready.",
      fact: "The agent was stopped before it had finished.")
  }

  static func agentExecutionError(_ message: String) -> Self {
    Self(
      "agentExecutionError", .agent, cause: "The agent, or a tool that it used, failed.",
      remedy: "Check how far it got before you let it continue.",
      fact: "The agent failed while it was working: \(Payload.sentence(message))")
  }

  static func agentSessionNotFound(_ id: String) -> Self {
    Self(
      "agentSessionNotFound", .agent, cause: "The session has ended, or was never on this host.",
      remedy: "Look through the list of sessions, or start a new one.",
      fact: "The agent has no session \(Payload.shown(id)).")
  }

  static func agentModelUnavailable(_ model: String) -> Self {
    Self(
      "agentModelUnavailable", .agent,
      cause: "The model's name is misspelled, or it is retired or not available to you.",
      remedy: "Choose another model, or check that your account may use this one.",
      fact: "The model \(Payload.shown(model)) is not available.")
  }

  static func permissionDenied(_ tool: String) -> Self {
    Self(
      "permissionDenied", .permission, cause: "You, or a rule, did not allow the tool.",
      remedy: "Grant the permission to continue, or skip the tool.",
      title: "Permission Denied", message: "Permission to use \(Payload.exact(tool)) was denied.",
      icon: "lock.shield", options: [.retryWithPermission, .skipTool], exit: .refused,
      tool: .permission)
  }

  static func permissionTimeout(_ tool: String, _ seconds: Int) -> Self {
    Self(
      "permissionTimeout", .permission, cause: "A request for permission was not answered.",
      remedy: "Nothing was allowed. Run it again, and answer in time.",
      fact: "Permission to use \(Payload.shown(tool)) was not given within \(seconds) seconds.",
      tool: .permission)
  }

  static func permissionSystemError(_ detail: String) -> Self {
    Self(
      "permissionSystemError", .permission, cause: "Permissions could not be requested or read.",
      remedy: "Nothing was allowed. Restart the agent host.",
      fact: "The permission could not be requested: \(Payload.sentence(detail))",
      tool: .permission)
  }
}
