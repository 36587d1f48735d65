package import ArgumentParser

extension ConnectOptions {
  /// What COMMAND is.
  package static let help = ArgumentHelp(
    """
    The command to run. Its words are joined with spaces; no word after the first, nor after --, \
    is an option. Without it: a shell.
    """,
    valueName: "COMMAND")

  /// The options that take the next word as their value where nothing is joined to them.
  package static let valued: Set = [
    "-p", "-l", "-i", "-F", "-o", "-J", "-W", "-L", "-D", "-R", "-E",
    "-H", "--exit-status-file", "--host-key", "--known-hosts",
    "--password-fd",
    "--timeout", "--login-timeout",
    "--retry", "--keepalive", "--dead-after", "--events-fd", "--color", "--bearer-fd",
    "--subprotocol", "--ca", "--pin", "--durable", "--name", "--cap", "--when-full",
    "--keep", "--on-interrupt", "--predict", "--catch-up",
  ]

  /// The commands that have a COMMAND.
  private static let withCommand = [ConnectCommand.configuration, RunCommand.configuration]
    .compactMap(\.commandName)

  /// `arguments` of `connect` or `run` with `--` before COMMAND where it was left out: as with
  /// ssh(1), COMMAND begins with the second word that is no option, and what follows belongs to it.
  package static func markingCommand(in arguments: [String]) -> [String] {
    guard let first = arguments.first, withCommand.contains(first) else { return arguments }
    var hasHost = false
    var index = 1
    while index < arguments.count, arguments[index] != "--" {
      let word = arguments[index]
      if word.hasPrefix("-"), word != "-" {
        index += takesNextWord(word) ? 2 : 1
      } else if hasHost {
        return arguments[..<index] + ["--"] + arguments[index...]
      } else {
        hasHost = true
        index += 1
      }
    }
    // As with ssh, the options may end before HOST.
    let rest = arguments.dropFirst(index + 1)
    guard !hasHost, let host = rest.first, host != "--", !host.hasPrefix("-") else {
      return arguments
    }
    let command = rest.dropFirst()
    let mark = command.isEmpty || command.first == "--" ? [] : ["--"]
    return arguments[..<index] + [host] + mark + command
  }

  private static func takesNextWord(_ option: String) -> Bool {
    guard !option.hasPrefix("--") else { return valued.contains(option) }
    // Flags may stand together, and before an option with a value: `-tp 22`.
    let letters = option.dropFirst()
    let first = letters.firstIndex { valued.contains("-\($0)") }
    return first != nil && first == letters.indices.last
  }
}
