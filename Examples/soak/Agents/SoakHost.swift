import BridgeFaults
import Foundation

/// One agent host: its process, killed and started again.
actor SoakHost {
  let number: Int
  private let arguments: [String]
  private let log: String
  private var process: SoakProcess?
  private var isStopped = false
  /// The most resident memory of any of its processes, in KiB.
  private(set) var peak = 0
  private(set) var lives = 0

  init(_ number: Int, orders: AgentHostOrders, in folder: String) throws {
    self.number = number
    let file = "\(folder)/host-\(number).json"
    try JSONEncoder().encode(orders).write(to: URL(filePath: file))
    (arguments, log) = ([AgentHostOrders.flag, file], "\(folder)/host-\(number).log")
  }

  /// What the chat knows its process by; nil while it is not well.
  var mark: String? { isStopped ? nil : process.map { "host-\(number):\($0.pid)" } }

  func start() throws {
    let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process = try SoakProcess(own.path, arguments, log: log)
    lives += 1
  }

  func kill() async {
    measure()
    guard let ending = process.take() else { return }
    ending.send(SIGKILL)
    _ = await ending.end()
  }

  func freeze() {
    isStopped = true
    process?.send(SIGSTOP)
  }

  func thaw() {
    process?.send(SIGCONT)
    isStopped = false
  }

  func measure() {
    guard let process else { return }
    peak = max(peak, SoakProcess.kibibytes("VmHWM", of: process.pid))
  }

  /// Descriptors that its process has open.
  var descriptors: Int {
    guard let process else { return 0 }
    return (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.pid)/fd"))?.count
      ?? 0
  }

  /// Whether its process has ended, and nothing of the soak has ended it. In one turn: a fault may
  /// end it between two.
  var hasEndedByItself: Bool {
    guard let process, !isStopped else { return false }
    return SoakProcess.kibibytes("VmRSS", of: process.pid) == 0
  }

  /// Shuts it down in order; false where it does not end so.
  func stop() async -> Bool {
    measure()
    guard let ending = process.take() else { return true }
    ending.send(SIGTERM)
    return await ending.end(within: .seconds(30))
  }
}
