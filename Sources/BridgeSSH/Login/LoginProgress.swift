/// A login under way: what is offered, what was refused, and the time that is left.
package struct LoginProgress: Sendable {
  /// The credential that is offered now.
  package enum Offer: Sendable, Equatable {
    /// None: not yet, or the server is asked for its methods. Can become made, over.
    case none
    /// One, by this method; `isRSA`: an RSA key signs. Can become none, made, over.
    case made(method: String, isRSA: Bool)
    /// There is none left: the method that was refused last, or those that the server takes.
    case over(methods: String)
  }

  /// What is offered.
  package private(set) var offer = Offer.none
  /// The time that is left for all requests of the login. Never nothing: the next request ends by
  /// its own deadline.
  package private(set) var timeLeft: Duration
  /// The method of the credential that the server refused last.
  package private(set) var refusedMethod: String?
  /// The methods that the server takes, as far as it has said so.
  package private(set) var acceptedMethods: String?
  /// The key that is offered, where its public half is known.
  package private(set) var key: HostKey?
  /// Why a credential is not offered, where nothing is wrong with it.
  package private(set) var reason: String?
  /// The number of keys that an agent holds, and of those that are offered.
  package private(set) var listed: (held: Int, offered: Int)?
  /// What the server has accepted: the fingerprint of a key, of what a certificate grants, since
  /// those are issued again and again; else the method.
  package private(set) var admission: String?
  /// Whether an RSA key was among those.
  package private(set) var hasRefusedRSA = false

  private static let least = Duration.milliseconds(1)
  private static let mostLocal = Duration.seconds(15)

  /// The time for an agent or a key file: one that hangs leaves some for the next credential.
  package var localTime: Duration { min(timeLeft / 2, Self.mostLocal) }

  /// A login that has not begun.
  package init(within limit: Duration = .zero) { timeLeft = limit }

  /// The method or methods that a failure names.
  package var method: String {
    switch offer {
    case .none: "none"
    case .made(let method, _): method
    case .over(let methods): methods
    }
  }

  /// The server is asked for its methods.
  package mutating func askForMethods() { offer = .none }

  /// A credential is offered.
  package mutating func make(by method: String) {
    offer = .made(method: method, isRSA: false)
    (key, reason, listed) = (nil, nil, nil)
  }

  /// The credential that is offered is the key with this public half.
  package mutating func show(_ blob: [UInt8]?) { key = blob.flatMap { HostKey(blob: $0) } }

  /// The credential is passed over.
  package mutating func passOver(_ reason: String) { self.reason = reason }

  /// An agent has listed its keys.
  package mutating func list(held: Int, offered: Int) { listed = (held, offered) }

  /// The credential that is offered is an RSA key's signature.
  package mutating func signsByRSA() {
    guard case .made(let method, _) = offer else { return }
    offer = .made(method: method, isRSA: true)
  }

  /// The server refused what was offered.
  package mutating func refuse() {
    guard case .made(let method, let isRSA) = offer else { return }
    refusedMethod = method
    hasRefusedRSA = hasRefusedRSA || isRSA
  }

  /// The server accepted what was offered, or wants more. With several a key says the most: what
  /// it is there for stands beside it.
  package mutating func admit() {
    guard case .made(let method, _) = offer else { return }
    if let key, let certificate = UserCertificate(blob: key.blob) {
      admission = "certificate:" + Base64.encode(Digest.sha256(certificate.grant), padded: false)
    } else {
      admission = key?.fingerprint ?? admission ?? method
    }
  }

  /// No credential is left; `methods` are those that the server takes, where it was asked.
  package mutating func end(methods: String?) {
    acceptedMethods = methods
    offer = .over(methods: refusedMethod ?? methods ?? "none")
  }

  /// Takes `time` from what is left.
  package mutating func spend(_ time: Duration) { timeLeft = max(Self.least, timeLeft - time) }

  /// Gives back what was counted and is not the peer's.
  package mutating func giveBack(_ time: Duration) { timeLeft += time }
}
