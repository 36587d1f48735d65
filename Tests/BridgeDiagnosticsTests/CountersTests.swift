import BridgeDiagnostics
import BridgeErrors
import Foundation
import Testing

@Suite struct CountersTests {
  @Test func everythingIsCountedUnderItsName() async throws {
    let id = try #require(CorrelationID(header: "r-1"))
    let counters = Counters()
    await counters.count(AppError.agentBusy)
    await counters.count(AppError.timeout(seconds: 1))
    await counters.count(AppError.timeout(seconds: 2))
    await counters.count(AppError.cancelled)
    await counters.count(CancellationError())
    await counters.count(.requestSent(method: "GET", path: "/", correlationID: id))
    await counters.count(
      .responseReceived(status: 200, path: "/", correlationID: id, echoed: id))
    await counters.count(
      .responseReceived(status: 200, path: "/", correlationID: id, echoed: nil))
    await counters.count(.nonconformingErrorBody(status: 500, path: "/", correlationID: id))
    await counters.count(.decodeFailed(type: "T", path: "/", correlationID: id))
    await counters.count(.exchangeFailed(error: .networkError, path: "/", correlationID: id))
    await counters.countRetry()
    await counters.countReconnect()
    await counters.countReconnect()
    await counters.countQueueDrops(3)
    let values = await counters.values
    #expect(
      values.lines
        == [
          "decode_failures 1", "nonconforming_error_bodies 1",
          "responses_without_correlation_id 1", "retries 1", "reconnects 2", "queue_drops 3",
          "errors{error_type=APIError} 1", "errors{error_type=agentBusy} 1",
          "errors{error_type=timeout} 2", "errors{severity=info} 1", "errors{severity=error} 3",
        ])
    let json = try JSONEncoder.apiEncoder.encode(values)
    #expect(String(decoding: json, as: UTF8.self).contains(#""errors_by_type":{"APIError":1"#))
    #expect(try JSONDecoder.apiDecoder.decode(CounterValues.self, from: json) == values)
  }
}
