/// An agent, and the host that carries it.
public struct StoredAgent: Sendable, Hashable {
  /// The newest lease of an agent.
  public struct Carrier: Sendable, Hashable {
    /// The lease.
    public var lease: AgentLease
    /// How long it is good for, by the store's clock when it was read; zero where it has expired
    /// and another host may take the agent.
    public var remaining: Duration

    /// A lease that is good for a time.
    public init(lease: AgentLease, remaining: Duration) {
      self.lease = lease
      self.remaining = remaining
    }
  }

  /// Its name.
  public var name: String
  /// Its session; nil where none was written.
  public var session: StoredSession?
  /// Its newest lease; nil where it was released.
  public var carrier: Carrier?
  /// Whether it is over, so that no host takes it: what is kept of it is there to be read.
  public var isClosed: Bool

  /// An agent.
  public init(
    name: String, session: StoredSession? = nil, carrier: Carrier? = nil, isClosed: Bool = false
  ) {
    self.name = name
    self.session = session
    self.carrier = carrier
    self.isClosed = isClosed
  }
}
