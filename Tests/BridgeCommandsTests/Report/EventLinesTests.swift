import BridgeCommands
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventLinesTests {
  @Test("a reader that stalls learns how many events it missed, and gets the last one")
  func stalledReader() throws {
    let pipe = Pipe()
    let lines = EventLines(descriptor: pipe.fileHandleForWriting.fileDescriptor)
    // Longer than the pipe holds: none behind it is written before it is read.
    var long = JSONLine(event: "long")
    long.add("message", String(repeating: "x", count: 128 << 10))
    lines.post(long)
    // Ten times what the queue has left.
    let text = String(repeating: "x", count: 1_000)
    let count = 1_400
    for _ in 0..<count {
      var line = JSONLine(event: "warning")
      line.add("message", text)
      lines.post(line)
    }
    lines.post(JSONLine(event: "exit"), isFinal: true)
    var output = Data()
    while !output.suffix(200).contains(Data(#""event":"exit"}"#.utf8 + [10])) {
      output += pipe.fileHandleForReading.availableData
    }
    let events = try output.split(separator: 10).compactMap {
      try JSONSerialization.jsonObject(with: $0) as? [String: Any]
    }
    let names = events.compactMap { $0["event"] as? String }
    #expect(names.suffix(2) == ["missed", "exit"])
    let missed = events.compactMap { $0["count"] as? Int }
    #expect(missed.count == 1)
    #expect(missed.reduce(0, +) + names.count { $0 == "warning" } == count)
    #expect(names.first == "long")
    #expect(names.count { $0 == "warning" } >= 120)
  }
}
