import BridgeFaults
import Foundation
import Testing

/// This program called by the name `ssh`, by a person and by what calls ssh.
@Suite("ssh", .timeLimit(.minutes(5))) struct SSHVerbTests {
  @Test func theStatusIsTheRemoteOne() async throws {
    try await withSSH { _, home in
      for (command, code) in [("true", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 255)] {
        let outcome = try await home.ssh(["box", command])
        #expect(outcome.code == code, "\(command)")
        #expect(outcome.error.isEmpty, "\(outcome.error)")
      }
    }
  }

  /// As with ssh a directory is input that has ended.
  @Test func aDirectoryAsInputIsAtItsEnd() async throws {
    try await withSSH { _, home in
      let outcome = try await home.run(
        ["box", "wc -c; exit 3"], through: "exec \"$0\" \"$@\" < /", program: home.file("bin/ssh"))
      #expect(outcome.code == 3 && outcome.text == "0\n", "\(outcome.error)")
    }
  }

  /// As with ssh the command goes on; of one that prints on and on the end is not waited for.
  @Test(arguments: [
    ("sleep 0.2; seq 1000; sleep 1.2; exit 3", 3), ("yes", 255),
    ("while echo more; do sleep 0.2; done", 255),
  ])
  func ofSSHAClosedOutputLeavesTheStatus(_ command: String, _ code: Int32) async throws {
    try await withSSH { _, home in
      let ends = try ClosedPipe()
      let child = try Child(
        ["box", command], program: home.file("bin/ssh"), environment: home.environment,
        streams: .descriptors(input: 0, output: ends.writing, error: 2))
      #expect(await child.ending.code() == code)
    }
  }

  /// As of a script that names a key which only some users have.
  @Test func aKeyFileThatIsNotThereLeavesTheUsualOnes() async throws {
    try await withSSH { server, home in
      try FileManager.default.copyItem(
        atPath: server.identityFile, toPath: home.file(".ssh/id_ed25519"))
      FileDetails.setMode(home.file(".ssh/id_ed25519"), 0o600)
      let outcome = try await home.ssh(["-F", home.file("bare"), "-i", "/none", "box", "exit 3"])
      #expect(outcome.code == 3, "\(outcome.error)")
      let warning = "Warning: Identity file /none not accessible: No such file or directory.\n"
      #expect(outcome.error == warning)
    }
  }

  @Test func ownFailuresEndWith255InTheWordsOfSSH() async throws {
    try await withSSH { _, home in
      let (port, bare) = (1, home.file("bare"))
      let cases = [
        (
          ["-p", "\(port)", "box", "x"],
          "connect to host 127.0.0.1 port \(port): Connection refused\n"
        ),
        (
          ["-i", "/none", "-oIdentityFile=none", "-F", "none", "x@h"], "Could not resolve hostname"
        ),
        (["box", "-oUserKnownHostsFile=none", "-oBatchMode=yes"], "verification failed.\n"),
        (["-oIdentityFile=/none", "-oIdentityAgent=none", "-F", bare, "box"], "Permission denied"),
        (["-s", "box", "nothing"], "ssh: "), (["-oNonsense=1", "box"], "Bad configuration option"),
        (["-w0", "box"], "-w"), (["box", "-Z"], "usage: ssh"),
      ]
      for (words, text) in cases {
        let outcome = try await home.ssh(words)
        #expect(outcome.code == 255, "\(words)")
        #expect(outcome.error.contains(text), "\(words): \(outcome.error)")
        #expect(!outcome.error.contains("bridgectl"), "\(words): \(outcome.error)")
      }
      let silent = try await home.ssh(["-q", "-p", "\(port)", "box", "x"])
      #expect((silent.code, silent.error) == (255, ""))
    }
  }

  /// The first of -p, -l and -o, and any of them before the host's own words.
  @Test func theFirstSettingDecides() async throws {
    try await withSSH { server, home in
      for words in [["-p1", "-oPort=\(server.port)"], ["-oPort=1", "-p", "\(server.port)"]] {
        let outcome = try await home.ssh(words + ["box", "true"])
        #expect(outcome.code == 255)
      }
      let first = ["-p", "\(server.port)", "-oPort=1", "-l", server.user, "-oUser=x", "y@box"]
      let called = try await home.ssh(first + ["true"])
      #expect(called.code == 0, "\(called.error)")
      let verb = try await home.run(["ssh"] + first + ["echo", "a  b"])
      #expect((verb.code, verb.text) == (0, "a b\n"))
    }
  }

  @Test func aCommandMayBeAnyBytes() async throws {
    try await withSSH { _, home in
      let outcome = try await home.run(
        ["ssh"], through: #"exec "$0" ssh box "printf '$(printf '\351')'""#)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.output == [0xE9])
    }
  }

  @Test func nothingRunsThereButWhatWasAskedFor() async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = #"echo "[$SSH_ORIGINAL_COMMAND]" >> ~/ran"#
    let remote = try Home()
    configuration.home = remote.path
    try await withSSH(configuration) { _, home in
      for words in [["box", "one"], ["box"], ["-tt", "box", "two"]] {
        let outcome = try await home.ssh(words)
        #expect(outcome.code == 0, "\(outcome.error)")
      }
    }
    #expect(remote.read("ran") == "[one]\n[]\n[two]\n")
  }

  /// The options that ansible, scp, sftp, sshfs, mosh and Emacs give.
  @Test(arguments: [
    "-C -o ControlMaster=auto -o ControlPersist=60s -o ControlPath=HOME/%C -o ForwardAgent=no",
    "-x -oForwardAgent=no -oPermitLocalCommand=no -oClearAllForwardings=yes -oRemoteCommand=none "
      + "-oRequestTTY=no -l USER", "-x -a -oClearAllForwardings=yes -2", "-n -S none -y -k -K",
    "-e none -T -4 -A -o ControlMaster=no -o ControlPersist=no",
  ])
  func optionsOfToolsAreTakenInSilence(_ line: String) async throws {
    try await withSSH { server, home in
      let named = line.replacing("USER", with: server.user).replacing("HOME", with: home.path)
      let words = named.split(separator: " ").map(String.init)
      let outcome = try await home.ssh(words + ["box", "echo here"])
      #expect((outcome.code, outcome.text, outcome.error) == (0, "here\n", ""))
      let more = try await home.ssh(words + ["-v", "box", "true"])
      let isShared = more.error.contains("bridgectl: over the connection that process ")
      #expect(more.error.contains("bridgectl: connected") != isShared)
    }
  }

  /// As ssh has them: the first option counts, and BindAddress goes before BindInterface.
  @Test func whereItConnectsFromCanBeChosen() async throws {
    try await withSSH { _, home in
      let ask = ["box", "echo ${SSH_CLIENT%% *}"]
      for (words, here) in [
        (["-b", "127.0.0.2"], "127.0.0.2"), (["-B", "lo"], "127.0.0.1"),
        (["-b", "127.0.0.3", "-B", "lo", "-oBindAddress=127.0.0.4"], "127.0.0.3"),
      ] {
        let outcome = try await home.ssh(words + ask)
        #expect((outcome.code, outcome.text, outcome.error) == (0, here + "\n", ""))
      }
      let none = try await home.ssh(["-B", "none0"] + ask)
      #expect(none.code == 255 && none.text.isEmpty, "\(none.text)")
      #expect(none.error.contains("no such address or interface"), "\(none.error)")
      let other = try await home.ssh(["-6"] + ask)
      #expect(other.code == 255 && other.text.isEmpty, "\(other.text)")
      #expect(other.error.contains("no address of the family"), "\(other.error)")
      let settings = try await home.ssh(["-G", "-b", "127.0.0.2", "box"])
      #expect(settings.text.contains("\nbindaddress 127.0.0.2\n"))
    }
  }

  /// RemoteCommand, SessionType, StdinNull and LocalCommand, also of `connect`.
  @Test func theConfigurationSaysWhatRuns() async throws {
    try await withSSH { _, home in
      let remote = try await home.ssh(["-oRemoteCommand=echo %n; cat", "-n", "box"], input: [65])
      #expect((remote.code, remote.text) == (0, "box\n"), "\(remote.error)")
      for more in [[], ["-N"]] {
        let both = try await home.ssh(more + ["-oRemoteCommand=true", "box", "true"])
        #expect(both.code == 255)
        #expect(both.error.contains("Cannot execute command-line and remote command."))
      }
      let verb = try await home.run(["connect", "-oRemoteCommand=exit 5", "-oStdinNull=yes", "box"])
      #expect(verb.code == 5, "\(verb.error)")
      let system = try await home.ssh(["-oSessionType=subsystem", "box", "none"])
      #expect(system.code == 255)
      let here = ["-oLocalCommand=echo here %n", "-oPermitLocalCommand=yes", "box", "echo there"]
      let local = try await home.ssh(here)
      #expect((local.code, local.text) == (0, "here box\nthere\n"), "\(local.error)")
      let denied = try await home.ssh(["-oPermitLocalCommand=no"] + here)
      #expect((denied.code, denied.text) == (0, "there\n"), "\(denied.error)")
    }
  }

  /// PermitRemoteOpen: what a client of a SOCKS port of the host may name.
  @Test func aTargetThatIsNotPermittedIsNotOpened() async throws {
    try await withSSH { server, home in
      for (targets, isOpen) in [("none", false), ("127.0.0.1:\(server.port)", true)] {
        let ask = """
          exec 3<>/dev/tcp/127.0.0.1/$PORT; printf '\\5\\1\\0' >&3; head -c2 <&3 >/dev/null
          printf '\\5\\1\\0\\1\\177\\0\\0\\1\\x\(hex(server.port))' >&3
          head -c2 <&3 | tail -c1 | od -An -tu1
          """
        // Not the port of the run before.
        let script = """
          : > ~/words
          coproc "$0" ssh -R 0 -oPermitRemoteOpen='\(targets)' box 'cat' 2> ~/words
          until PORT=$(sed -n 's/Allocated port \\([0-9]*\\).*/\\1/p' ~/words); [ "$PORT" ]; do
            sleep 0.1
          done
          export PORT; bash -c "$1"; kill $COPROC_PID
          """
        let outcome = try await home.run([ask], through: script)
        let answer = outcome.text.split(separator: "\n").first.map(String.init) ?? ""
        #expect((answer.trimmingCharacters(in: .whitespaces) == "0") == isOpen, "\(outcome)")
      }
    }
  }

  private func hex(_ port: Int) -> String {
    let text = String(port, radix: 16)
    let digits = Array(String(repeating: "0", count: 4 - text.count) + text)
    return "\(digits[0])\(digits[1])\\x\(digits[2])\(digits[3])"
  }

  /// As it is, on standard error also with -E, and not with -q.
  @Test func theNoticeOfTheHostIsShown() async throws {
    var configuration = SSHServerConfiguration()
    configuration.banner = "Only for members.\n\tReally.\n"
    try await withSSH(configuration) { _, home in
      for words in [[], ["-v", "-E", home.file("log")]] {
        let outcome = try await home.ssh(words + ["box", "true"])
        #expect(outcome.error == "Only for members.\n Really.\n")
      }
      #expect(home.read("log").contains("bridgectl: connected"))
      let silent = try await home.ssh(["-q", "box", "true"])
      #expect((silent.code, silent.error) == (0, ""))
    }
  }

  @Test func itSaysWhatItIs() async throws {
    try await withSSH { _, home in
      let version = try await home.ssh(["-V"])
      #expect(version.code == 0 && version.text.isEmpty)
      #expect(version.error.hasPrefix("OpenSSH_9"))
      let ciphers = try await home.ssh(["-Q", "cipher"])
      #expect(ciphers.text.contains("aes256-ctr\n"))
      let settings = try await home.ssh(["-G", "box"])
      #expect(settings.text.hasPrefix("host box\n"))
      #expect((settings.code, settings.error) == (0, ""))
      let carried = try await home.ssh(["-G", "-W", "h:1", "box"])
      #expect(carried.text.contains("\nexitonforwardfailure yes\nclearallforwardings yes\n"))
    }
  }

  @Test func aShellEndsWithALineAndAnotherEscape() async throws {
    try await withSSH { _, home in
      let terminal = try Terminal()
      let child = try Child(
        ["-e%", "box"], program: home.file("bin/ssh"), environment: home.environment,
        streams: .terminal(terminal.path), onEnd: terminal.hangUp)
      var screen = Screen(terminal, child)
      screen.type("PS1=; stty -echo; echo rea''dy\r")
      try await screen.see("ready\r\n")
      screen.type("echo '~.'\r~.\r")
      try await screen.see("~.\r\n")
      screen.type("%.")
      #expect(await screen.end() == 255)
      #expect(screen.transcript.contains("Connection to 127.0.0.1 closed."))
    }
  }

  /// The name or address that was dialed, and also where only the host has a terminal.
  @Test func theEndOfATerminalIsALineOfItsOwn() async throws {
    try await withSSH { _, home in
      let config = ["-F", home.file(".ssh/config")]
      for words in [["-tt", "box", "exit 3"], ["-q", "-tt", "box", "exit 3"], ["box", "exit 3"]] {
        let theirs = try await home.run(config + words, program: "/usr/bin/ssh")
        let ours = try await home.ssh(words)
        #expect((ours.code, ours.error) == (3, theirs.error))
      }
    }
  }
}

