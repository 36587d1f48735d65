extension ProxyCommand {
  /// The program that leads to the host of `settings`, or to the first host on the way, in place of
  /// a TCP connection; nil where there is none. The shell is that of SHELL among `variables`, as
  /// with ssh.
  package init?(
    of settings: HostSettings, _ variables: [String: String],
    standardError: @escaping @Sendable (_ line: String) -> Void = { _ in }
  ) {
    guard let line = settings.proxyCommand else { return nil }
    let shell = variables["SHELL"].flatMap { $0.isEmpty ? nil : $0 }
    self.init(line: line, shell: shell ?? "/bin/sh", standardError: standardError)
  }
}
