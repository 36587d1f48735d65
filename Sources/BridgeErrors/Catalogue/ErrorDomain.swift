/// The part of the product an error belongs to.
public enum ErrorDomain: String, Sendable, CaseIterable {
  /// Network and HTTP.
  case network
  /// WebSocket connections.
  case webSocket
  /// Answers of an API.
  case api
  /// Agents and their tools.
  case agent
  /// Permissions.
  case permission
  /// SSH connections.
  case ssh
  /// Files.
  case file
  /// Stored data.
  case persistence
  /// Input.
  case validation
  /// Sessions of an app.
  case session
  /// Projects of an app.
  case project
  /// Everything else.
  case general
}
