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

  /// The status of a link of `user` to `endpoint` that is up: what is known without a probe.
  package init(user: String, endpoint: String, link: Link) {
    var lines = ["\(user) at \(endpoint)"]
    if let algorithms = link.algorithms { lines.append("  \(algorithms)") }
    if let silence = link.silence { lines.append("  last heard \(silence.milliseconds) ms ago") }
    self.lines = lines.map { PeerText.escaped($0, limit: 512) }
  }

  /// The status of one that is not: what is known about the outage.
  package init(user: String, endpoint: String, outage: [String]) {
    lines = (["\(user) at \(endpoint)"] + outage.map { "  " + $0 }).map {
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
