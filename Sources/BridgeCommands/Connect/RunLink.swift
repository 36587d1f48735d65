import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeTerminal
import BridgeTransport
import BridgeWebSocket

/// A connection that a run can have to its host.
protocol RunLink: Connection {
  /// What is known of the host before it is dialed: how it is reached, credentials, trust.
  associatedtype Target: Sendable

  /// The host of a run.
  ///
  /// - Throws: `validationError` of a descriptor that was to give a secret.
  static func target(
    of context: RunContext, _ prompter: Prompter
  ) async throws(AppError) -> Target

  /// Makes connections to the host.
  ///
  /// - Parameters:
  ///   - hop: the last host on the way.
  ///   - reactor: its thread; nil for that of the run.
  ///   - mayAsk: whether its login may ask a person then.
  static func maker(
    to target: Target, by dialer: RunDialer, through hop: RunDialer.Hop?, on reactor: Reactor?,
    mayAsk: @escaping @Sendable () -> Bool
  ) -> @Sendable (Endpoint) async throws(AppError) -> Self

  /// What leads through the host; nil where nothing does.
  static func forwards(_ context: RunContext, over links: RunLinks<Self>) -> RunForwards?

  /// Is shared with other runs from now on; false where the run is of no use, because another one
  /// does that.
  func share(by sharing: any ConnectionSharer) async -> Bool
}

extension SSHConnection: RunLink {
  static func target(
    of context: RunContext, _ prompter: Prompter
  ) async throws(AppError) -> SSHConfiguration {
    guard let descriptor = context.request.passwordDescriptor else {
      return SSHConfiguration(context.settings.host, canAsk: prompter.route.canAsk)
    }
    let secret = try await SecretLine.read(descriptor, option: "--password-fd")
    prompter.give(secret)
    return SSHConfiguration(
      context.settings.host, canAsk: prompter.route.canAsk, password: secret)
  }

  static func maker(
    to target: SSHConfiguration, by dialer: RunDialer, through hop: RunDialer.Hop?,
    on reactor: Reactor?, mayAsk: @escaping @Sendable () -> Bool
  ) -> @Sendable (Endpoint) async throws(AppError) -> SSHConnection {
    dialer.maker(
      of: dialer.context.settings.host, target, through: hop, on: reactor, mayAsk: mayAsk)
  }

  static func forwards(
    _ context: RunContext, over links: RunLinks<SSHConnection>
  ) -> RunForwards? {
    RunForwards(context, over: links)
  }

  func share(by sharing: any ConnectionSharer) async -> Bool { await sharing.use(self) }
}

extension WebSocketConnection: RunLink {
  /// A WebSocket server, and how it is reached.
  struct Target {
    let url: WebSocketEndpoint
    let configuration: WebSocketConfiguration
  }

  static func target(
    of context: RunContext, _ prompter: Prompter
  ) async throws(AppError) -> Target {
    guard let messages = context.request.messages else {
      throw .internalError(detail: "a WebSocket link without a URL")
    }
    return Target(
      url: messages.url,
      configuration: try await WebSocketConfiguration(messages, proxy: context.settings.proxy))
  }

  static func maker(
    to target: Target, by dialer: RunDialer, through hop: RunDialer.Hop?, on reactor: Reactor?,
    mayAsk: @escaping @Sendable () -> Bool
  ) -> @Sendable (Endpoint) async throws(AppError) -> WebSocketConnection {
    let reactor = reactor ?? dialer.context.reactor
    return { (_: Endpoint) async throws(AppError) -> WebSocketConnection in
      WebSocketConnection(to: target.url, configuration: target.configuration, on: reactor)
    }
  }

  static func forwards(
    _ context: RunContext, over links: RunLinks<WebSocketConnection>
  ) -> RunForwards? {
    nil
  }

  func share(by sharing: any ConnectionSharer) -> Bool { true }
}
