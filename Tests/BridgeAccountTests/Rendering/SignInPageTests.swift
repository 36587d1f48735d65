import BridgeAccount
import BridgeErrors
import Foundation
import Testing

/// One screen as the specification has it.
private struct Row: Sendable {
  var screen: AuthNavigationState
  var name: String
  var title: String
  /// Identifier, field name, type, autofill token, in the order of the screen.
  var fields: [[String]]
  var submit: String?
  /// Identifier, target and what is said of every way out.
  var links: [[String]]
  var focus: String?
}

private let email = ["auth_email", "email", "email", "username"]
private let back = ["auth_back", "choice", "Back"]
private let consent = ["auth_consent", "consent", "checkbox", ""]

private func secret(_ id: String, _ name: String, _ token: String) -> [String] {
  [id, name, "password", token]
}

private let rows: [Row] = [
  Row(
    screen: .choice, name: "choice", title: "Welcome", fields: [],
    links: [
      ["auth_choice_signin", "login", "Sign In"],
      ["auth_choice_signup", "signup", "Create Account"],
    ]),
  Row(
    screen: .login, name: "login", title: "Sign In",
    fields: [email, secret("auth_password", "password", "current-password")], submit: "Sign In",
    links: [["auth_forgot_password", "resetRequest", "Forgot Password"], back],
    focus: "auth_email"),
  Row(
    screen: .signup(consentAccepted: false), name: "signup", title: "Create Account",
    fields: [
      email, secret("auth_password", "password", "new-password"),
      secret("auth_confirm_password", "confirmPassword", "new-password"), consent,
    ],
    submit: "Create Account", links: [back], focus: "auth_email"),
  Row(
    screen: .resetRequest, name: "resetRequest", title: "Reset Password", fields: [email],
    submit: "Send Code", links: [back], focus: "auth_email"),
  Row(
    screen: .resetVerify(pendingEmail: "ann@example.com"), name: "resetVerify",
    title: "Enter Code",
    fields: [
      email, ["auth_code", "code", "text", "one-time-code"],
      secret("auth_password", "password", "new-password"),
    ],
    submit: "Set Password", links: [back], focus: "auth_code"),
]

/// Every screen with every slot, loading and not, with and without errors of fields.
private let states: [AuthFlowState] = rows.flatMap { row in
  let slots: [AuthSlot] = [
    .empty, .error("wrong"), .status(AuthBanner(type: .info, message: "offline")),
  ]
  return slots.flatMap { slot in
    [false, true].flatMap { isLoading in
      [[:], [AuthField.email: "blocked", .password: "common", .confirmPassword: "differs"]].map {
        var state = AuthFlowState()
        state.navigationState = row.screen
        (state.slot, state.isLoading, state.fieldErrors) = (slot, isLoading, $0)
        return state
      }
    }
  }
}

@Suite("The sign-in as a page")
struct SignInPageTests {
  private func page(_ screen: AuthNavigationState) -> Page {
    var state = AuthFlowState()
    state.navigationState = screen
    return Page(SignInPage.render(state))
  }

