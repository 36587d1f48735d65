package import BridgeErrors

extension SSHConfiguration {
  /// The configuration of the connection to the host of `settings`: credentials and trust. Each
  /// connection gets the prompts of its own login.
  ///
  /// - Parameters:
  ///   - canAsk: whether the server's questions can be answered.
  ///   - password: is offered in place of what a person answers.
  ///   - passwordPrompts: how often a password is asked for; nil where `settings` decide.
  package init(
    _ settings: HostSettings, canAsk: Bool, password: Secret? = nil, passwordPrompts: Int? = nil
  ) {
    var credentials = settings.identities.map { identity -> SSHCredential in
      switch identity {
      case .keyFile(let path): .keyFile(path)
      case .certificateFile(let path): .certificateFile(path)
      case .agent(let path, let files, let isLimited):
        .agent(socketPath: path, preferring: files, isLimited: isLimited)
      }
    }
    credentials += Self.secrets(
      of: settings.login, canAsk: canAsk, password, prompts: passwordPrompts)
    self.init(
      user: settings.user, credentials: credentials, hostKeys: settings.hostKeys,
      algorithms: settings.algorithms, timeouts: settings.timeouts)
    addressFamily = settings.addressFamily
    source = settings.source
    name = settings.givenHost
    keyRules = settings.login.keys
    if password == nil { conversations = Self.prompts(settings.login, passwordPrompts) }
  }

  /// How often a person is asked for a password.
  private static func prompts(_ login: ClientConfig.Login, _ wish: Int?) -> Int {
    min(wish ?? login.passwordPrompts, AuthenticationPlan.mostSecrets)
  }

  /// What a person knows, by the methods that may be used: each is a secret that goes to the host.
  private static func secrets(
    of login: ClientConfig.Login, canAsk: Bool, _ password: Secret?, prompts: Int?
  ) -> [SSHCredential] {
    let allows = (
      password: login.allows("password"), questions: login.allows("keyboard-interactive")
    )
    if let password {
      switch allows {
      case (true, true): return [.passwordByAnyMethod(password)]
      case (true, false): return [.password(password)]
      // The prompter has it for one hidden question.
      case (false, true): return [.keyboardInteractive]
      case (false, false): return []
      }
    }
    // A conversation that is begun and not answered is a failed login to the server.
    let questions: [SSHCredential] =
      allows.questions && canAsk && !login.isBatch ? [.keyboardInteractive] : []
    let count = Self.prompts(login, prompts)
    let passwords: [SSHCredential] =
      allows.password && !login.isBatch ? (0..<max(0, count)).map { _ in .password(nil) } : []
    let isPasswordFirst =
      login.methods?.first { ["password", "keyboard-interactive"].contains($0) } == "password"
    return isPasswordFirst ? passwords + questions : questions + passwords
  }
}
