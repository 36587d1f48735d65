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
    /// The round trip of a probe; nil where it was not answered in time.
    package var roundTrip: Duration?

    /// A link.
    package init(algorithms: String?, silence: Duration?, roundTrip: Duration?) {
      self.algorithms = algorithms
      self.silence = silence
      self.roundTrip = roundTrip
    }
  }

  /// How long a probe for it may take.
  package static let probeTime = Duration.seconds(3)

  /// The lines, escaped and bounded.
  package let lines: [String]

  /// The status of a link of `user` to `endpoint`; `link` is nil where it is down.
  package init(user: String, endpoint: String, link: Link?) {
    var lines = ["\(user) at \(endpoint)"]
    if let link {
      if let algorithms = link.algorithms { lines.append("  \(algorithms)") }
      if let silence = link.silence { lines.append("  last heard \(silence.milliseconds) ms ago") }
      if let time = link.roundTrip {
        let tenths = Int(time / .microseconds(100))
        lines.append("  round trip \(tenths / 10).\(tenths % 10) ms")
      } else {
        lines.append("  no answer within \(Self.probeTime.components.seconds) s")
      }
    }
    self.lines = lines.map { PeerText.escaped($0, limit: 512) }
  }
}

extension StatusText.Link {
  /// The link over `connection`, after a round trip.
  init(probing connection: any Connection) async {
    algorithms = await (connection as? SSHConnection)?.agreement?.words
    silence = await connection.lastHeard.map { ContinuousClock.now - $0 }
    roundTrip = try? await connection.probe(within: StatusText.probeTime)
  }
}