  @Test func everyScreenHasItsTitleItsFieldsAndItsWays() {
    for row in rows {
      let page = page(row.screen)
      #expect(page.all("main").map { $0.value("data-screen") } == [row.name])
      #expect(page.all("h1").map(\.text) == [row.title])
      #expect(page.all("main")[0].value("aria-labelledby") == page.all("h1")[0].value("id"))
      let fields = page.all("input").map { input in
        ["id", "name", "type", "autocomplete"].map { input.value($0) ?? "" }
      }
      #expect(fields == row.fields)
      #expect(page.element(id: "auth_submit")?.text == row.submit)
      let links = page.all("button").filter { $0.value("name") == "navigate" }
      #expect(
        links.map {
          [$0.value("id") ?? "", $0.value("value") ?? "", $0.value("aria-label") ?? $0.text]
        }
          == row.links)
    }
  }

  @Test func theSignInButtonSaysWhatItDoes() {
    let button = page(.choice).element(id: "auth_choice_signin")
    #expect(button?.text == "Sign In")
    #expect(button?.value("title") == "Navigate to login screen")
  }

  @Test func everyLabelIsReadBeforeItsInput() throws {
    let labels = [
      "auth_email": "Email", "auth_password": "Password", "auth_code": "Code",
      "auth_confirm_password": "Confirm Password", "auth_consent": "I accept the terms.",
    ]
    for state in states {
      let page = Page(SignInPage.render(state))
      #expect(page.all("label").count == page.all("input").count)
      for input in page.all("input") {
        let id = try #require(input.value("id"))
        let label = try #require(page.elements.firstIndex { $0.value("for") == id })
        #expect(try label < #require(page.index(ofID: id)))
        #expect(page.elements[label].text == labels[id])
      }
    }
  }

  @Test func theFirstFieldHasTheFocusAndNextMovesOn() {
    for row in rows {
      let page = page(row.screen)
      let focused = page.all("input").filter { $0.has("autofocus") }
      #expect(focused.compactMap { $0.value("id") } == [row.focus].compactMap { $0 })
      let keys = page.all("input").compactMap { $0.value("enterkeyhint") }
      #expect(keys == keys.dropLast().map { _ in "next" } + (keys.isEmpty ? [] : ["go"]))
      let typed = page.all("input").filter { $0.has("required") }
      #expect(typed.count == keys.count)
      #expect(page.all("input").allSatisfy { !$0.tag.contains("tabindex") })
    }
  }

  @Test func anAddressIsTypedAsItIs() {
    for row in rows where row.focus == "auth_email" {
      let input = page(row.screen).element(id: "auth_email")
      #expect(input?.value("inputmode") == "email")
      #expect(input?.value("autocapitalize") == "none" && input?.value("autocorrect") == "off")
      #expect(input?.value("spellcheck") == "false")
    }
    let settled = page(.resetVerify(pendingEmail: "ann@example.com")).element(id: "auth_email")
    #expect(settled?.value("value") == "ann@example.com")
    #expect(settled?.has("readonly") == true && settled?.has("required") == false)
  }

  @Test func theTermsAreAskedOnSignupOnly() {
    for accepted in [true, false] {
      let box = page(.signup(consentAccepted: accepted)).element(id: "auth_consent")
      #expect(box?.has("checked") == accepted)
      #expect(box?.has("required") == false, "the flow has its own words for that")
    }
  }

  @Test func theButtonIsOffWhileARequestIsUnderWay() {
    for state in states where state.navigationState != .choice {
      let page = Page(SignInPage.render(state))
      #expect(page.element(id: "auth_submit")?.has("disabled") == state.isLoading)
      let form = page.all("form").first
      #expect((form?.value("aria-busy") == "true") == state.isLoading)
    }
  }

  @Test func theFirstButtonOfAFormSubmitsIt() {
    for row in rows where row.submit != nil {
      #expect(page(row.screen).all("button").first?.value("id") == "auth_submit")
    }
  }

  @Test func everyFormPostsTheHiddenFields() {
    let token = SignInPage.HiddenField(name: "csrf", value: "a\"><b>")
    for state in states {
      let page = Page(SignInPage.document(state, hidden: [token], nonce: "n-1"))
      let forms = page.elements.indices.filter { page.elements[$0].name == "form" }
      #expect(!forms.isEmpty)
      let hidden = page.elements.indices.filter { page.elements[$0].value("type") == "hidden" }
      #expect(hidden.count == forms.count)
      for (form, field) in zip(forms, hidden) {
        let end = page.elements[form...].firstIndex { $0.name == "/form" }
        #expect(form < field && field < end ?? 0)
        #expect(page.elements[field].value("name") == "csrf")
        #expect(page.elements[field].value("value") == "a&quot;&gt;&lt;b&gt;")
      }
      #expect(page.all("style").map { $0.value("nonce") } == ["n-1"])
    }
  }

  @Test func nothingIsStyledWhereItStands() {
    #expect(WebStyle.sheet.contains(".bridge-target{min-width:44px;min-height:44px}"))
    for state in states { #expect(!SignInPage.document(state).contains("style=\"")) }
  }

  @Test func everyControlIsLargeEnoughAndNamed() {
    for state in states {
      let page = Page(SignInPage.render(state))
      for control in page.all("button") + page.all("input") {
        let classes = control.value("class")?.split(separator: " ") ?? []
        #expect(classes.contains("bridge-target"), "\(control.tag)")
        #expect(control.value("id") == control.value("data-testid"))
      }
      for button in page.all("button") {
        let hasWords = button.text.contains(where: \.isLetter)
        #expect(hasWords != (button.value("aria-label") != nil), "\(button.tag)")
      }
    }
  }

  @Test func noIdentifierComesTwice() {
    for state in states {
      let ids = Page(SignInPage.document(state)).elements.compactMap { $0.value("id") }
      #expect(Set(ids).count == ids.count, "\(ids)")
    }
  }

  @Test func aDocumentIsAWholePage() {
    for row in rows {
      var state = AuthFlowState()
      state.navigationState = row.screen
      let html = SignInPage.document(state)
      #expect(html.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
      #expect(html.contains("<title>\(row.title)</title>"))
      #expect(html.contains(SignInPage.render(state)))
      let void: Set = ["!DOCTYPE", "meta", "input"]
      var open: [String] = []
      for element in Page(html).elements where !void.contains(element.name) {
        if element.name.hasPrefix("/") {
          #expect(open.popLast() == String(element.name.dropFirst()))
        } else {
          open.append(element.name)
        }
      }
      #expect(open.isEmpty)
    }
  }
}
