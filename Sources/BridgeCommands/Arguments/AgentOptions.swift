package import ArgumentParser

/// Whether programs of the host may use the ssh-agent here.
package struct AgentOptions: ParsableArguments {
  /// `-A` and `-a`.
  package enum Wish: EnumerableFlag {
    case forward
    case keep

    package static func name(for value: Self) -> NameSpecification {
      .customShort(value == .forward ? "A" : "a")
    }

    package static func help(for value: Self) -> ArgumentHelp? {
      value == .keep
        ? "Do not."
        : """
        Let what runs in a durable session use the ssh-agent of this machine, over each link again \
        (ForwardAgent). It lists keys and signs; nothing there can change it.
        """
    }
  }

  @Flag(exclusivity: .chooseLast)
  package var agent: Wish?

  /// None yet.
  package init() {}

  /// What they say, the last one as with ssh(1); nil where the configuration decides.
  package var wish: Bool? { agent.map { $0 == .forward } }
}
