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

  /// What an entry is found by.
  enum Subject: Hashable, Sendable {
    case report(EntryKey)
    case link(ConnectionID)
  }

  /// How severe an entry is shown to be; one of each severity may come first, a changed host key.
  struct Level: Sendable, Comparable {
    var severity: ErrorSeverity
    var isFirst: Bool

    init(severity: ErrorSeverity, isFirst: Bool) {
      self.severity = severity
      self.isFirst = isFirst
    }

    init(_ error: AppError) {
      severity = error.severity
      if case .sshHostKeyMismatch = error { isFirst = true } else { isFirst = false }
    }

    /// A number that rises with the level.
    var rank: Int { 2 * severity.rawValue + (isFirst ? 1 : 0) }

    static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    /// All of them, the lowest first.
    static let all = ErrorSeverity.allCases.sorted().flatMap { severity in
      [Level(severity: severity, isFirst: false), Level(severity: severity, isFirst: true)]
    }
  }

  /// Entries that are first in, first out; what is shown first comes first.
  enum List: Sendable, Comparable {
    case level(Level)
    case held

    static func < (left: Self, right: Self) -> Bool {
      switch (left, right) {
      case (.level(let left), .level(let right)): left > right
      case (.level, .held): true
      case (.held, _): false
      }
    }

    /// What is dropped from, in that order: what is held back goes after the other levels, and
    /// nothing that is critical goes.
    static let evicted =
      Level.all.filter { $0.severity != .critical }.map(List.level) + [.held]
    /// What is critical, what comes last first.
    static let critical = Level.all.filter { $0.severity == .critical }.map(List.level)
    /// From where entries rise, the highest first.
    static let aging =
      Level.all.filter { $0.severity <= .warning }.reversed().map(List.level)
  }

  /// The position of an entry in the order.
  struct Place: Sendable, Comparable {
    var list: List
    var arrival: UInt64
    var id: PresentedError.ID

    static func < (left: Self, right: Self) -> Bool {
      left.list == right.list ? left.arrival < right.arrival : left.list < right.list
    }
  }

  struct Entry: Sendable {
    var presented: PresentedError
    var key: EntryKey
    var level: Level
    var place: Place?
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

    var list: List { heldUntil == nil ? .level(level) : .held }

    mutating func refresh(_ report: Report, at now: Moment?) {
      if let plan = report.plan { (presented.plan, planSince) = (plan, now) }
      if let context = report.context { presented.context = context }
    }
  }
}
