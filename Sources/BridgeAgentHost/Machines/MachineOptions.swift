public import BridgeSSH

/// How a machine that is named as in ssh_config is looked up, and what is answered in its logins.
public struct MachineOptions: Sendable {
  /// Answers the questions of the logins to one account: a host key that is not known, a password,
  /// a passphrase, what the server asks. It is called before each dial of the machine, and of each
  /// host on the way to it, of which `Asker.hop` is the number.
  public typealias Answers = @Sendable (_ account: Asker) -> SSHInteraction

  /// The configuration files.
  public var files: ConfigFiles
  /// `KEYWORD=VALUE` each, as `-o` of ssh(1): for the machine alone, before the files.
  public var options: [String]
  /// The home directory, of `~/.ssh` and of `~` in the files; nil for that of this process.
  public var home: String?
  /// Who answers; nil where no question is: passwords are not offered then, and a host key that is
  /// not known is refused, unless StrictHostKeyChecking accepts new ones. BatchMode is the same.
  public var answers: Answers?

  /// The user's and the machine's configuration files, and no answers.
  public init(
    files: ConfigFiles = .usual, options: [String] = [], home: String? = nil,
    answers: Answers? = nil
  ) {
    self.files = files
    self.options = options
    self.home = home
    self.answers = answers
  }
}
