/// How long an agent host's leases last, and how it paces itself.
public struct AgentHostTiming: Sendable, Hashable {
  /// How long a lease lasts. An agent whose host has died waits for so long, and one whose host is
  /// silent for so long moves to another one.
  public var lasting: Duration
  /// How often a host looks for agents without one; the store's word of a change comes earlier.
  public var poll: Duration
  /// Over which time hosts take the agents that none carries: those with fewer agents come first,
  /// and once it is over any host takes what is left. Zero for whichever host is the first.
  public var spread: Duration
  /// How long the session of an agent waits for a link to its machine before another host may have
  /// the agent, at first; twice as long each time, up to 32 times, until the machine is reached.
  public var reach: Duration
  /// How long an agent waits after its work has failed, at first; twice as long each time, up to
  /// `longestPause`.
  public var pause: Duration
  /// The longest of these times.
  public var longestPause: Duration
  /// Work that went on for so long has not failed in a row.
  public var steady: Duration

  /// A timing. By default the agents of a host that died go on elsewhere within two seconds.
  public init(
    lasting: Duration = .milliseconds(1200), poll: Duration = .milliseconds(250),
    spread: Duration = .milliseconds(250), reach: Duration = .seconds(10),
    pause: Duration = .milliseconds(500), longestPause: Duration = .seconds(30),
    steady: Duration = .seconds(60)
  ) {
    self.lasting = max(.milliseconds(10), lasting)
    self.poll = max(.milliseconds(1), poll)
    self.spread = max(.zero, spread)
    self.reach = max(.milliseconds(1), reach)
    self.pause = max(.milliseconds(1), pause)
    self.longestPause = max(self.pause, longestPause)
    self.steady = steady
  }

  /// How often leases are renewed: one renewal that is late or lost ends none.
  var renewal: Duration { lasting / 4 }

  /// How long a session waits for a link after so many rounds in which agents were given up.
  func reach(afterRound round: Int) -> Duration { reach * Double(1 << min(round, 5)) }

  /// How long an agent waits after so many failures in a row, from 1.
  func pause(afterFailure count: Int) -> Duration {
    min(longestPause, pause * Double(1 << min(count - 1, 20)))
  }
}
