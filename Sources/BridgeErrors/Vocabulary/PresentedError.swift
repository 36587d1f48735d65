#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An error as a person sees it, from its first showing until it goes (G-38, G-39).
public struct PresentedError: Sendable, Identifiable, Equatable {
  /// Stays the same while the error is shown, also when its text changes.
  public let id: UUID
  /// The newest error with what is known beside it; title, icon and options follow it.
  public private(set) var failure: ConnectionError
  /// Which connection or operation it comes from; equal errors of one source are one entry.
  public var source: String?
  /// The link whose state it shows; nil for what an operation reported.
  public var link: ConnectionID?
  /// How many recoveries of it have failed.
  public private(set) var attempts: Int
  /// How often it was reported.
  public var count: Int
  /// What happens next.
  public var plan: RecoveryPlan?

  /// A failure to show.
  public init(
    id: UUID = UUID(), failure: ConnectionError, source: String? = nil, attempts: Int = 0,
    count: Int = 1, plan: RecoveryPlan? = nil
  ) {
    self.id = id
    self.failure = failure
    self.source = source
    self.attempts = attempts
    self.count = count
    self.plan = plan
  }

  /// An error to show.
  public init(
    id: UUID = UUID(), error: AppError, source: String? = nil, attempts: Int = 0, count: Int = 1,
    context: FailureContext? = nil, plan: RecoveryPlan? = nil
  ) {
    self.init(
      id: id, failure: ConnectionError(error, context: context), source: source,
      attempts: attempts, count: count, plan: plan)
  }

  /// The newest error.
  public var error: AppError { failure.error }

  /// What is known about the failure beside the error.
  public var context: FailureContext? {
    get { failure.context }
    set { failure.context = newValue }
  }

  /// What a person may choose now: what the plan offers, else what the error offers.
  public var options: [ErrorRecoveryOption.Kind] {
    guard let options = plan?.options, !options.isEmpty else {
      return error.recoveryOptions.map(\.kind)
    }
    return options
  }

  /// The text to show: the error's message, and how many recoveries have failed where some have.
  public var message: String {
    let message = error.userMessage
    return attempts == 0 ? message : message + " Retry failed (attempt \(attempts))."
  }

  /// A recovery of it failed.
  ///
  /// - Parameter newer: what the recovery ended with. The same error (or nil) adds to the count; a
  ///   different one takes its place under the same id.
  public mutating func recoveryFailed(with newer: ConnectionError? = nil) {
    if let newer, newer.error != error {
      failure.error = newer.error
      attempts = 0
    } else {
      attempts += 1
    }
    failure.context = newer?.context ?? failure.context
  }
}

extension PresentedError {
  /// An id from a generator, as a version 4 UUID (RFC 9562, 5.4): without a system call, which
  /// `UUID()` costs, and the same again from the same seed.
  public static func id(from generator: inout some RandomNumberGenerator) -> ID {
    let high = generator.next() & ~0xF000 | 0x4000
    let low = generator.next() & ~(0b11 << 62) | (0b10 << 62)
    let byte = { (word: UInt64, index: UInt64) in
      UInt8(truncatingIfNeeded: word >> (56 - 8 * index))
    }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
        byte(high, 6), byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3),
        byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }
}