/// Programs that call ssh, where they are installed, with ours in its place.
@Suite("ssh under its tools", .timeLimit(.minutes(5))) struct SSHToolTests {
  private static func isInstalled(_ name: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)")
  }

  /// Both as their own ssh and as a command with a word behind it.
  @Test(.enabled(if: isInstalled("git")), arguments: ["$HOME/bin/ssh", "$HOME/bin/bridgectl ssh"])
  func gitClonesAndPushes(_ ssh: String) async throws {
    try await withSSH { _, home in
      let script = """
        set -e
        cd; git config --global user.email a@b; git config --global user.name me
        git config --global init.defaultBranch main; git config --global core.sshCommand "\(ssh)"
        git init -q --bare there.git; git init -q here; cd here
        head -c 300000 /dev/urandom > file; git add file; git commit -qm one
        git push -q "box:$HOME/there.git" HEAD:main
        git clone -q "ssh://box$HOME/there.git" ../again; cmp file ../again/file
        """
      try await home.succeeds(script)
    }
  }

  @Test(.enabled(if: isInstalled("scp")), arguments: ["-s", "-O"])
  func scpCopiesBothWays(_ mode: String) async throws {
    try await withSSH { _, home in
      let script = """
        set -e
        cd; mkdir tree; head -c 300000 /dev/urandom > tree/file; echo x > "tree/a b"
        scp -q \(mode) -S "$HOME/bin/ssh" -r tree "box:$HOME/there"
        scp -q \(mode) -S "$HOME/bin/ssh" -r "box:$HOME/there" back
        diff -r tree there; diff -r tree back
        """
      try await home.succeeds(script)
    }
  }

  @Test(.enabled(if: isInstalled("sftp"))) func sftpWorks() async throws {
    try await withSSH { _, home in
      let script = """
        set -e
        cd; head -c 300000 /dev/urandom > file
        echo "put file $HOME/there" | sftp -q -S "$HOME/bin/ssh" -b - box > /dev/null
        cmp file there
        """
      try await home.succeeds(script)
    }
  }

  @Test(.enabled(if: isInstalled("rsync"))) func rsyncCopiesATreeWithAnyNames() async throws {
    try await withSSH { _, home in
      let script = """
        set -e
        cd; mkdir tree; head -c 300000 /dev/urandom > tree/file; touch "tree/$(printf 'l\\351')"
        rsync -a -e "$HOME/bin/ssh -T" tree/ "box:$HOME/there/"
        rsync -a -e "$HOME/bin/ssh -T" "box:$HOME/there/$(printf 'l\\351')" back
        diff -r tree there; test -e back
        """
      try await home.succeeds(script)
    }
  }

  @Test(.enabled(if: isInstalled("ssh-copy-id"))) func aKeyIsInstalled() async throws {
    let remote = try Home()
    var configuration = SSHServerConfiguration()
    configuration.home = remote.path
    try await withSSH(configuration) { _, home in
      let script = """
        set -e
        cd; ssh-keygen -q -t ed25519 -N '' -f new; PATH=$HOME/bin:$PATH
        ssh-copy-id -f -i new.pub box > /dev/null 2>&1
        cmp new.pub "\(remote.path)/.ssh/authorized_keys"
        """
      try await home.succeeds(script)
    }
  }

  /// A terminal that nothing asked for by name is done without, in the words of ssh.
  @Test(arguments: [([], 5), (["-tt"], 255)] as [([String], Int32)])
  func aHostWithoutTerminalsIsAsWithSSH(_ options: [String], _ code: Int32) async throws {
    var configuration = SSHServerConfiguration()
    configuration.lines = ["PermitTTY no"]
    try await withSSH(configuration) { _, home in
      let terminal = try Terminal()
      var screen = try home.start(
        ["ssh", "-F", home.file(".ssh/config")] + options + ["box"], on: terminal)
      try await screen.see("PTY allocation request failed on channel 0")
      screen.type("exit 5\r")
      #expect(await screen.end() == code)
      #expect(screen.isRestored)
    }
  }
}
