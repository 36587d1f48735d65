/// A success whose content does not matter: any object, or no body at all.
public struct NoContent: Codable, Sendable, Equatable {
  /// Nothing.
  public init() {}
}
