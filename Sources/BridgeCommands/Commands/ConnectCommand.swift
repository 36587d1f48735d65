package import ArgumentParser
import BridgeErrors
import BridgeTerminal

/// `bridgectl connect`.
package struct ConnectCommand: AsyncParsableCommand, ConnectArguments {
  package static let configuration = CommandConfiguration(
    commandName: "connect",
    abstract:
      "Run a command or a shell on a host, over a connection that is restored when it breaks.",
    discussion: """
      Standard output is what the remote side wrote and nothing else. The exit status is the \
      remote one (128 + n after signal n), or says why there is none; `bridgectl errors` lists them.

      EXAMPLES:
        A shell; ~. disconnects, ~? lists the other escapes:
          bridgectl connect me@build.example
        One command, with its output and exit status:
          bridgectl connect build -- make test
        A command that may run again when the link breaks:
          bridgectl connect --idempotent build -- ./sync.sh
        A shell that must outlive the link; ~d detaches, `bridgectl attach build` returns:
          bridgectl connect --durable=require build
        A host that is still booting, with events for a script:
          bridgectl connect --wait=10m --json build -- uptime
        Each line of input is a message, and each message a line of output:
          bridgectl connect --ca ca.pem wss://agent.example/chat

      ws:// and wss:// go through the HTTP proxy of http_proxy, HTTPS_PROXY or ALL_PROXY, except \
      to the hosts of NO_PROXY.

      DURATION is a number and its unit: 300ms, 5s, 2m, 1h.
      """)

  @OptionGroup package var reach: ReachOptions
  @Argument(help: LinkArguments.help, completion: .hosts) package var host: String
  @OptionGroup package var shell: ShellOptions
  @OptionGroup(title: "Durable session options") package var start: StartOptions
  @OptionGroup(title: "Other options of ssh(1)") package var tunnels: TunnelOptions
  @OptionGroup(title: "WebSocket options") package var messages: MessageOptions
  @Argument(parsing: .postTerminator, help: ConnectOptions.help) package var command: [String] = []

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws {
    let tunnels = options.tunnels
    if tunnels.printsConfig { await ConfigCommand.run(options, withSources: false) }
    let foreground = tunnels.goesToBackground ? Foreground.takeDescriptor() : nil
    if tunnels.goesToBackground, foreground == nil, (try? ConnectRequest(options)) != nil {
      await Foreground.run()
    }
    if tunnels.noInput || tunnels.goesToBackground { LocalEnvironment.closeInput() }
    let command = LinkCommand(
      options: options.link, isInteractive: { RunContext.ownsKeyboard($0, $1, $2) },
      startsTerminal: { RunContext.startsTerminal($0, $1, $2) })
    let options = options
    let request: LinkCommand.Request = { () throws(AppError) in
      var request = try ConnectRequest(options)
      request.detachDescriptor = foreground
      return request
    }
    await command.run(request, Self.work)
  }

  /// The work that the request of `context` asks for.
  @Sendable static func work(_ context: RunContext) -> any LinkWork {
    let request = context.request
    if request.messages != nil { return MessageWork(context) }
    if let target = request.carried { return StandardStreamWork(to: target, context) }
    if request.isIdle { return IdleWork(context: context) }
    guard request.durability != .never else { return PlainWork(context) }
    return DurableWork(
      context, .start(context.connectSpec, isOptional: request.durability == .auto))
  }
}
