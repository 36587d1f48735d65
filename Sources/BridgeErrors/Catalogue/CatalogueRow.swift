/// All properties of one case of `AppError`, in one place.
///
/// What a row does not name has the default of the error specification: title "Error", the default
/// message, the option OK, the icon "exclamationmark.circle", severity error. Texts that carry a
/// payload are built only when they are read.
struct CatalogueRow {
  static let defaultTitle = "Error"
  static let defaultMessage = "An unexpected error occurred. Please try again."

  let caseName: String
  let domain: ErrorDomain
  /// Why it happens, for the catalogue.
  let cause: String
  /// What a person can do, for the catalogue and the hint.
  let remedy: String
  let title: String
  /// Whether the message is also what to do about it, so that no remedy stands under it.
  let messageSaysAll: Bool
  /// The message; nil where the specification gives none, and then there is a fact.
  let message: () -> String?
  /// What is shown in the place of a message that promises what need not come; nil for the message.
  let shown: () -> String?
  /// The error as a sentence with its payload, where the message has no details.
  let fact: () -> String?
  let icon: String
  let options: () -> [ErrorRecoveryOption]
  let severity: ErrorSeverity
  let metadata: () -> KeyValuePairs<String, String>
  /// What happens by itself to an operation that failed with it.
  let automatic: RetryClass
  let exit: ExitCode
  let tool: ToolErrorClassification

  init(
    _ caseName: String, _ domain: ErrorDomain, cause: String, remedy: String,
    title: String = defaultTitle, messageSaysAll: Bool = false,
    message: @escaping @autoclosure () -> String? = nil,
    shown: @escaping @autoclosure () -> String? = nil,
    fact: @escaping @autoclosure () -> String? = nil, icon: String = "exclamationmark.circle",
    options: @escaping @autoclosure () -> [ErrorRecoveryOption] = [.dismiss],
    severity: ErrorSeverity = .error,
    metadata: @escaping @autoclosure () -> KeyValuePairs<String, String> = [:],
    automatic: RetryClass = .needsPerson, exit: ExitCode = .internalFault,
    tool: ToolErrorClassification = .unknown
  ) {
    self.caseName = caseName
    self.domain = domain
    self.cause = cause
    self.remedy = remedy
    self.title = title
    self.messageSaysAll = messageSaysAll
    self.message = message
    self.shown = shown
    self.fact = fact
    self.icon = icon
    self.options = options
    self.severity = severity
    self.metadata = metadata
    self.automatic = automatic
    self.exit = exit
    self.tool = tool
  }

  /// The title to show beside the severity; nil for the default, which repeats that.
  var heading: String? { title == Self.defaultTitle ? nil : title }

  var hint: String {
    guard let fact = fact() else { return remedy }
    return fact + " " + remedy
  }
}
