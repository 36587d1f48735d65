public import BridgeErrors

extension SeverityQueue {
  /// A report to the queue.
  public struct Report: Sendable {
    /// The failure of a connection, or the error of an operation.
    public var failure: ConnectionError
    /// Which connection or operation it comes from.
    public var source: String?
    /// What happens next.
    public var plan: RecoveryPlan?
    /// Whether it is held back for `RecoveryDefaults.settleWindow`, because it may be over, or turn
    /// out to be an echo, in a moment.
    public var settles: Bool
    /// How many failures it stands for.
    public var count: Int
    /// The link whose state it is; nil for the report of an operation.
    public var link: ConnectionID?

    /// A report.
    public init(
      failure: ConnectionError, source: String? = nil, plan: RecoveryPlan? = nil,
      settles: Bool = false, count: Int = 1
    ) {
      self.failure = failure
      self.source = source
      self.plan = plan
      self.settles = settles
      self.count = count
    }

    /// A report of an error without a connection's failure.
    public init(
      error: AppError, source: String? = nil, context: FailureContext? = nil,
      plan: RecoveryPlan? = nil, settles: Bool = false, count: Int = 1
    ) {
      self.init(
        failure: ConnectionError(error, context: context), source: source, plan: plan,
        settles: settles, count: count)
    }

    /// What went wrong.
    public var error: AppError { failure.error }
    /// What is known beside the error.
    public var context: FailureContext? { failure.context }
  }

  /// What makes two reports one entry: the source and the equal error; for a connection the source,
  /// the kind of failure and the root cause.
  struct EntryKey: Hashable, Sendable {
    private enum Cause: Hashable, Sendable {
      case error(AppError)
      case failure(FailureKind, native: Int?, condition: SocketCondition?)
    }

    private let source: String?
    private let link: ConnectionID?
    private let cause: Cause

    init(_ report: Report) {
      source = report.source
      link = report.link
      if let context = report.context {
        cause = .failure(
          context.kind, native: context.native?.code, condition: context.native?.socket)
      } else {
        cause = .error(report.error)
      }
    }
  }

  /// The position of an entry in the order.
  struct Level: Sendable, Equatable {
    var severity: ErrorSeverity
    var isFirst: Bool

    init(_ error: AppError) {
      severity = error.severity
      if case .sshHostKeyMismatch = error { isFirst = true } else { isFirst = false }
    }

    /// Two lists a level, the one that comes first and the other, and one for what is held back.
    static let listCount = 2 * ErrorSeverity.allCases.count + 1
    static let held = listCount - 1
    static let showOrder = ErrorSeverity.allCases.sorted(by: >).flatMap { severity in
      [2 * severity.rawValue, 2 * severity.rawValue + 1]
    }
    /// What is held back goes after the lowest levels and before nothing that is critical.
    static let evictionOrder =
      ErrorSeverity.allCases.filter { $0 != .critical }.sorted().flatMap { severity in
        [2 * severity.rawValue + 1, 2 * severity.rawValue]
      } + [held]
    /// The lists from which entries rise, the higher one first.
    static let agingLists = [ErrorSeverity.warning, .info].flatMap { severity in
      [2 * severity.rawValue, 2 * severity.rawValue + 1]
    }
    static let criticalLists = [
      2 * ErrorSeverity.critical.rawValue + 1, 2 * ErrorSeverity.critical.rawValue,
    ]

    var list: Int { 2 * severity.rawValue + (isFirst ? 0 : 1) }
  }

  struct Entry: Sendable {
    var presented: PresentedError
    var key: EntryKey
    var level: Level
    var order: UInt64 = 0
    var heldUntil: Moment?
    var levelSince: Moment?
    /// The instant from which the wait of the plan counts.
    var planSince: Moment?

    init(_ report: Report, id: PresentedError.ID, key: EntryKey, at now: Moment?) {
      presented = PresentedError(
        id: id, failure: report.failure, source: report.source, count: report.count,
        plan: report.plan)
      presented.link = report.link
      self.key = key
      level = Level(report.error)
      levelSince = now
      planSince = now
      let holds = report.settles && level.severity != .critical
      heldUntil = holds ? now.map { $0 + RecoveryDefaults.settleWindow } : nil
    }

    /// Whether it shows that a link needs a person: it stays until that link is up or closed.
    var isStanding: Bool {
      presented.link != nil && presented.plan?.next.isAutomatic == false
    }

    var list: Int { heldUntil == nil ? level.list : Level.held }

    mutating func refresh(_ report: Report, at now: Moment?) {
      if let plan = report.plan { (presented.plan, planSince) = (plan, now) }
      if let context = report.context { presented.context = context }
    }
  }
}
