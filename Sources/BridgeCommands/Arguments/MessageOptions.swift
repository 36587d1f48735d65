package import ArgumentParser

/// The options of `connect` that are for `ws://` and `wss://` alone.
package struct MessageOptions: ParsableArguments {
  @Option(
    name: .customShort("H"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A header field of the request; may be repeated.", valueName: "NAME: VALUE"))
  package var header: [String] = []

  @Option(
    help: ArgumentHelp(
      "The descriptor to read a bearer token from, up to a line feed.", valueName: "N"))
  package var bearerFd: String?

  @Option(help: ArgumentHelp("A subprotocol to offer; may be repeated.", valueName: "NAME"))
  package var subprotocol: [String] = []

  @Option(help: ArgumentHelp("Trust only the authorities in this PEM file.", valueName: "FILE"))
  package var ca: String?

  @Option(
    help: ArgumentHelp(
      "Trust only the public key with this SHA-256 (hexadecimal or base64).", valueName: "SHA256"))
  package var pin: String?

  @Flag(
    help: ArgumentHelp(
      "Messages with their length before them, four bytes, most significant first.",
      discussion: """
        Without it a message is a line, and one with a line feed in it several: --json tells which.
        """))
  package var binary = false

  /// None yet.
  package init() {}
}
