import BridgeCommands
import BridgeErrors
import BridgeFiles
import BridgeTransport
import Testing

/// The progress of a copy, in words.
@Suite struct CopyProgressTests {
  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_048_575, "1023.9 KiB"),
    (1 << 20, "1.0 MiB"), (5_368_709_120, "5.0 GiB"), (1_288_490_188, "1.1 GiB"),
    (Int.max, "8191.9 PiB"),
  ])
  func aSizeHasOneDigitAfterThePoint(_ bytes: Int, _ text: String) {
    #expect(CopyProgress.size(bytes) == text)
  }

  @Test(arguments: [
    (0, "0:00"), (59, "0:59"), (61, "1:01"), (3600, "1:00:00"), (36_061, "10:01:01"),
  ])
  func aTimeIsThatOfAClock(_ seconds: Int, _ text: String) {
    #expect(CopyProgress.time(seconds) == text)
  }

  @Test func itSaysShareBytesRateAndTimeLeft() {
    var progress = CopyProgress()
    progress.bytes = 512
    #expect(progress.text == "512 B")
    (progress.totalBytes, progress.totalFiles, progress.rate) = (2048, 1, 100)
    #expect(progress.text == "25%  512 B of 2.0 KiB  100 B/s  0:16 left")
    (progress.totalFiles, progress.files) = (3, 2)
    #expect(progress.text.contains("2 of 3 files"))
    // A source that grew does not go beyond all of it.
    progress.bytes = 4096
    #expect(progress.text.hasPrefix("100%") && progress.secondsLeft == 0)
  }

  /// "0 B/s" says nothing of why.
  @Test func withoutALinkItSaysWhatItWaitsFor() {
    var progress = CopyProgress()
    (progress.bytes, progress.totalBytes, progress.rate) = (512, 2048, 0)
    progress.isWaiting = true
    #expect(progress.text == "25%  512 B of 2.0 KiB  waiting for the link")
    // Connections beside the one that is lost may go on.
    progress.rate = 100
    #expect(progress.text == "25%  512 B of 2.0 KiB  100 B/s  0:16 left")
  }

  @Test func theRateIsThatOfTheLastSeconds() {
    var rate = CopyRate()
    #expect(rate.add(0, at: .zero) == nil)
    #expect(rate.add(1000, at: .seconds(1)) == 1000)
    #expect(rate.add(1000, at: .seconds(5)) == 200)
    // Nothing for longer than it looks back, then all at once.
    #expect(rate.add(1000, at: .seconds(20)) == nil)
    #expect(rate.add(9000, at: .seconds(21)) == 8000)
  }

  @Test func theLastLineNamesWhatIsMissing() {
    var ledger = CopyLedger()
    ledger.copied = 1
    var progress = CopyProgress()
    progress.bytes = 2048
    #expect(
      ledger.summary(progress, after: .seconds(2))
        == "copied 1 file, 2.0 KiB in 2.0 s (1.0 KiB/s), verified.")
    ledger.fail(.fileNotFound(path: "a"))
    ledger.fail(.cancelled)
    #expect(ledger.first == .fileNotFound(path: "a"))
    #expect(ledger.summary(progress, after: .zero).hasSuffix("; 2 not copied."))
  }

  /// A program that ends at once does not run forever; a link that is lost does not count.
  @Test func aHostThatBringsNothingForwardIsGivenUp() {
    var attempts = CopyAttempts()
    let ended = ByteChannelEnding.finished(status: 1)
    var further = FileProgress()
    further.bytes = 1
    let steps: [(ByteChannelEnding, FileProgress)] = [
      (.lost(.cancelled), FileProgress()), (ended, FileProgress()), (ended, FileProgress()),
      (ended, FileProgress()), (ended, further),
    ]
    let goesOn = steps.map { attempts.goesOn(after: $0.0, $0.1) }
    #expect(goesOn == [true, true, true, false, true])
  }
}
