import BridgeCommands
import BridgeErrors
import BridgeSSH
import Testing

/// Every keyword of ssh_config that is read changes what `connect` does, not only what is read.
@Suite struct KeywordEffectTests {
  /// A value by keyword that neither a default nor the lines of `base` have.
  static let values = [
    "HostName": "other.example", "User": "bob", "Port": "2222", "HostKeyAlias": "alias",
    "IdentityFile": "/k", "IdentitiesOnly": "yes", "IdentityAgent": "/a",
    "ForwardAgent": "yes",
    "PubkeyAuthentication": "no", "CertificateFile": "/c.pub", "UserKnownHostsFile": "/u",
    "GlobalKnownHostsFile": "/g", "KnownHostsCommand": "/keys %H",
    "RevokedHostKeys": "/revoked", "StrictHostKeyChecking": "yes",
    "HostKeyAlgorithms": "ssh-ed25519", "KexAlgorithms": "curve25519-sha256",
    "Ciphers": "aes256-ctr", "MACs": "hmac-sha2-512", "ConnectTimeout": "7",
    "ServerAliveInterval": "8", "ServerAliveCountMax": "9", "RequestTTY": "force",
    "LogLevel": "QUIET", "ProxyJump": "hop", "ProxyCommand": "nc %h %p",
    "LocalForward": "80 web:80", "DynamicForward": "1080",
    "RemoteForward": "80 web:80", "AddressFamily": "inet6", "GatewayPorts": "yes",
    "BindAddress": "127.0.0.2", "BindInterface": "lo",
    "ExitOnForwardFailure": "yes", "ClearAllForwardings": "yes", "SendEnv": "SSH_AUTH_*",
    "SetEnv": "A=1", "BatchMode": "yes", "PasswordAuthentication": "no",
    "KbdInteractiveAuthentication": "no", "PreferredAuthentications": "password",
    "NumberOfPasswordPrompts": "1", "HashKnownHosts": "yes", "Tag": "t", "SessionType": "none",
    "StdinNull": "yes", "EscapeChar": "none", "RemoteCommand": "tmux", "LocalCommand": "ls",
    "PermitLocalCommand": "no", "PermitRemoteOpen": "a:1",
    "StreamLocalBindUnlink": "yes", "PubkeyAcceptedAlgorithms": "ssh-ed25519",
    "RequiredRSASize": "3072", "ControlMaster": "auto", "ControlPath": "/c",
    "ControlPersist": "60",
  ]

  /// What some keywords say something about.
  private static let base = """
      LocalForward 1 h:1
      ServerAliveInterval 5
      ServerAliveCountMax 2
      IdentityFile /base
      LocalCommand true
      PermitLocalCommand yes
    Match tagged t
      Port 2200
    """

  private func settings(_ line: String) throws -> ConnectSettings {
    var settings = try ConnectSettingsTests().settings(
      ["h"], config: "Host h\n\(line)\n" + Self.base, environment: ["SSH_AUTH_SOCK": "/agent"])
    // Where a value comes from has no effect.
    settings.entries = []
    settings.identityLocations = [:]
    return settings
  }

  @Test(arguments: ConfigKeyword.table.map(\.name))
  func itChangesTheRun(_ keyword: String) throws {
    let value = try #require(Self.values[keyword])
    let plain = try settings("")
    do {
      #expect(try settings("\(keyword) \(value)") != plain)
    } catch let failure as CommandFailure {
      // A refusal by name is an effect, too.
      guard case .featureUnavailable = failure.error else { throw failure }
    }
  }
}
