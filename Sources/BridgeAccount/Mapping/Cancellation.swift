import BridgeErrors

/// Whether an error only says that the caller gave up: nothing to show then (G-26).
enum Cancellation {
  static func caused(_ error: any Error) -> Bool {
    switch error {
    case is CancellationError: true
    case let error as AppError: error == .cancelled
    case let failure as APIFailure: failure.isCancellation
    default: false
    }
  }
}
