/// What a run that shares its connection is asked to do (ssh(1), `-O`).
package enum SharingCommand: String, Sendable {
  /// Says whether it is there.
  case check
  /// Takes forwards in addition.
  case forward
  /// Ends forwards.
  case cancel
  /// Ends, and everything with it.
  case exit
  /// Takes no more sessions, and ends with those that it has.
  case stop
  /// Runs what is asked for over its connection, and over no other.
  case proxy
}
