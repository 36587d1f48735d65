import BridgeErrors

/// What the server said before and with its version line, and in its first packet: what the library
/// sees but does not tell.
struct ServerIdentification {
  private(set) var hasVersion = false
  private(set) var text = ""

  mutating func see(_ bytes: Span<UInt8>) -> Bool { true }

  func observation(code: Int) -> SSHFailure.Observation? { nil }
}
