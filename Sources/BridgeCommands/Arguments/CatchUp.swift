/// What the terminal of a durable session is sent where it is far behind.
package enum CatchUp: String, Sendable, CaseIterable {
  /// The screen of now; what is left out stays with the host.
  case screen
  /// All that was printed.
  case all
}
