import BridgeErrors
import BridgeRecovery

/// How long each stage of one recovery took.
struct Stages: Sendable {
  /// From the fault to the detection that the link is gone.
  var detect = Duration.zero
  /// From there to the dial that made it; nothing where a second link stood ready.
  var wait = Duration.zero
  /// Socket, version lines, key exchange.
  var dial = Duration.zero
  /// Authentication, or the upgrade.
  var authenticate = Duration.zero
  /// To the first answer on the new link.
  var resume = Duration.zero

  var total: Duration { detect + wait + dial + authenticate + resume }
}

/// What came of the faults of one kind.
struct Outcomes: Sendable {
  var healed: [Stages] = []
  var unbroken = 0
  /// How often a person had to choose Reconnect.
  var persons = 0
}

/// Reads the supervisor's events and keeps, for every link, the one outage it is in.
actor Recorder {
  private struct Dial {
    var began: Moment
    var proving: Moment?
  }

  private struct Outage {
    var havoc: Havoc
    var isAimed: Bool
    var began: Moment
    /// When the fault is over by itself; nil while it is being begun.
    var over: Moment?
    var detected: Moment?
    var recovered: Moment?
  }

  private struct LinkRecord {
    var live: Int?
    var outage: Outage?
    var dials: [Int: Dial] = [:]
    var resumed: [Int: Moment] = [:]
    /// A credential was refused, and no person has chosen since.
    var isRefused = false
    /// How often it was lost since it was healthy.
    var losses = 0
    /// Its last steps, for the report.
    var trace: [String] = []

    mutating func append(_ event: RecoveryEvent) {
      let number = event.generation.map { "\($0) " } ?? ""
      switch event.step {
      case .failed(let failure): append("\(number)\(failure.error.caseName)")
      case .entered, .classified, .withdrawn: break
      case .attempted, .becameHealthy, .changed, .cleared, .closed, .gaveUp, .lingered, .missed,
        .recovered,
        .resumed, .surfaced, .suspected, .suspended, .switched, .waiting:
        append("\(number)\(event.name)")
      }
    }

    mutating func append(_ what: String) {
      if trace.count == Recorder.traceLength { trace.removeFirst() }
      trace.append(what)
    }
  }

  private(set) var outcomes: [Havoc: Outcomes] = [:]
  private(set) var errors: [String: Int] = [:]
  /// What must not have happened, bounded.
  private(set) var broken: [String] = []
  private(set) var refusals = 0
  private(set) var lingered = 0
  private(set) var missed = 0
  private(set) var hasEnded = false
  /// How often an application was slow and had everything in the end.
  private(set) var slowReads = 0
  private(set) var operations = Operations.Count()
  /// The options that were chosen, by name.
  private(set) var choices: [String: Int] = [:]
  private var records: [String: LinkRecord] = [:]

  /// Until this long after a fault that does no harm at once, silence may still end a link.
  private static let graceTime = Duration.seconds(3)
  /// After this long a fault that no link lives through is no longer noticed; for a machine
  /// that is busy with much else.
  private static let lethalGraceTime = Duration.seconds(60)
  private static let traceLength = 16

  func read<Events: AsyncSequence<RecoveryEvent, Never>>(_ events: Events) async {
    for await event in events { take(event) }
    hasEnded = true
  }

  /// A fault is about to begin on `id`; false when the one before is not over yet.
  @discardableResult
  func open(_ id: ConnectionID, _ havoc: Havoc, isAimed: Bool = true) -> Bool {
    guard let record = records[id.description], record.outage == nil, record.live != nil else {
      return false
    }
    records[id.description]?.outage = Outage(havoc: havoc, isAimed: isAimed, began: .now)
    records[id.description]?.append("(\(havoc.rawValue))")
    return true
  }

  /// It has begun, and ends by itself after `time`.
  func struck(_ id: ConnectionID, for time: Duration) {
    guard records[id.description]?.outage?.over == nil else { return }
    records[id.description]?.outage?.over = .now + time
  }

  /// Whether `id` is through with its outage.
  func isIdle(_ id: ConnectionID, isUp: Bool) -> Bool {
    closeIfWell(id.description)
    guard let outage = records[id.description]?.outage else { return isUp }
    guard isUp, outage.detected == nil, let over = outage.over else { return false }
    let isLethal = outage.isAimed && outage.havoc.isLethal
    guard .now > over + (isLethal ? Self.lethalGraceTime : Self.graceTime) else { return false }
    outcomes[outage.havoc, default: Outcomes()].unbroken += 1
    if isLethal {
      breaks("\(id): the \(outage.havoc.rawValue) went unnoticed: \(trace(of: id))")
    }
    records[id.description]?.outage = nil
    return true
  }

  /// Whether `id` may be struck again before it is healthy. Twice in a row is what networks do;
  /// without end it would only measure the breaker.
  func mayBeStruck(_ id: ConnectionID) -> Bool { (records[id.description]?.losses ?? 0) < 2 }

  /// A person chooses Reconnect on `id`.
  func personChose(_ id: ConnectionID) {
    let havoc = records[id.description]?.outage?.havoc ?? .unprovoked
    outcomes[havoc, default: Outcomes()].persons += 1
    records[id.description]?.isRefused = false
    records[id.description]?.append("(a person)")
  }

  /// An application had its first answer on a generation.
  func resumed(_ id: ConnectionID, _ generation: Int) {
    records[id.description, default: LinkRecord()].resumed[generation] = .now
    closeIfWell(id.description)
  }

  func wasSlow() { slowReads += 1 }

  func chose(_ option: ErrorRecoveryOption.Kind) { choices[option.rawValue, default: 0] += 1 }

  func operationBegan() { operations.attempts += 1 }

  /// An operation is over, after its retries; nil: it worked.
  func operationEnded(_ error: AppError?) {
    if let error {
      operations.failed += 1
      count(error, "an operation")
    } else {
      operations.done += 1
    }
  }

  /// An application's use of a link failed.
  func saw(_ error: AppError, on id: ConnectionID) { count(error, id.description) }

  /// What `id` did last, oldest first.
  func trace(of id: ConnectionID) -> [String] { records[id.description]?.trace ?? [] }

  func breaks(_ promise: String) {
    if broken.count < 20 { broken.append(promise) }
  }

  private func take(_ event: RecoveryEvent) {
    if case .missed(let count) = event.step { missed += count }
    guard let source = event.source else { return }
    var record = records[source] ?? LinkRecord()
    record.append(event)
    switch event.step {
    case .attempted:
      if let generation = event.generation { record.dials[generation] = Dial(began: event.at) }
    case .entered(.authenticate), .entered(.upgrade):
      if let generation = event.generation { record.dials[generation]?.proving = event.at }
    case .failed(let failure):
      count(failure.error, source)
      // An operation repeats what its link has ended with, and offers nothing.
      if case .sshAuthenticationFailed = failure.error, event.generation != nil {
        refuse(&record, source)
      }
      lose(&record, event)
    case .recovered:
      record.live = event.generation
      record.outage?.recovered = event.at
    case .becameHealthy: record.losses = 0
    case .lingered: lingered += 1
    case .suspended: suspend(&record, event)
    case .entered, .classified, .waiting, .resumed, .suspected,
      .cleared, .switched, .gaveUp, .surfaced, .withdrawn, .changed, .closed, .missed:
      break
    }
    records[source] = record
    closeIfWell(source)
  }

  private func lose(
    _ record: inout LinkRecord, _ event: RecoveryEvent, by havoc: Havoc = .unprovoked
  ) {
    guard let live = record.live, live == event.generation else { return }
    record.live = nil
    // What strikes all links of the host at once is rare, and not what wears one out.
    if record.outage?.isAimed != false { record.losses += 1 }
    var outage =
      record.outage
      ?? Outage(havoc: havoc, isAimed: false, began: event.at, over: event.at)
    outage.detected = outage.detected ?? event.at
    outage.recovered = nil
    record.outage = outage
  }

  /// Something it depends on went down, and that is no loss of its own.
  private func suspend(_ record: inout LinkRecord, _ event: RecoveryEvent) {
    guard record.live != nil else { return }
    let losses = record.losses
    var own = event
    own.generation = record.live
    lose(&record, own, by: .parentDown)
    record.losses = losses
  }

  private func refuse(_ record: inout LinkRecord, _ source: String) {
    refusals += 1
    if record.isRefused {
      breaks("\(source): a refused credential was offered again: \(record.trace)")
    }
    record.isRefused = true
  }

  private func count(_ error: AppError, _ source: String) {
    errors[error.caseName, default: 0] += 1
    switch error {
    case .unknown, .internalError: breaks("\(source): an error without a type: \(error)")
    default: break
    }
  }

  /// The outage is over once the link is up again, was used, and the fault has ended.
  private func closeIfWell(_ source: String) {
    guard let record = records[source], let live = record.live, let outage = record.outage,
      let over = outage.over, over <= .now, let detected = outage.detected,
      let recovered = outage.recovered, let resumed = record.resumed[live]
    else { return }
    let dial = record.dials[live]
    let began = max(dial?.began ?? detected, detected)
    let proving = min(max(dial?.proving ?? recovered, began), recovered)
    let stages = Stages(
      detect: max(.zero, detected - outage.began), wait: began - detected,
      dial: proving - began, authenticate: recovered - proving,
      resume: max(.zero, resumed - recovered))
    outcomes[outage.havoc, default: Outcomes()].healed.append(stages)
    records[source]?.outage = nil
    records[source]?.dials = record.dials.filter { $0.key >= live }
    records[source]?.resumed = [live: resumed]
  }
}
