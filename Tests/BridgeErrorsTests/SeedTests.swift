import BridgeErrors
import Testing

/// The tests of the error specification, by their names (S1-175…S1-178); that of URLError is with
/// BridgeURLErrors.
@Suite struct SeedTests {
  @Test func testHTTPErrorMapping() {
    let error = AppError(httpStatus: 429)

    #expect(error.title == "Error")
    #expect(error.userMessage.contains("rate"))
  }

  @Test func testRecoveryOptions() {
    let error = AppError.networkUnavailable

    #expect(error.recoveryOptions.contains { $0.title == "Retry" })
  }

  @Test func anAppErrorIsThrownAsItself() {
    func fail() throws(AppError) { throw .agentBusy }
    do throws(AppError) {
      try fail()
      Issue.record("nothing was thrown")
    } catch {
      #expect(error == .agentBusy)
    }
  }
}
