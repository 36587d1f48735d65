package import BridgeSessionProtocol
import BridgeWaiting

/// Where a program is, or was to be started: under one name there may be several machines, and one
/// machine may have its home directory at one time and not at another.
package final class StartPlace: Sendable {
  private let known = Mutex(Identifier?.none)

  /// Not known yet.
  package init() {}

  /// Records where a host keeps sessions that is sent what starts the program, or has it.
  package func enter(_ places: [Identifier]) {
    known.withLock { if $0 == nil { $0 = places.first } }
  }

  /// Whether a host that keeps sessions there can know of the program; true where nothing is known.
  package func isAmong(_ places: [Identifier]) -> Bool {
    guard let place = known.withLock(\.self), !places.isEmpty else { return true }
    return places.contains(place)
  }
}
