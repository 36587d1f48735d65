import BridgeAccount
import BridgeErrors
import Foundation
import Testing

private let screens: [AuthNavigationState] = [
  .choice, .login, .signup(consentAccepted: true), .resetRequest,
  .resetVerify(pendingEmail: "ann@example.com"),
]

@Suite("What is said on the sign-in page")
struct SignInMessageTests {
  private func state(_ screen: AuthNavigationState, _ slot: AuthSlot) -> AuthFlowState {
    var state = AuthFlowState()
    (state.navigationState, state.slot) = (screen, slot)
    return state
  }

  /// The contract's snapshot of the login, as far as a page has one: the error is there, red, and
  /// below the fields.
  @Test func testErrorDisplayedInView() throws {
    let page = Page(SignInPage.render(state(.login, .error("Invalid credentials"))))
    let error = try #require(page.index(ofID: "auth_error_message"))
    let element = page.elements[error]
    #expect(element.name == "p" && element.text == "Error: Invalid credentials")
    #expect(element.value("class")?.contains("bridge-text-error") == true)
    for field in ["auth_email", "auth_password"] {
      #expect(try #require(page.index(ofID: field)) < error)
    }
    #expect(try #require(page.index(ofID: "auth_submit")) > error)
  }

  @Test func anErrorIsAnnouncedAndABannerIsAStatus() {
    for screen in screens {
      let none = Page(SignInPage.render(state(screen, .empty)))
      #expect(none.element(id: "auth_error_message") == nil)
      #expect(none.element(id: "auth_status_message") == nil)
      #expect(none.element(id: "auth_dismiss") == nil)

      let error = Page(SignInPage.render(state(screen, .error("wrong"))))
      #expect(error.element(id: "auth_error_message")?.value("role") == "alert")
      #expect(error.element(id: "auth_error_message")?.value("data-testid") == "auth_error_message")
      #expect(error.element(id: "auth_status_message") == nil)
      #expect(error.element(id: "auth_dismiss")?.value("aria-label") == "Dismiss")
      #expect(error.element(id: "auth_dismiss")?.value("name") == "dismiss")

      let banner = AuthBanner(type: .info, message: "You're offline.")
      let status = Page(SignInPage.render(state(screen, .status(banner))))
      #expect(status.element(id: "auth_status_message")?.value("role") == "status")
      #expect(status.element(id: "auth_status_message")?.text == "You&#39;re offline.")
      #expect(status.element(id: "auth_error_message") == nil)
      #expect(status.element(id: "auth_dismiss") != nil)
    }
  }

  @Test func anErrorOfAFieldBelongsToIt() throws {
    var state = state(.signup(consentAccepted: true), .empty)
    state.fieldErrors = [.email: "blocked <b>", .password: "common", .confirmPassword: "differs"]
    let page = Page(SignInPage.render(state))
    let texts = [
      "auth_email": "blocked &lt;b&gt;", "auth_password": "common",
      "auth_confirm_password": "differs",
    ]
    for (id, text) in texts {
      let input = try #require(page.element(id: id))
      #expect(input.value("aria-invalid") == "true")
      #expect(input.value("aria-describedby") == "\(id)_error")
      let error = try #require(page.element(id: "\(id)_error"))
      #expect(error.text == "Error: \(text)")
      #expect(error.value("role") == "alert")
      #expect(error.value("class") == "bridge-text-error")
    }
    state.fieldErrors = [:]
    #expect(!SignInPage.render(state).contains("aria-invalid"))
  }

  @Test func colorsPassFourAndAHalfToOne() {
    let shown: [(AuthSlot, String, String, [Double])] = [
      (.error("e"), "error", "#B3261E", [179, 38, 30]),
      (.status(AuthBanner(type: .info, message: "i")), "info", "#0B57D0", [11, 87, 208]),
    ]
    for (slot, name, hex, rgb) in shown {
      let html = SignInPage.render(state(.login, slot))
      let tint = rgb.map { "\(Int($0))" }.joined(separator: ",")
      #expect(html.contains("class=\"bridge-message bridge-text-\(name) bridge-tint-\(name)\""))
      #expect(WebStyle.sheet.contains(".bridge-text-\(name){color:\(hex)}"))
      #expect(WebStyle.sheet.contains(".bridge-tint-\(name){background:rgba(\(tint),0.1)}"))
      #expect(contrast(rgb, rgb.map { 255 * 0.9 + $0 * 0.1 }) >= 4.5)
      #expect(contrast(rgb, [255, 255, 255]) >= 4.5, "an error of a field is on white")
    }
    #expect(SignInPage.document(AuthFlowState()).contains("background:#FFFFFF;color:#1F1F1F"))
    #expect(contrast([31, 31, 31], [255, 255, 255]) >= 4.5)
  }

  /// WCAG 2.1, "contrast ratio" of a darker to a lighter color.
  private func contrast(_ dark: [Double], _ light: [Double]) -> Double {
    (luminance(light) + 0.05) / (luminance(dark) + 0.05)
  }

  private func luminance(_ rgb: [Double]) -> Double {
    let linear = rgb.map { channel -> Double in
      let part = channel / 255
      return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
  }

  private static let hostile: [String] = [
    "\"><script>alert(1)</script>", "' autofocus onfocus='x", "\u{1B}[2J\0", "\u{202E}moc",
    "a\r\nSet-Cookie: x", String(decoding: [0xFF, 0xC0, 0x80] as [UInt8], as: UTF8.self),
    String(repeating: "<", count: 1 << 20),
  ]

  @Test(arguments: hostile.indices)
  func whatOthersWroteIsEscapedAndBounded(index: Int) {
    let text = Self.hostile[index]
    for screen in screens.dropLast() + [.resetVerify(pendingEmail: text)] {
      for slot in [AuthSlot.error(text), .status(AuthBanner(type: .info, message: text))] {
        var hostile = state(screen, slot)
        hostile.email = text
        hostile.fieldErrors = [.email: text, .password: text, .confirmPassword: text]
        let html = SignInPage.document(hostile)
        // Five texts of 4 KiB, of which every byte can become a reference of five.
        #expect(html.utf8.count < 120_000)
        #expect(
          html.unicodeScalars.allSatisfy {
            ($0.value >= 32 || $0 == "\n") && $0 != "\u{202E}" && !(0x7F...0x9F ~= $0.value)
          })
        var plain = state(screen, slot)
        (plain.email, plain.slot) = ("x", slot.with("x"))
        plain.fieldErrors = [.email: "x", .password: "x", .confirmPassword: "x"]
        let tags = Page(html).elements.map(\.name)
        #expect(tags == Page(SignInPage.document(plain)).elements.map(\.name))
      }
    }
  }

  @Test func noSecretIsRenderedBack() {
    let canary = "hunter2-canary"
    for screen in screens {
      for slot in [AuthSlot.empty, .error("wrong")] {
        var typed = state(screen, slot)
        var empty = typed
        (typed.email, empty.email) = ("ann@example.com", "ann@example.com")
        typed.password = Secret(canary)
        typed.confirmPassword = Secret(canary)
        typed.code = Secret(canary)
        typed.session = AuthResponse(user: .init(id: canary), token: Secret(canary))
        #expect(!SignInPage.document(typed).contains(canary))
        // Not even whether there is one.
        empty.session = nil
        #expect(SignInPage.document(typed) == SignInPage.document(empty))
      }
    }
  }
}

extension AuthSlot {
  fileprivate func with(_ text: String) -> AuthSlot {
    switch self {
    case .empty: .empty
    case .error: .error(text)
    case .status(let banner): .status(AuthBanner(type: banner.type, message: text))
    }
  }
}
