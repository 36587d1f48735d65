import BridgeFaults
import Foundation
import Testing

/// The recipes of docs/recipes.md in which bridgectl stands in for `ssh`: bytes, status and
/// standard error are those that the tool has with `ssh`.
@Suite(.timeLimit(.minutes(5))) struct RecipeTests {
  @Test(.enabled(if: Recipe.isInstalled("git"), "git is not installed"))
  func gitIsAsWithSSH() async throws {
    try await withRecipe { recipe in
      try await recipe.isAsWithSSH(
        """
        export GIT_SSH=$SSH; git init -q --bare there.git; git init -q here; cd here
        cp ../data .; git add data; git commit -qm one
        git push -q "box:$HOME/try/there.git" HEAD:main && git rev-parse HEAD
        git clone -q "ssh://box$HOME/try/there.git" ../again && cmp data ../again/data
        git fetch "box:$HOME/try/none.git"; echo "status $?"
        """)
    }
  }

  @Test(.enabled(if: Recipe.isInstalled("rsync"), "rsync is not installed"))
  func rsyncIsAsWithSSH() async throws {
    try await withRecipe { recipe in
      try await recipe.isAsWithSSH(
        """
        mkdir tree; mv data tree; echo x > 'tree/a b'; touch "tree/$(printf 'l\\351')"
        rsync -ai -e "$SSH" tree/ "box:$HOME/try/there/" && diff -r tree there
        rsync -a -e "$SSH" "box:$HOME/try/there/" back && diff -r tree back
        rsync -a -e "$SSH" "box:$HOME/try/none" back; echo "status $?"
        """)
    }
  }

  @Test(arguments: ["-s", "-O"]) func scpIsAsWithSSH(_ mode: String) async throws {
    try await withRecipe { recipe in
      try await recipe.isAsWithSSH(
        """
        mkdir tree; mv data tree; echo x > 'tree/a b'
        scp \(mode) -r -S "$SSH" tree "box:$HOME/try/there" && diff -r tree there
        scp \(mode) -r -S "$SSH" "box:$HOME/try/there" back && diff -r tree back
        scp \(mode) -S "$SSH" "box:$HOME/try/none" back; echo "status $?"
        """)
    }
  }

  @Test func sftpIsAsWithSSH() async throws {
    try await withRecipe { recipe in
      try await recipe.isAsWithSSH(
        """
        printf 'put data %s\\nget %s back\\nget none\\n' there there |
          sftp -S "$SSH" -b - "box:$HOME/try" && echo "not reached"; echo "status $?"
        cmp data there && cmp data back
        """)
    }
  }

  @Test(.enabled(if: Recipe.canMount, "sshfs is not installed, or there is no /dev/fuse"))
  func sshfsIsAsWithSSH() async throws {
    try await withRecipe { recipe in
      try await recipe.isAsWithSSH(
        """
        mkdir there mnt; sshfs -o ssh_command="$SSH" "box:$HOME/try/there" mnt || exit
        trap 'fusermount3 -u mnt' EXIT
        cp data mnt/ && cmp data there/data && ls mnt; cat mnt/none; echo "status $?"
        """)
    }
  }

  @Test(.enabled(if: Recipe.isInstalled("borg"), "borg is not installed"))
  func borgIsAsWithSSH() async throws {
    try await withRecipe { recipe in
      try await recipe.isAsWithSSH(
        """
        export BORG_RSH=$SSH; R="box:$HOME/try/repo"
        borg init -e none "$R" && borg create "$R::one" data && borg list --short "$R"
        mkdir back; cd back; borg extract "$R::one" && cmp ../data data; borg check "$R"
        borg extract "$R::none" 2> ../words; echo "status $?"; grep -c 'not exist' ../words
        """)
    }
  }

  /// The modules and files are carried by sftp, whose `ssh` is named beside ansible's. By its own
  /// options all of it is over one connection.
  @Test(.enabled(if: Recipe.isInstalled("ansible"), "ansible is not installed"))
  func ansibleIsAsWithSSH() async throws {
    try await withRecipe { recipe in
      try await recipe.isAsWithSSH(
        """
        export ANSIBLE_SSH_EXECUTABLE=$SSH ANSIBLE_SFTP_EXTRA_ARGS="-S $SSH" ANSIBLE_NOCOLOR=1
        export ANSIBLE_HOME=$HOME/try ANSIBLE_SSH_CONTROL_PATH_DIR=$HOME/try/cp
        export ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3
        for run in 1 2; do ansible -i box, all -m raw -a 'echo $SSH_CONNECTION'; done > words
        grep '^127' words | wc -l; grep '^127' words | sort -u | wc -l
        ansible -i box, all -m raw -a 'echo out; exit 3'; echo "status $?"
        ansible -i box, all -m copy -a "src=data dest=$HOME/try/there" > words; echo "status $?"
        cmp data there && grep -c CHANGED words
        "$SSH" -o ControlPath="$(echo ~/try/cp/*)" -O exit box 2>&1
        """)
    }
  }

  @Test(.enabled(if: Recipe.isInstalled("parallel"), "parallel is not installed"))
  func parallelIsAsWithSSH() async throws {
    try await withRecipe { recipe in
      try await recipe.isAsWithSSH(
        """
        export PARALLEL_HOME=$HOME/try
        seq 9 | parallel --ssh "$SSH" -S 4/box -k 'echo "{}  x"'; echo "status $?"
        seq 3 | parallel --ssh "$SSH" -S 1/box 'echo {} >&2; exit {}'; echo "status $?"
        """)
    }
  }

  @Test func aKeyIsCopiedAsWithSSH() async throws {
    let host = try Home()
    var configuration = SSHServerConfiguration()
    configuration.home = host.path
    try await withRecipe(configuration) { recipe in
      try recipe.home.write("ssh-ed25519 AAAA me@box\n", to: "new.pub")
      try await recipe.isAsWithSSH(
        """
        rm -rf "\(host.path)/.ssh"; export PATH="${SSH%/*}:$PATH"
        ssh-copy-id -f -i ~/new.pub box; echo "status $?"; cat "\(host.path)/.ssh/authorized_keys"
        """)
    }
  }

  /// What an editor starts: a shell on a pipe, with ports for what it installs there.
  @Test func anEditorsShellIsAsWithSSH() async throws {
    let free = try await FaultProxy(to: 1)
    await free.stop()
    try await withRecipe { recipe in
      try await recipe.isAsWithSSH(
        """
        echo 'echo "ready: $0"; echo words >&2; exec 1>&2; exit 5' |
          "$SSH" -T -D \(free.port) -o ConnectTimeout=15 box sh; echo "status $?"
        """)
      let version = try await recipe.run(#""$SSH" -V"#)
      #expect(version.error.wholeMatch(of: /OpenSSH_[0-9.]+p[0-9][^\n]*\n/) != nil)
    }
  }

  /// A program that answers in the place of docker's engine is the other end of what docker runs.
  @Test(.enabled(if: Recipe.isInstalled("docker"), "docker is not installed"))
  func dockerIsAsWithSSH() async throws {
    try await withEngine { recipe in
      try await recipe.isAsWithSSH(
        #"""
        export PATH="${SSH%/*}:$PATH" DOCKER_HOST=ssh://box
        docker version --format '{{.Server.Version}}'; docker ps -q; echo "status $?"
        DOCKER_HOST=ssh://none.invalid docker ps -q 2> words; echo "status $?"
        """#)
    }
  }

  /// Uploads, each with its statuses: by what the tool finds first, its own, that of `ssh` or that
  /// of SIGPIPE.
  private static let uploads: [(tool: String, codes: Set<Int32>, script: String)] = [
    ("scp", [1, 141, 255], #"scp -q -S "$SSH" data "box:$HOME/try/there""#),
    (
      "sftp", [141, 255],
      #"echo "put data $HOME/try/there" | sftp -q -S "$SSH" -b - box > /dev/null"#
    ),
    (
      "git", [1, 128, 141],
      #"""
      export GIT_SSH=$SSH; git init -q --bare there.git; git init -q here; cd here
      cp ../data .; git add data; git commit -qm one; git push -q "box:$HOME/try/there.git" main
      """#
    ),
    ("rsync", [10, 12, 255], #"rsync -a -e "$SSH" data "box:$HOME/try/there""#),
  ]

  /// What a tool makes of a lost link does not change where bridgectl stands in for `ssh`.
  @Test(arguments: uploads.filter { Recipe.isInstalled($0.tool) })
  func aLostLinkFailsAsWithSSH(_ tool: String, _ codes: Set<Int32>, _ script: String) async throws {
    try await withRecipe { recipe in
      try await recipe.failsAsWithSSH(script, at: .cut(after: 400_000, .toServer), with: codes)
    }
  }
}

/// With a host whose `docker` is the engine that it would connect its client to.
func withEngine(_ body: (Recipe) async throws -> Void) async throws {
  let host = try Home()
  var configuration = SSHServerConfiguration()
  configuration.home = host.path
  // The shell that runs a command of sshd reads it.
  try host.write("PATH=~/bin:$PATH\n", to: ".bashrc")
  try host.write(
    #"""
    #!/usr/bin/python3
    import http.server, json, sys
    class Engine(http.server.BaseHTTPRequestHandler):
      protocol_version = "HTTP/1.1"
      def setup(self): self.rfile, self.wfile = sys.stdin.buffer, sys.stdout.buffer
      def finish(self): pass
      def log_message(self, *words): pass
      def do_HEAD(self): self.do_GET()
      def do_GET(self):
        engine = {"Version": "1", "ApiVersion": "1.44", "MinAPIVersion": "1.24", "Os": "linux"}
        boxes = [{"Id": "%012x" % n + "0" * 52, "Names": ["/x" * 40]} for n in range(3000)]
        body = json.dumps(engine if "version" in self.path else boxes).encode()
        self.send_response(200)
        self.send_header("Api-Version", "1.44")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET": self.wfile.write(body)
        self.wfile.flush()
    if sys.argv[1:] != ["system", "dial-stdio"]: sys.exit(9)
    Engine(None, None, None)
    """#, to: "bin/docker")
  try FileManager.default.setAttributes(
    [.posixPermissions: 0o700], ofItemAtPath: host.file("bin/docker"))
  try await withRecipe(configuration, body)
}
