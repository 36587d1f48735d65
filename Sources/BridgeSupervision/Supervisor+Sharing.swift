package import BridgeErrors
package import BridgeTransport

// A link that several owners depend on, of which none is the last for the others: one jump host
// leads to many machines.
extension Supervisor {
  /// A link that is kept up as long as it has owners.
  struct Share {
    var owners = 1
    /// Whether another owner means the same link.
    let isSame: @Sendable (_ description: any Sendable) -> Bool
  }

  /// Keeps a connection up for one more owner: the first call with this description adds it, as the
  /// options and `make` of that call say.
  ///
  /// - Parameters:
  ///   - name: its name; where it is in use for something else, a number is added.
  ///   - description: what is the same for all who may share it.
  /// - Returns: the name of the link, for `release`.
  /// - Throws: what `add` throws.
  package func share<Transport: Connection, Description: Equatable & Sendable>(
    _ name: String, _ description: Description, to endpoint: Endpoint, _ options: LinkOptions,
    make: @escaping @Sendable (Endpoint) async throws(AppError) -> Transport
  ) throws(AppError) -> ConnectionID {
    guard !isShutDown else { throw .cancelled }
    var number = 1
    while true {
      let id = ConnectionID(number == 1 ? name : "\(name)#\(number)")
      guard plans[id] != nil else {
        try add(id, to: endpoint, options, make: make)
        shares[id] = Share { ($0 as? Description) == description }
        return id
      }
      if shares[id]?.isSame(description) == true {
        shares[id]?.owners += 1
        return id
      }
      number += 1
    }
  }

  /// Ends the connection where no other owner is left.
  package func release(_ id: ConnectionID) {
    guard let share = shares[id] else { return }
    guard share.owners == 1 else {
      shares[id]?.owners -= 1
      return
    }
    shares[id] = nil
    close(id)
  }
}
