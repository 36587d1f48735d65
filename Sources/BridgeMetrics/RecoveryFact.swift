package import BridgeErrors
package import BridgeRecovery

/// What is measured of the recoveries of one link.
package enum RecoveryFact: Sendable, Equatable {
  /// A part of an outage in which nothing is dialed.
  package enum Stretch: String, Sendable, CaseIterable {
    /// The peer was silent, until the connection was declared dead.
    case detect
    /// The next attempt was to come later.
    case wait
  }

  /// The link is of no use since then; `isFirst` where it never was.
  case outageBegan(isFirst: Bool, at: Moment)
  /// A part of the outage is over.
  case stretch(Stretch, from: Moment, to: Moment)
  /// A connection is dialed.
  case dialBegan(generation: Int, isStandby: Bool, at: Moment)
  /// A dial has a phase behind it, also where it failed there.
  case phase(ConnectionPhase, generation: Int, from: Moment, to: Moment)
  /// A dial is over.
  case dialEnded(generation: Int, Outcome, at: Moment)
  /// A connection in use was lost, or was ended to be replaced.
  case lost(Outcome)
  /// A connection could not be made, and its host was not dialed.
  case notDialed(Outcome)
  /// The link is of use again, or is not tried any more.
  case outageEnded(isFirst: Bool, Outcome, from: Moment, at: Moment)
  /// An operation is tried again.
  case retried
  /// A connection that ended did not close its descriptor in time.
  case lingered
  /// So many links are up.
  case linksUp(Int)
  /// So many events were not seen: what was open is not known any more.
  case missed(Int)

  /// How a dial or an outage ended: one of a bounded number of words.
  package enum Outcome: Sendable, Hashable {
    /// The connection is of use.
    case connected
    /// It is not needed any more.
    case withdrawn
    /// It failed, with a failure kind, or the case of an error without one.
    case failed(String)

    /// A failure by its kind, without a status in it: of those there are too many.
    init(_ failure: ConnectionError) {
      self = .failed(Self.word(of: failure.kind?.description ?? failure.error.caseName))
    }

    private static func word(of kind: String) -> String {
      kind.split(separator: ".").filter { !$0.allSatisfy(\.isNumber) }.joined(separator: ".")
    }

    /// The word.
    package var word: String {
      switch self {
      case .connected: "connected"
      case .withdrawn: "withdrawn"
      case .failed(let kind): kind
      }
    }
  }
}
