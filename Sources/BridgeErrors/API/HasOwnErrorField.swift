/// Marks a success type that has an `error` object of its own: in a 2xx answer it is not taken for
/// an envelope (G-35).
public protocol HasOwnErrorField {}
