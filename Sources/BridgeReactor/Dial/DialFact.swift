import BridgeErrors

/// A step of a dial, for a diagnosis.
package enum DialFact: Sendable, Equatable {
  /// Takes the facts of a dial, on the reactor's thread: it must not block.
  package typealias Observer = @Sendable (DialFact) -> Void

  /// How the attempt to reach one address ended.
  package enum Ending: Sendable, Equatable {
    /// It is connected.
    case connected
    /// It was refused, or not reached.
    case failed(errno: Int32)
    /// Another address was faster.
    case abandoned
    /// The dial was over before it answered.
    case unanswered

    /// The ending in words, as the end of a sentence.
    package var words: String {
      switch self {
      case .connected: "connected"
      case .failed(ErrorNumber.sourceMissing): "this machine has no such address to connect from"
      case .failed(let errno): ListeningSocket.Failure(errno: errno).words
      case .abandoned: "another address was faster"
      case .unanswered: "no answer"
      }
    }
  }

  /// The name stands for these addresses, in the order in which they are tried.
  case resolved([NetworkAddress])
  /// An address is tried.
  case began(NetworkAddress)
  /// The attempt is over.
  case ended(NetworkAddress, Ending)
}
