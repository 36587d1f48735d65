package import ArgumentParser
import BridgeSSH
import BridgeTerminal

extension CompletionKind {
  /// The hosts that the user's ssh_config and known_hosts files name.
  package static let hosts = CompletionKind.custom { _, _, prefix in
    HostNames(home: LocalEnvironment.current().home).completing(prefix)
  }
}
