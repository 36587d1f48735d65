import ArgumentParser

/// Whether programs of the host may use the ssh-agent here.
package struct AgentOptions: ParsableArguments {
  @Flag(
    name: .customShort("A"),
    help: """
      Let what runs in a durable session use the ssh-agent of this machine, over each link again \
      (ForwardAgent). It lists keys and signs; nothing there can change it.
      """)
  package var forwardsAgent = false

  @Flag(name: .customShort("a"), help: "Do not.")
  package var forwardsNoAgent = false

  /// None yet.
  package init() {}

  /// What they say; nil where the configuration decides.
  package var wish: Bool? { forwardsNoAgent ? false : forwardsAgent ? true : nil }
}
