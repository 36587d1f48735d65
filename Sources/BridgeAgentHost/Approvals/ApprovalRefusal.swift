import BridgeErrors

/// Why a call to the ledger has no effect.
enum ApprovalRefusal: Error, Hashable {
  /// There is no such request, or it is not kept any more.
  case unknownRequest(ApprovalID)
  /// The request has no such option.
  case unknownOption(String, ApprovalID)
  /// The values are no answer to the request's form.
  case wrongValues(String)
  /// The agent has too many open requests.
  case tooManyOpen(agent: String, limit: Int)
  /// The request is too long.
  case tooLarge(size: Int, limit: Int)
  /// The request offers no answer, or two of one name.
  case wrongOptions(String)
  /// The id of the agent is neither a string nor a number of JSON.
  case wrongID(String)
  /// The request awaits no delivery.
  case notDecided(ApprovalID)

  var error: AppError {
    switch self {
    case .unknownRequest(let id):
      .validationError(field: "approval", message: "There is no request \(id).")
    case .unknownOption(let option, let id):
      .validationError(field: "option", message: "The request \(id) has no option \(option).")
    case .wrongValues(let problem): .validationError(field: "values", message: problem)
    case .tooManyOpen(let agent, let limit):
      .permissionSystemError(
        detail: "\(agent) has \(limit) open requests, which is the limit of the agent host")
    case .tooLarge(let size, let limit):
      .permissionSystemError(
        detail: "the request has \(size) bytes; the limit of the agent host is \(limit)")
    case .wrongOptions(let problem): .validationError(field: "options", message: problem)
    case .wrongID(let id):
      .validationError(field: "wireID", message: "\(id) is neither a string nor a number of JSON.")
    case .notDecided(let id):
      .validationError(field: "approval", message: "The request \(id) awaits no delivery.")
    }
  }
}
