import BridgeErrors
import BridgeReactor
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import Foundation

/// One run of `bridge-bench supervised`: idle links under one supervisor, probed every `keepalive`.
struct SupervisedBench {
  private let port: Int
  private let keyFile: String
  private let count: Int
  private let keepalive: Duration
  private let time: Duration

  /// Nil when the arguments are not of the form in `BridgeBench.usage`.
  init?(arguments: [String]) {
    guard arguments.count == 6, arguments[0] == "supervised" else { return nil }
    let numbers = arguments[3...].compactMap(Int.init)
    guard let port = Int(arguments[1]), numbers.count == 3, numbers.allSatisfy({ $0 > 0 }) else {
      return nil
    }
    self.port = port
    keyFile = arguments[2]
    count = numbers[0]
    keepalive = .seconds(numbers[1])
    time = .seconds(numbers[2])
  }

  func callAsFunction() async {
    let reactor = ReactorGroup.shared.next()
    let supervisor = Supervisor(clock: ContinuousClock(), seed: 1, executor: reactor)
    let endpoint = Endpoint(host: "127.0.0.1", port: port)
    let configuration = SSHConfiguration(
      user: "root", credentials: [.keyFile(keyFile)], hostKeys: .anyKey)
    var links: [Link<SSHConnection>] = []
    let start = Stopwatch()
    for number in 0..<count {
      let options = LinkOptions(liveness: LivenessPolicy(keepalive: keepalive))
      let link = try? await supervisor.add(ConnectionID("link \(number)"), to: endpoint, options) {
        SSHConnection(to: $0, configuration: configuration, on: reactor)
      }
      if let link { links.append(link) }
    }
    for link in links { _ = try? await link.connection }
    let ready = start.wall
    // What follows a connection, such as its first probe, is over then.
    try? await Task.sleep(for: keepalive)
    let watch = Stopwatch()
    try? await Task.sleep(for: time)
    let (wall, processor) = (watch.wall, watch.processor)
    var up = 0
    for link in links {
      if case .up? = await link.state { up += 1 }
    }
    report([
      ("links", Double(count)), ("up", Double(up)), ("ready_s", ready), ("wall", wall),
      ("cpu", processor), ("core_percent", processor / wall * 100),
    ])
    await supervisor.shutDown()
  }
}
