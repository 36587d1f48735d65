import BridgeErrors
import Foundation

/// Measures our links beside other clients: one mode a run, one JSON line on standard output.
@main enum BridgeBench {
  static let usage = """
    bridge-bench ssh PORT KEYFILE MODE CIPHER|- ARGS     (user root, any host key, on 127.0.0.1)
      exec N CONCURRENCY   connect, authenticate, run `true`, close; N times
      down PATH            `cat PATH`, read to the end
      up BYTES             write so many bytes into `cat >/dev/null`
      idle N               N sessions with a `cat` each; says READY and waits for standard input
      oneshot N BRIDGECTL  exec as a process of its own beside exec in this one, N times in turn
      mixed PATH           round trips of a second session on the reactor that downloads PATH
    bridge-bench ws MODE PORT ARGS [pool]                (on 127.0.0.1)
      client PORT SIZE COUNT WINDOW   echoes, so many in flight
      idle PORT N                     N connections; says READY and waits for standard input
      among PORT N COUNT              COUNT echoes one by one among N idle connections
      beside PORT URL                 the longest echo while URL is dialed on the same reactor
      autobahn PORT AGENT             every case of an Autobahn fuzzing server
    bridge-bench proxy PORT                             a fault proxy without faults to PORT;
                                                        says where, waits for standard input
    bridge-bench errors                                 what an error costs, in ns
    bridge-bench decisions                              what the decisions of recovery cost
    bridge-bench steps N                                N policy steps and operations that succeed;
                                                        valgrind counts what they allocate
    bridge-bench store PATH|CONNECTION CALLERS COUNT    COUNT commits of so many callers at once,
                                                        each with a message, into a store
    bridge-bench supervised PORT KEYFILE N KEEPALIVE SECONDS
                                                        what N supervised idle links cost
    bridge-bench agents PORT KEYFILE BRIDGE-HOST N LINES
                                                        N durable sessions on one machine that
                                                        print LINES lines each
    bridge-bench console PORT N SECONDS                 the page of N idle WebSockets, whose
                                                        browsers Benchmarks/Console/idle.py has

    """

  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if let run = DecisionBench(arguments: arguments) { return await run() }
    if let run = StepBench(arguments: arguments) { return await run() }
    if let run = SupervisedBench(arguments: arguments) { return await run() }
    let agents = AgentsBench(arguments: arguments)
    let console = ConsoleBench(arguments: arguments)
    let store = StoreBench(arguments: arguments)
    let proxy = ProxyBench(arguments: arguments)
    let webSocket = WebSocketBench(arguments: arguments)
    let ssh = SSHBench(arguments: arguments)
    guard
      agents != nil || console != nil || store != nil || proxy != nil || webSocket != nil
        || ssh != nil
    else {
      FileHandle.standardError.write(Data(usage.utf8))
      exit(64)
    }
    do {
      try await agents?.callAsFunction()
      try await console?.callAsFunction()
      try await store?.callAsFunction()
      try await proxy?.callAsFunction()
      try await webSocket?.callAsFunction()
      try await ssh?.callAsFunction()
    } catch {
      FileHandle.standardError.write(Data("bridge-bench: \(error)\n".utf8))
      exit(1)
    }
  }
}
