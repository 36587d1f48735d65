/// What a client says to `wait` and `read --follow`, which take no frames.
package enum HostAnswer {
  /// It will say that it has the end: sent at once, as clients of older versions do not.
  package static let takes: UInt8 = 5
  /// It has the end.
  package static let taken: UInt8 = 6
}
