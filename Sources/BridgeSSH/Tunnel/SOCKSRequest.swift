package import BridgeTransport

/// The server's side of SOCKS 4, 4a and 5 (RFC 1928) up to the request: bytes in, replies and the
/// target out. Only CONNECT without authentication.
package struct SOCKSRequest: Sendable, Equatable {
  /// What follows from the bytes so far.
  package enum Outcome: Sendable, Equatable {
    /// More bytes are needed; send `reply` first.
    case needMore(reply: [UInt8])
    /// The client asks for `target`; nothing is answered yet.
    case connect(Endpoint)
    /// What came is refused: send `reply`, then close.
    case refuse(reply: [UInt8], Refusal)
  }

  /// Why a client is refused.
  package enum Refusal: Sendable, Equatable {
    /// The first byte is no version of SOCKS, or what follows is not its form.
    case notSOCKS
    /// It offers only ways to authenticate that are not had here.
    case authentication
    /// Another command than CONNECT.
    case command
    /// An address that cannot be one.
    case address
  }

  /// How an open tunnel is reported.
  package enum Result: Sendable, Equatable {
    case opened
    /// The host refused it, or is not there.
    case refused
    /// The server does not allow it.
    case forbidden
    /// Anything else.
    case failed
  }

  private enum Stage: Sendable, Equatable {
    case version
    case greeting
    case request
    case done
  }

  /// The longest request: a SOCKS 4a one with a user and a name of 255 bytes each.
  package static let limit = 600

  /// What came and does not belong to the request: the client may send before it is answered.
  package private(set) var rest: [UInt8] = []
  private var stage = Stage.version
  private var isVersion4 = false
  /// The answer to a greeting that came together with its request.
  private var unsent: [UInt8] = []

  /// Nothing came yet.
  package init() {}

  /// Takes bytes in. After `connect` and `refuse` no more is expected.
  package mutating func feed(_ bytes: [UInt8]) -> Outcome {
    rest += bytes
    var reply: [UInt8] = []
    while true {
      switch stage {
      case .version:
        guard let first = rest.first else { return .needMore(reply: []) }
        guard first == 4 || first == 5 else { return refuse([], .notSOCKS) }
        isVersion4 = first == 4
        stage = isVersion4 ? .request : .greeting
      case .greeting:
        guard rest.count >= 2, rest.count >= 2 + Int(rest[1]) else { return more(reply) }
        let methods = rest[2..<(2 + Int(rest[1]))]
        guard methods.contains(0) else { return refuse([5, 255], .authentication) }
        rest.removeFirst(2 + methods.count)
        reply = [5, 0]
        stage = .request
      case .request:
        let outcome = isVersion4 ? readVersion4() : readVersion5()
        // The client waits for the answer to its greeting before it asks.
        guard let outcome else { return more(reply) }
        if case .refuse(let bytes, let reason) = outcome {
          return .refuse(reply: reply + bytes, reason)
        }
        unsent = reply
        return outcome
      case .done: return .needMore(reply: [])
      }
    }
  }

  /// What the client is answered.
  package func answer(_ result: Result) -> [UInt8] {
    if isVersion4 { return [0, result == .opened ? 90 : 91, 0, 0, 0, 0, 0, 0] }
    let code: UInt8 =
      switch result {
      case .opened: 0
      case .failed: 1
      case .forbidden: 2
      case .refused: 5
      }
    return unsent + [5, code, 0, 1, 0, 0, 0, 0, 0, 0]
  }

  private mutating func more(_ reply: [UInt8]) -> Outcome {
    rest.count > Self.limit ? refuse(reply, .notSOCKS) : .needMore(reply: reply)
  }

  private mutating func refuse(_ reply: [UInt8], _ reason: Refusal) -> Outcome {
    stage = .done
    return .refuse(reply: reply, reason)
  }

  private mutating func readVersion5() -> Outcome? {
    guard rest.count >= 5 else { return rest.first.map { $0 == 5 } ?? true ? nil : notVersion5 }
    guard rest[0] == 5, rest[2] == 0 else { return notVersion5 }
    guard rest[1] == 1 else { return refuse([5, 7, 0, 1, 0, 0, 0, 0, 0, 0], .command) }
    let (start, length): (Int, Int)
    switch rest[3] {
    case 1: (start, length) = (4, 4)
    case 3: (start, length) = (5, Int(rest[4]))
    case 4: (start, length) = (4, 16)
    default: return refuse([5, 8, 0, 1, 0, 0, 0, 0, 0, 0], .address)
    }
    guard rest.count >= start + length + 2 else { return nil }
    let address = Array(rest[start..<(start + length)])
    let port = Int(rest[start + length]) << 8 | Int(rest[start + length + 1])
    let isName = rest[3] == 3
    rest.removeFirst(start + length + 2)
    guard let host = isName ? Self.name(address) : Self.numeric(address), port > 0 else {
      return refuse([5, 8, 0, 1, 0, 0, 0, 0, 0, 0], .address)
    }
    stage = .done
    return .connect(Endpoint(host: host, port: port))
  }

  private var notVersion5: Outcome {
    .refuse(reply: [5, 1, 0, 1, 0, 0, 0, 0, 0, 0], .notSOCKS)
  }

  private mutating func readVersion4() -> Outcome? {
    let refused: [UInt8] = [0, 91, 0, 0, 0, 0, 0, 0]
    guard rest.count >= 9 else { return nil }
    guard rest[1] == 1 else { return refuse(refused, .command) }
    let port = Int(rest[2]) << 8 | Int(rest[3])
    let address = Array(rest[4..<8])
    guard let userEnd = rest[8...].firstIndex(of: 0) else { return nil }
    var end = userEnd + 1
    var host = Self.numeric(address)
    // 4a: an address that cannot be one, and a name behind the user's.
    if address[0..<3] == [0, 0, 0], address[3] != 0 {
      guard let nameEnd = rest[end...].firstIndex(of: 0) else { return nil }
      host = Self.name(Array(rest[end..<nameEnd]))
      end = nameEnd + 1
    }
    rest.removeFirst(end)
    guard let host, port > 0 else { return refuse(refused, .address) }
    stage = .done
    return .connect(Endpoint(host: host, port: port))
  }

  private static func name(_ bytes: [UInt8]) -> String? {
    guard !bytes.isEmpty, bytes.count <= 255, bytes.allSatisfy({ $0 > 32 && $0 < 127 }) else {
      return nil
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func numeric(_ bytes: [UInt8]) -> String? {
    if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
    let groups = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
    return groups.map { String($0, radix: 16) }.joined(separator: ":")
  }
}
