import BridgeFaults
import Foundation
import Testing

/// Programs that speak with a client over their standard streams, on a host whose links are cut: as
/// MCP and ACP do, with JSON-RPC by lines.
@Suite("RecipeTests of servers", .timeLimit(.minutes(5))) struct ServerRecipeTests {
  /// Answers each request once it has sent a message of its own, and says which it has seen.
  private static let server = """
    import json, os, sys
    calls = open(sys.argv[1], "a", buffering=1)
    print("start", os.getpid(), file=calls)
    for line in sys.stdin:
        ask = json.loads(line)
        print(ask["id"], os.getpid(), file=calls)
        told = {"method": "progress", "params": ask["id"]}
        for words in told, {"id": ask["id"], "result": ask["params"]}:
            print(json.dumps({"jsonrpc": "2.0"} | words), flush=True)
    print("bye", file=sys.stderr)
    """

  /// Sends 300 requests, so many before their answers, and takes each answer exactly once.
  private static let client = """
    import json, subprocess, sys
    ahead, pipe = int(sys.argv[1]), subprocess.PIPE
    server = subprocess.Popen(sys.argv[2:], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    def send(n):
        ask = {"jsonrpc": "2.0", "id": n, "method": "echo", "params": "x" * (n % 200)}
        print(json.dumps(ask), file=server.stdin, flush=True)
    def take(n):
        told, answer = (json.loads(server.stdout.readline()) for _ in range(2))
        assert told["params"] == n and answer["id"] == n, (told, answer)
        assert answer["result"] == "x" * (n % 200), answer
    for n in range(300 + ahead):
        if n < 300: send(n)
        if n >= ahead: take(n - ahead)
    rest, words = server.communicate()
    assert rest == "" and words == "bye\\n", rest + words
    sys.exit(server.returncode)
    """

  @Test(arguments: [0, 1, 20]) func eachRequestIsAnsweredOnceByOneProcess(ahead: Int) async throws {
    try await withRecipe { recipe in
      try recipe.home.write(Self.server, to: "server.py")
      try recipe.home.write(Self.client, to: "client.py")
      let calls = (["start"] + (0..<300).map(String.init)).joined(separator: "\n")
      try await recipe.outlives(
        """
        python3 ~/client.py \(ahead) $B box -- python3 ~/server.py "$PWD/calls" || exit
        cut -d ' ' -f 1 calls; cut -d ' ' -f 2 calls | sort -u | wc -l
        """, cuttingAfter: 15_000, writing: calls + "\n1\n")
    }
  }

  /// As mosh and tmux are used: it is the same shell behind a lost link, and for another client.
  @Test func aShellThatHasANameOutlivesItsLinksAndItsClient() async throws {
    try await withRecipe { recipe in
      let words = ["connect", "--wait", "--name", "work", "box"]
      let terminal = try Terminal()
      var screen = try recipe.home.start(words, on: terminal)
      screen.type("PS1=; stty -echo; kept=5; echo rea''dy\r")
      try await screen.see("ready\r\n")
      try await recipe.proxy.inject(.reset)
      screen.type("echo it is $kept\r")
      try await screen.see("it is 5\r\n")
      screen.type("~d")
      #expect(await screen.end() == 0)
      let other = try Terminal()
      var again = try recipe.home.start(words, on: other)
      again.type("echo still $kept; exit 4\r")
      try await again.see("still 5\r\n")
      #expect(await again.end() == 4)
    }
  }
}
