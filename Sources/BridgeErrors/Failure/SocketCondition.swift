/// What the last read or write on our own descriptor saw.
public enum SocketCondition: Sendable, Hashable {
  /// No error and no end of file so far.
  case open
  /// The peer closed its side (FIN).
  case endOfFile
  /// A system call failed with this `errno`.
  case failed(errno: Int32)
}
