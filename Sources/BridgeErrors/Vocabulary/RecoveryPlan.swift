/// The next step of the supervisor after a failure, for all that show it.
public struct RecoveryPlan: Sendable, Equatable {
  /// The next step.
  public enum Step: String, Sendable, CaseIterable {
    /// Dial again.
    case reconnect
    /// Run the operation again.
    case retry
    /// Wait until the network is back.
    case awaitNetwork
    /// Wait for a person's choice.
    case askPerson
    /// Nothing more; it has ended.
    case giveUp
  }

  /// The next step.
  public var next: Step
  /// How long until it is taken, counted from the failure; nil where no time is set.
  public var at: Duration?
  /// Which attempt the step will be; the first is 1.
  public var attempt: Int
  /// Attempts left, the next one included; nil where there is no end.
  public var attemptsLeft: Int?
  /// Whether a person may have the step at once.
  public var isSkippable: Bool
  /// What a person may choose meanwhile.
  public var options: [ErrorRecoveryOption.Kind]

  /// A plan.
  public init(
    next: Step, at: Duration? = nil, attempt: Int = 1, attemptsLeft: Int? = nil,
    isSkippable: Bool = false, options: [ErrorRecoveryOption.Kind] = []
  ) {
    self.next = next
    self.at = at
    self.attempt = attempt
    self.attemptsLeft = attemptsLeft
    self.isSkippable = isSkippable
    self.options = options
  }
}
