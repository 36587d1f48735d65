/// The worlds that programs like this one have met.
extension World {
  /// All of them.
  package static let all = servers + homes + shells + networks + machines

  /// The one with this name.
  package static func named(_ name: String) -> World? { all.first { $0.name == name } }

  /// Counts a run where the stories look for it; a forced command knows only its home.
  private static let count = #"echo run >>"${HOME%/*}/scratch/count"; "#

  private static func sshd(
    _ name: String, _ summary: String, _ change: (inout SSHServerConfiguration) -> Void
  ) -> World {
    World(name, summary) { $0.server = .openSSH(.with(change)) }
  }

  /// Servers that differ.
  package static let servers: [World] = [
    World("sshd", "OpenSSH as it is installed"),
    World("plain", "OpenSSH without bridge-host") { $0.hasBridgeHost = false },
    sshd("penalties", "PerSourcePenalties, of OpenSSH 9.8 and later") { $0.penalties = "yes" },
    World("one-session", "MaxSessions 1, 10 ms away, without bridge-host") {
      $0.server = .openSSH(.with { $0.maxSessions = 1 })
      $0.hasBridgeHost = false
      $0.network.delay = .milliseconds(5)
    },
    sshd("one-session-host", "MaxSessions 1, with bridge-host") { $0.maxSessions = 1 },
    sshd("forced", "a ForceCommand that ignores what is asked") {
      $0.forceCommand = count + "echo forced; exit 3"
    },
    sshd("no-terminal", "PermitTTY no") { $0.lines = ["PermitTTY no"] },
    sshd("slow-login", "the server thinks for 20 s about a key") {
      $0.lines = ["AuthorizedKeysCommand /bin/sleep 20", "AuthorizedKeysCommandUser root"]
    },
    sshd("banner", "a banner with escape sequences") {
      $0.banner = "\u{1b}]0;owned\u{7}\u{1b}[2JAuthorized use only.\r\nbridgectl: [ok] Done\n"
    },
    World("greeting", "text and an empty line before the version line") {
      $0.greeting = "\nStarting session with SessionId: 1\r\n\n"
    },
    sshd("rekey", "RekeyLimit 1M") { $0.rekeyLimit = "1M" },
    World("dropbear", "dropbear as root, for another user") { $0.server = .dropbear },
    World("echo", "a device that repeats the command and closes the connection") {
      $0.server = .openSSH(.with { $0.forceCommand = device })
      $0.hasBridgeHost = false
    },
  ]

  /// A network device: a command is an error that names it; a terminal has a prompt. A server that
  /// is killed at once sends no output.
  private static let device =
    #"[ -n "$SSH_ORIGINAL_COMMAND" ] || exec sh; "# + count
    + #"printf 'Line has invalid autocommand "%s"\n' "$SSH_ORIGINAL_COMMAND"; "#
    + "sleep 0.2; kill $PPID"

  /// Home directories that differ.
  package static let homes: [World] = [
    World("home-read-only", "a home that takes no change") { $0.home = .readOnly },
    World("home-full", "a home without a free byte") { $0.home = .full },
    World("home-noexec", "a home that executes nothing") { $0.home = .noExec },
    World("home-renames", "a disk without renameat2 flags: NFS and its kin") {
      $0.refused = [.renames]
    },
    World("no-locks", "a machine whose disks all refuse locks") { $0.refused = [.locks] },
    World("home-0711", "a home that may be entered and not read") { $0.home = .enterOnly },
  ]

  /// Shells and start-up files that differ.
  package static let shells: [World] = [
    World("fish", "fish") { $0.shell = "/usr/bin/fish" },
    World("tcsh", "tcsh") { $0.shell = "/usr/bin/tcsh" },
    World("zsh", "zsh") { $0.shell = "/usr/bin/zsh" },
    World("dash", "dash") { $0.shell = "/bin/dash" },
    World("startup-2mib", "a start-up file that prints 2 MiB") {
      $0.startup = "head -c 2097152 /dev/zero | tr '\\0' x"
    },
    World("startup-redirect", "a start-up file that redirects the output") {
      $0.startup = "exec >/dev/null 2>&1"
    },
    World("startup-exec", "a start-up file that executes another shell") {
      $0.startup = #"[ -n "$inner" ] || inner=1 exec sh"#
    },
    World("startup-read", "a start-up file that reads a line of standard input") {
      $0.startup = "read -r -t 1 answer"
    },
  ]

  private static func way(
    _ name: String, _ summary: String, _ change: (inout Network) -> Void
  ) -> World {
    World(name, summary) { change(&$0.network) }
  }

  /// Networks that differ.
  package static let networks: [World] = [
    way("100ms", "100 ms of round trip") { $0.delay = .milliseconds(50) },
    way("1MBs", "1 MB/s, 20 ms") {
      $0.bytesPerSecond = 1_000_000
      $0.delay = .milliseconds(10)
    },
    way("200KBs", "200 KB/s, 20 ms") {
      $0.bytesPerSecond = 200_000
      $0.delay = .milliseconds(10)
    },
    way("dark", "an outage is 20 s of silence") { $0.outage = .darkness(.seconds(20)) },
    way("refused", "an outage is 3 s of refused connections") {
      $0.outage = .refusal(.seconds(3))
    },
    way("loss", "2 % of the packets are sent again after 200 ms") {
      $0.loss = 0.02
      $0.delay = .milliseconds(10)
    },
    way("resets", "every connection is reset every 3 s") { $0.resetEvery = .seconds(3) },
    way("tbf", "8 Mbit/s by the kernel, in a network of its own") {
      $0.discipline = "tbf rate 8mbit burst 32k latency 400ms"
    },
    way("netem", "2 % of the packets lost by the kernel, in a network of its own") {
      $0.discipline = "netem delay 10ms loss 2%"
    },
  ]

  /// Machines that differ.
  package static let machines: [World] = [
    World("busy", "twice as many busy programs as cores") { $0.machine = .busy },
    World("one-thread", "a pool of one thread") { $0.machine = .oneThread },
    World("64-descriptors", "a client with 64 descriptors") { $0.machine = .descriptors(64) },
  ]
}
