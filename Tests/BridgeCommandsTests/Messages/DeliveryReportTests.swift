import BridgeCommands
import Testing

@Suite struct DeliveryReportTests {
  @Test(
    "says what was not sent and what may not have arrived",
    arguments: [
      (DeliveryReport(), nil), (DeliveryReport(unsent: 1), "1 message was not sent."),
      (DeliveryReport(unsent: 2), "2 messages were not sent."),
      (DeliveryReport(isInputLeft: true), "The rest of the input was not sent."),
      (
        DeliveryReport(unsent: 1, isInputLeft: true),
        "1 message and the rest of the input were not sent."
      ),
      (DeliveryReport(doubtful: 1), "1 message may not have arrived."),
      (
        DeliveryReport(unsent: 2, doubtful: 3),
        "2 messages were not sent, and 3 messages may not have arrived."
      ),
    ] as [(DeliveryReport, String?)])
  func sentence(_ report: DeliveryReport, _ sentence: String?) {
    #expect(report.sentence == sentence)
  }
}
