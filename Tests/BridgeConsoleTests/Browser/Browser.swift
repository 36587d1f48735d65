import BridgeTestKit
import Foundation
import Testing

/// Chromium without a screen, by its WebDriver.
final class Browser: Sendable {
  /// The programs of Debian's chromium and chromium-driver.
  private static let programs = ["/usr/bin/chromedriver", "/usr/bin/chromium"]

  static var isInstalled: Bool {
    let isThere = programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    if !isThere {
      print("chromium and chromium-driver are not installed: the tests in a browser are left out")
    }
    return isThere
  }

  private struct Answer<Value: Decodable>: Decodable {
    var value: Value
  }

  private struct Session: Decodable {
    var sessionId: String
  }

  /// A driver that several browsers share.
  final class Driver: Sendable {
    let folder: URL
    let port: Int
    private let process: Process

    init() async throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "bridge-browser-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let log = folder.appending(path: "log")
      try Data().write(to: log)
      process = Process()
      process.executableURL = URL(filePath: Browser.programs[0])
      process.arguments = ["--port=0"]
      process.standardOutput = FileHandle(forWritingAtPath: log.path)
      process.standardError = FileHandle.nullDevice
      process.environment = ProcessInfo.processInfo.environment.merging(
        ["HOME": folder.path]) { $1 }
      try process.run()
      var port: Int?
      try await eventually {
        let text = try String(contentsOf: log, encoding: .utf8)
        port = text.firstMatch(of: /successfully on port ([0-9]+)/).flatMap { Int($0.output.1) }
        return port != nil
      }
      self.port = port ?? 0
    }

    /// Ends the driver and its browsers.
    func stop() async {
      _ = try? await Curl.run(["--silent", "--max-time", "10", "http://127.0.0.1:\(port)/shutdown"])
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      try? FileManager.default.removeItem(at: folder)
    }
  }

  private let base: String

  init(_ driver: Driver) async throws {
    let profile = driver.folder.appending(path: "\(UUID())").path
    let arguments = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--no-first-run", "--user-data-dir=\(profile)", "--lang=en-US",
    ]
    let options: [String: Any] = ["binary": Self.programs[1], "args": arguments]
    let capabilities: [String: Any] = [
      "browserName": "chrome", "goog:chromeOptions": options,
      "goog:loggingPrefs": ["browser": "ALL"],
    ]
    let url = "http://127.0.0.1:\(driver.port)/session"
    let session: Session = try await Self.send(
      url, ["capabilities": ["alwaysMatch": capabilities]])
    base = "\(url)/\(session.sessionId)"
  }

  private static func send<Value: Decodable>(
    _ url: String, _ body: [String: Any]
  ) async throws -> Value {
    let data = try JSONSerialization.data(withJSONObject: body)
    let text = try await Curl.run(
      ["--silent", "--max-time", "60", "-H", "Expect:", "--data-binary", "@-", url],
      input: String(decoding: data, as: UTF8.self))
    do {
      return try JSONDecoder().decode(Answer<Value>.self, from: Data(text.utf8)).value
    } catch {
      Issue.record("\(url): \(text.prefix(2000))")
      throw error
    }
  }

  func close() async {
    _ = try? await Curl.run(["--silent", "--max-time", "20", "-X", "DELETE", base])
  }

  func open(_ url: String) async throws {
    let _: String? = try await Self.send("\(base)/url", ["url": url])
  }

  /// The value of a JavaScript expression.
  func value<Value: Decodable>(
    _ expression: String, as type: Value.Type = Value.self
  ) async throws -> Value {
    try await Self.send(
      "\(base)/execute/sync", ["script": "return \(expression)", "args": [Any]()])
  }

  /// What the elements of a selector say that are seen, joined.
  func text(_ selector: String) async throws -> String {
    try await value(
      """
      [...document.querySelectorAll('\(selector)')].filter((one) => one.getClientRects().length)
        .map((one) => one.innerText).join('\\n')
      """)
  }

  /// Whether the selector's elements come to say this.
  func waits(for text: String, in selector: String) async throws {
    try await eventually { try await self.text(selector).contains(text) }
  }

  /// Clicks the first button with this name for screen readers.
  func click(_ name: String) async throws {
    let found: Bool = try await value(
      """
      (() => {
        const button = [...document.querySelectorAll('button')].find((one) =>
          (one.getAttribute('aria-label') || one.textContent) === '\(name)' && !one.disabled);
        if (button) button.click();
        return Boolean(button);
      })()
      """)
    #expect(found, "no button \(name)")
  }

  func command(_ name: String, _ parameters: [String: Any]) async throws {
    struct Nothing: Decodable {}
    let _: Nothing = try await Self.send(
      "\(base)/goog/cdp/execute", ["cmd": name, "params": parameters])
  }

  /// What the console of the browser says: also what its policy has kept out.
  func log() async throws -> [String] {
    struct Line: Decodable {
      var level: String
      var message: String
    }
    let lines: [Line] = try await Self.send("\(base)/se/log", ["type": "browser"])
    return lines.filter { $0.level == "SEVERE" }.map(\.message)
  }

  /// A picture of the page as a screen of this width shows it.
  func picture(width: Int, isDark: Bool) async throws -> Data {
    struct Picture: Decodable {
      var data: String
    }
    try await show(width: width, isDark: isDark)
    let picture: Picture = try await Self.send(
      "\(base)/goog/cdp/execute",
      [
        "cmd": "Page.captureScreenshot",
        "params": ["format": "png", "captureBeyondViewport": true],
      ])
    return try #require(Data(base64Encoded: picture.data))
  }

  func show(width: Int, isDark: Bool) async throws {
    let scheme = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
    try await command("Emulation.setEmulatedMedia", ["features": [scheme]])
    try await command(
      "Emulation.setDeviceMetricsOverride",
      [
        "width": width, "height": width < 500 ? 740 : 900, "deviceScaleFactor": 1,
        "mobile": width < 500,
      ])
  }
}
