/// An option of ssh(1), and its effect here: one row of the table.
package struct SSHOption: Sendable {
  /// What becomes of it.
  package enum Effect: Sendable, Equatable {
    /// It is done.
    case done
    /// Nothing that matters changes: a sentence for `-v`.
    case accepted(String)
    /// The run would silently be another one: a sentence for its end.
    case refused(String)
  }

  /// Its letter.
  package let letter: Character
  /// Whether a value follows it.
  package let takesValue: Bool
  /// What becomes of it.
  package let effect: Effect

  private init(_ letter: Character, _ takesValue: Bool, _ effect: Effect) {
    self.letter = letter
    self.takesValue = takesValue
    self.effect = effect
  }

  private static func done(_ letters: String, takesValue: Bool = false) -> [SSHOption] {
    letters.map { SSHOption($0, takesValue, .done) }
  }

  private static func accepted(_ letter: Character, _ words: String) -> SSHOption {
    SSHOption(letter, false, .accepted(words))
  }

  private static func refused(
    _ letter: Character, takesValue: Bool = true, _ words: String
  ) -> SSHOption {
    SSHOption(letter, takesValue, .refused(words))
  }

  /// Every option of OpenSSH 9.2 to 10. What `-I`, `-X` and `-Y` come to depends on more than
  /// the table says.
  package static let table =
    done("246aGgMNnqsTtVvxf") + done("bBcDeEFiJlLmoOpPQRSW", takesValue: true)
    + [
      accepted("A", "agent forwarding is not available: the host gets no agent"),
      accepted("C", "compression is not used"),
      accepted("K", "GSSAPI is not used"), accepted("k", "GSSAPI is not used"),
      accepted("X", "X11 is not forwarded: DISPLAY is not set"),
      accepted("Y", "X11 is not forwarded: DISPLAY is not set"),
      accepted("y", "messages go to standard error, not to syslog"),
      SSHOption("I", true, .accepted("keys of PKCS#11 tokens are not offered")),
      refused("1", takesValue: false, "SSH protocol v.1 is no longer supported"),
      refused("w", "tunnel devices are not available"),
    ]

  private static let byLetter = Dictionary(
    uniqueKeysWithValues: table.map { ($0.letter, $0) })

  /// The option `letter`; nil for one that ssh has not.
  static func named(_ letter: Character) -> SSHOption? { byLetter[letter] }

  /// The command line in short.
  package static let usage = [
    "usage: ssh [-246AaCfGgKkMNnqsTtVvXxYy] [-B bind_interface] [-b bind_address]",
    "           [-c ciphers] [-D [address:]port] [-E log_file]",
    "           [-e escape_char] [-F config_file] [-I pkcs11] [-i key_file] [-J hosts]",
    "           [-L address] [-l user] [-m macs] [-O ctl_cmd] [-o KEY=VALUE] [-P tag] [-p port]",
    "           [-R address] [-S ctl_path] [-W host:port] destination [command [argument ...]]",
    "       ssh [-Q query_option]",
  ]
}
