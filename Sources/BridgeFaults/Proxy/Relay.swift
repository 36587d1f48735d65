import NIOCore

/// One connection through the proxy: two sockets, two lanes.
struct Relay {
  let client: any Channel
  var server: (any Channel)?
  var toServer: Lane
  var toClient: Lane
  /// The side that vanished without a FIN, as the direction its loss is passed on in.
  var lost: Direction?
  /// It is never answered.
  var isIgnored = false
  /// A wake-up is scheduled for this direction.
  var wakes: Set<Direction> = []
  /// FINs that have left.
  var finished: Set<Direction> = []

  subscript(direction: Direction) -> Lane {
    get {
      switch direction {
      case .toServer: toServer
      case .toClient: toClient
      }
    }
    _modify {
      switch direction {
      case .toServer: yield &toServer
      case .toClient: yield &toClient
      }
    }
  }

  /// The source of the bytes of this direction.
  func source(of direction: Direction) -> (any Channel)? {
    switch direction {
    case .toServer: client
    case .toClient: server
    }
  }

  /// The target of the bytes of this direction.
  func target(of direction: Direction) -> (any Channel)? {
    switch direction {
    case .toServer: server
    case .toClient: client
    }
  }

  var isFrozen: Bool { toServer.isFrozen || toClient.isFrozen }
}
