package import ArgumentParser
package import BridgeErrors
package import BridgeSessionProtocol

/// The options of what starts a durable session.
package struct StartOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A name for the durable session, instead of its id in later commands.", valueName: "NAME"))
  package var name: String?

  @Option(
    help: ArgumentHelp(
      """
      How much output is kept: SIZE as 64M or 2G (\(Limits.terminalCap >> 20) MiB on a terminal, \
      \(Limits.pipesCap >> 20) MiB on pipes).
      """, valueName: "SIZE"))
  package var cap: String?

  @Option(
    help: ArgumentHelp(
      """
      What happens at the limit of kept output (--cap): the program waits (the default on \
      pipes), or the oldest output is dropped (the default on a terminal, and of `run --detach`).
      """,
      valueName: "wait|drop"))
  package var whenFull: String?

  @Option(
    help: ArgumentHelp(
      """
      How long a durable session goes on while no client is attached: DURATION or forever. Without \
      it, `connect` keeps a command 24h and a shell 168h; forever with --name, and with `run`.
      """,
      valueName: "DURATION"))
  package var keep: String?

  /// None yet.
  package init() {}
}

/// How a durable session is started, checked.
package struct StartRequest: Sendable, Equatable {
  /// Its name; nil for none.
  package var name: String?
  /// How much output is kept, in bytes; nil for the default of its kind.
  package var cap: UInt64?
  /// What happens at its cap; nil for the default of its kind.
  package var whenFull: WhenFull?
  /// How long it goes on alone; nil where the command decides.
  package var keep: ConnectRequest.Limit<Duration>?

  /// What may be kept, in bytes: less would end in the middle of a screen.
  package static let caps: ClosedRange<UInt64> = 1 << 20...1 << 40

  /// Longer names are refused, in bytes.
  package static let longestName = SessionSpec.longestName

  /// Refuses what is no name of a session.
  ///
  /// - Throws: `validationError` naming `field`.
  package static func check(_ name: String, field: String) throws(AppError) {
    guard !name.isEmpty, name.utf8.count <= longestName,
      name.unicodeScalars.allSatisfy({ $0.value > 32 && $0.value != 127 })
    else {
      throw .validationError(
        field: field,
        message: "A name has 1 to \(longestName) bytes, without spaces and control characters.")
    }
    guard Identifier(text: name) == nil else {
      throw .validationError(field: field, message: "It looks like the id of a session.")
    }
  }

  /// Without a name.
  package init() {}

  /// - Throws: `validationError` naming the option.
  package init(_ options: StartOptions) throws(AppError) {
    if let name = options.name {
      try Self.check(name, field: "--name")
      self.name = name
    }
    keep = try ConnectRequest.map(options.keep) { (text) throws(AppError) in
      text == "forever" ? .forever : .upTo(try DurationArgument.parse(text, field: "--keep"))
    }
    cap = try ConnectRequest.map(options.cap) { (text) throws(AppError) in
      try SizeArgument.parse(text, field: "--cap", in: Self.caps)
    }
    whenFull = try ChoiceArgument.parse(options.whenFull, field: "--when-full")
  }
}
