import BridgeErrors
import Foundation
import Testing

@Suite("The banner on a page")
struct WebBannerTests {
  private static let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  @Test func anErrorIsAnnouncedWithItsWords() {
    let html = WebBanner.render(.networkUnavailable)
    #expect(html.hasPrefix("<section class=\"bridge-banner bridge-tint-warning\" role=\"alert\""))
    #expect(html.contains("data-case=\"networkUnavailable\""))
    #expect(html.contains("data-icon=\"wifi.slash\""))
    #expect(html.contains(">No Connection</h2>"))
    #expect(html.contains("<span class=\"bridge-severity\">warning</span>"))
    let message = "Error: Check your internet connection and try again."
    #expect(html.contains("<p class=\"bridge-error-message\">\(message)</p>"))
    #expect(!html.contains("data-error-id"))
  }

  /// Two on a page, or one over a form, are valid HTML, under any policy for styles.
  @Test func nothingIsNamedTwiceOrStyledWhereItStands() {
    let other = UUID(uuid: (0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    let presented = [Self.id, other].map {
      WebBanner.render(PresentedError(id: $0, error: .networkUnavailable))
    }
    let page = (presented + [WebBanner.render(.agentBusy), WebBanner.render(.agentBusy)]).joined()
    let names = page.components(separatedBy: " id=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
    #expect(names == ["bridge-error-\(Self.id)", "bridge-error-\(other)"].map { $0[...] })
    #expect(!page.contains("style="))
    for name in ["bridge-banner", "bridge-options", "bridge-target", "bridge-tint-warning"] {
      #expect(page.contains(name) && WebStyle.sheet.contains(".\(name)"))
    }
  }

  @Test func theSheetIsAnElementThatAPolicyAllows() {
    #expect(WebStyle.element().hasPrefix("<style>\n.bridge-target{"))
    #expect(WebStyle.element(nonce: "a\"b").hasPrefix("<style nonce=\"a&quot;b\">\n"))
    #expect(!WebStyle.sheet.contains("<"))
  }

  @Test func everyOptionIsAButtonAndDismissHasAName() {
    for error in ErrorCatalogue.examples {
      let html = WebBanner.render(PresentedError(id: Self.id, error: error))
      #expect(html.contains("aria-label=\"Dismiss\""))
      #expect(html.contains("data-icon=\"xmark\""))
      #expect(html.components(separatedBy: "<button ").count == error.recoveryOptions.count + 2)
      for option in error.recoveryOptions {
        #expect(html.contains("class=\"bridge-\(option.style.rawValue) bridge-target\""))
        #expect(html.contains("data-kind=\"\(option.kind.rawValue)\""))
        #expect(html.contains(">\(option.title)</button>"))
      }
      let buttons = html.components(separatedBy: "<button ").dropFirst()
      #expect(
        buttons.allSatisfy {
          $0.hasPrefix("type=\"button\"") && $0.contains("bridge-target")
            && $0.contains("data-error-id=\"\(Self.id.uuidString)\"")
        })
    }
  }

  @Test func aPlanAHintAndACountAreShown() {
    let shown = PresentedError(
      id: Self.id, error: .agentBusy, source: "a<b", count: 2,
      plan: RecoveryPlan(next: .askPerson, options: [.abort]))
    let html = WebBanner.render(shown)
    #expect(html.contains(">Agent Busy (a&lt;b) ×2</h2>"))
    #expect(html.contains("<p class=\"bridge-hint\""))
    #expect(html.contains("<p class=\"bridge-plan\""))
    #expect(html.contains(">Abort</button>") && !html.contains(">Wait</button>"))
    let saysAll = AppError.validationError(field: "a", message: "b")
    #expect(!WebBanner.render(saysAll).contains("bridge-hint"))
  }

  @Test func aCommandStandsBehindTheHint() {
    let context = FailureContext(
      kind: .hostKeyChanged, phase: .hostKey, host: "h", detail: "d", command: "ssh-keygen -R 'h'")
    let shown = PresentedError(error: .sshHostKeyMismatch(host: "h"), context: context)
    #expect(WebBanner.render(shown).contains("remove the old key: `ssh-keygen -R &#39;h&#39;`</p>"))
  }

  @Test func textIsEscapedForElementsAndAttributes() {
    #expect(
      WebBanner.escaped("<a href=\"x\" b='y'>&")
        == "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;")
    let html = WebBanner.render(.unknown(message: "<script>alert(1)</script>"))
    #expect(!html.contains("<script"))
    #expect(html.contains("&lt;script&gt;"))
  }

  static let severities: [(AppError, String, [Double])] = [
    (.agentBusy, "#0B57D0", [11, 87, 208]),
    (.networkUnavailable, "#7A5200", [122, 82, 0]),
    (.sshTimeout(seconds: 1), "#B3261E", [179, 38, 30]),
    (.internalError(detail: "d"), "#B3261E", [179, 38, 30]),
  ]

  @Test func colorsPassFourAndAHalfToOne() {
    for (error, hex, rgb) in Self.severities {
      let html = WebBanner.render(error)
      let name = error.severity.name
      #expect(html.contains("<header class=\"bridge-text-\(name)\">"))
      #expect(html.contains("bridge-tint-\(name)"))
      let parts = rgb.map { "\(Int($0))" }.joined(separator: ",")
      #expect(WebStyle.sheet.contains(".bridge-text-\(name){color:\(hex)}"))
      #expect(WebStyle.sheet.contains(".bridge-tint-\(name){background:rgba(\(parts),0.1)}"))
      let tint = rgb.map { 255 * 0.9 + $0 * 0.1 }
      let ratio = (luminance(tint) + 0.05) / (luminance(rgb) + 0.05)
      #expect(ratio >= 4.5, "\(hex) \(ratio)")
    }
  }

  /// WCAG 2.1, "relative luminance".
  private func luminance(_ rgb: [Double]) -> Double {
    let linear = rgb.map { channel -> Double in
      let part = channel / 255
      return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
  }
}
