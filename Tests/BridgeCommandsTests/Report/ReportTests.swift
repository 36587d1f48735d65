import BridgeCommands
import BridgeErrors
import BridgeSSH
import Testing

@Suite struct ReportTests {
  @Test(arguments: [
    ("plain", #"{"a":"plain"}"#), ("\"\\", #"{"a":"\"\\"}"#),
    ("\n\t\r", #"{"a":"\n\u0009\u000d"}"#),
    ("\u{1B}[2J", #"{"a":"\u001b[2J"}"#), ("\u{202E}x", #"{"a":"\u202ex"}"#),
    ("\u{9B}", #"{"a":"\u009b"}"#), ("é😀", #"{"a":"é😀"}"#), ("\u{E0001}", #"{"a":"\udb40\udc01"}"#),
    ("\u{2028}", #"{"a":"\u2028"}"#), ("\u{0}", #"{"a":"\u0000"}"#),
  ])
  func noControlCharacterStandsAsItself(_ text: String, _ line: String) {
    var object = JSONLine()
    object.add("a", text)
    #expect(object.text == line)
  }

  @Test func fieldsStayInOrder() {
    var object = JSONLine()
    object.add("z", 1)
    object.add("a", String?.none)
    object.add("b", true)
    object.add("c", ["x", "\""])
    #expect(object.text == #"{"z":1,"b":true,"c":["x","\""]}"#)
  }

  @Test func aCharacterCutInTwoIsOne() {
    let bytes = Array("aé€😀z".utf8)
    for cut in 0...bytes.count {
      var text = PartialText()
      let parts = [text.take(Array(bytes[..<cut])), text.take(Array(bytes[cut...]))]
      #expect(parts.joined() == "aé€😀z")
    }
  }

  @Test func whatIsNoTextIsReplaced() {
    var text = PartialText()
    #expect(text.take([0xFF, 0x61, 0x80]) == "\u{FFFD}a\u{FFFD}")
    #expect(text.take([0x61, 0xC3]) == "a")
    #expect(text.end() == "\u{FFFD}")
    #expect(text.end() == "")
  }

  @Test(
    arguments: [
      (.status(0), 0), (.status(1), 1), (.status(255), 255), (.status(256), 255),
      (.signal("KILL"), 137), (.signal("TERM"), 143), (.signal("HUP"), 129), (.signal("WHAT"), 255),
    ] as [(BridgeSSH.ExitStatus, Int32)])
  func theRemoteEndIsPassedOn(_ status: BridgeSSH.ExitStatus, _ code: Int32) {
    #expect(BridgeErrors.ExitCode(status).rawValue == code)
  }

  @Test(arguments: [
    ("sshTimeoot", ["sshTimeout"]), ("hostkey", ["sshHostKeyMismatch", "sshHostKeyUnknown"]),
    ("DNSERROR", ["dnsError"]), ("zzzzzzzz", []), ("", []),
    (String(repeating: "x", count: 100_000), []),
  ])
  func nearNamesAreOffered(_ name: String, _ near: [String]) {
    #expect(NearNames.of(name, among: ErrorCatalogue.entries.map(\.caseName)) == near)
  }
}
