/// A variable for the environment of a command or a shell on the server, which may leave it out.
public struct EnvironmentVariable: Sendable, Equatable {
  /// Its name.
  public var name: String
  /// Its value.
  public var value: String

  /// The variable `name` with this value.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// The variable written as NAME=VALUE; nil for what is none.
  package init?(assignment: String) {
    guard let equals = assignment.firstIndex(of: "="), equals != assignment.startIndex else {
      return nil
    }
    self.init(String(assignment[..<equals]), String(assignment[equals...].dropFirst()))
  }

  /// NAME=VALUE.
  package var assignment: String { "\(name)=\(value)" }
}
