/// What a server that breaks the rules for output (RFC 4254, 5.2) has done to that of a channel.
enum OutputDamage: Equatable {
  /// So many bytes never reached their reader: they exceeded the window or the size of a packet, or
  /// were never in the packet that says so.
  case lost(Int)
  /// So many bytes were handed out that are no output: they stood behind it in its packet.
  case foreign(Int)

  /// As a sentence that follows the server's name.
  ///
  /// - Parameter status: how the command ended, where the server has said it.
  func words(status: ExitStatus?) -> String {
    let what =
      switch self {
      case .lost(let count):
        "It sent more output at once than the protocol allows (RFC 4254, 5.2), or with a wrong "
          + "length: \(Self.bytes(count)) of it are missing"
      case .foreign(let count):
        "It sent output with a wrong length (RFC 4254, 5.2): \(Self.bytes(count)) among it are none"
      }
    return what + (status.map { ". It reported \($0.words)" } ?? "")
  }

  private static func bytes(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }
}
