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

  @Option(
    help: ArgumentHelp("Trust only the authorities in this PEM file.", valueName: "FILE"),
    completion: .file())
  package var ca: String?

  @Option(
    help: ArgumentHelp(
      "Trust only the public key with this SHA-256 (hexadecimal or base64).", valueName: "SHA256"))
  package var pin: String?

  @Flag(
    help: ArgumentHelp(
      "Each message is preceded by its length (4 bytes, big-endian).",
      discussion: """
        Without it a message is one line of output; where it contains line feeds, the `message` \
        event of --json gives the number of lines.
        """))
  package var binary = false

  /// None yet.
  package init() {}
}
