import BridgeFaults
import Foundation

/// One run of `bridge-bench proxy`: a fault proxy without a fault, for others to measure through.
struct ProxyBench {
  private let port: Int

  /// Nil when the arguments are not of the form in `BridgeBench.usage`.
  init?(arguments: [String]) {
    guard arguments.count == 2, arguments[0] == "proxy", let port = Int(arguments[1])
    else { return nil }
    self.port = port
  }

  /// Says where it listens, and waits for the end of standard input.
  func callAsFunction() async throws(FaultError) {
    let proxy = try await FaultProxy(to: port)
    print("{\"port\":\(proxy.port)}")
    fflush(nil)
    _ = readLine()
    await proxy.stop()
  }
}
