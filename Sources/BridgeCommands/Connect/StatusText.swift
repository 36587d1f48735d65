import BridgeErrors
import BridgeSSH
import BridgeTransport

/// The answer to `~s`, in lines.
package struct StatusText: Sendable, Equatable {
  /// The link, where it is up.
  package struct Link: Sendable, Equatable {
    /// The negotiated algorithms; nil where there are none.
    package var algorithms: String?
    /// How long ago the peer was last heard.
    package var silence: Duration?

    /// A link.
    package init(algorithms: String?, silence: Duration?) {
      self.algorithms = algorithms
      self.silence = silence
    }
  }

  /// How long a probe for it may take.
  package static let probeTime = Duration.seconds(3)

  /// The lines, escaped and bounded.
  package let lines: [String]

  /// Who logs in where, escaped.
  package static func login(_ user: String, at endpoint: String) -> String {
    PeerText.escaped("\(user) at \(endpoint)", limit: 512)
  }

  /// The status of the link of `login` that is up: what is known without a probe.
  package init(_ login: String, link: Link) {
    var lines = [login]
    if let algorithms = link.algorithms { lines.append("  \(algorithms)") }
    if let silence = link.silence { lines.append("  last heard \(silence.milliseconds) ms ago") }
    self.lines = lines.map { PeerText.escaped($0, limit: 512) }
  }

  /// The status of one that is not: what is known about the outage.
  package init(_ login: String, outage: [String]) {
    lines = ([login] + outage.map { "  " + $0 }).map {
      PeerText.escaped($0, limit: 512)
    }
  }

  /// The line for a round trip; `time` is nil where it was not answered in time.
  package static func roundTrip(_ time: Duration?) -> String {
    guard let time else { return "  no answer within \(probeTime.components.seconds) s" }
    let tenths = Int(time / .microseconds(100))
    return "  round trip \(tenths / 10).\(tenths % 10) ms"
  }
}

extension StatusText.Link {
  /// The link over `connection`.
  init(_ connection: any Connection) async {
    algorithms = await (connection as? SSHConnection)?.agreement?.words
    silence = await connection.lastHeard.map { ContinuousClock.now - $0 }
  }
}
