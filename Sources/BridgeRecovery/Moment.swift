/// An instant of the decisions: on the clock that counts suspended time, and always a parameter.
public typealias Moment = ContinuousClock.Instant
