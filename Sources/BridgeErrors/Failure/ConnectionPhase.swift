/// Where in the life of a connection something happened. Every phase has a total deadline of its
/// own.
public enum ConnectionPhase: String, Sendable, CaseIterable {
  case resolve
  case dial
  case banner
  case keyExchange
  case hostKey
  case authenticate
  case openChannel
  case execute
  case stream
  case upgrade
  case close
}
