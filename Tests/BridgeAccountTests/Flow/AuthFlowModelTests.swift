import BridgeAccount
import BridgeErrors
import Foundation
import Testing

/// The contract tests of the flow, under the names they have there.
@Suite struct AuthFlowContractTests {
  @Test func testPasswordMismatchError() async {
    let model = AuthFlowModel(service: ScriptedAccount())
    await model.update {
      $0.navigationState = .signup(consentAccepted: true)
      $0.password = "password123"
      $0.confirmPassword = "different"
    }
    await model.submit()
    #expect(await model.state.errorMessage == "Passwords don't match")
  }

  @Test func testMissingConsentError() async {
    let service = ScriptedAccount()
    let model = AuthFlowModel(service: service)
    await model.update {
      $0.navigationState = .signup(consentAccepted: false)
      $0.email = "test@example.com"
      $0.password = "password123"
      $0.confirmPassword = "password123"
    }
    await model.submit()
    #expect(await model.state.errorMessage == "You must accept the terms to continue.")
    #expect(await service.calls.isEmpty)
  }

  @Test func testOfflineMessage() async {
    let service = ScriptedAccount()
    let model = AuthFlowModel(service: service)
    await model.updateNetworkStatus(.offline)
    await model.update {
      $0.navigationState = .login
      $0.email = "test@example.com"
      $0.password = "password"
    }
    await model.submit()
    #expect(
      await model.state.statusBanner?.message
        == "You're offline. Try again once you're connected.")
    #expect(await model.state.statusBanner?.type == .info)
    #expect(await model.state.errorMessage == nil)
    #expect(await service.calls.isEmpty)
  }

  @Test func testErrorDisplayedInView() async {
    let model = AuthFlowModel(service: ScriptedAccount())
    await model.update {
      $0.navigationState = .login
      $0.errorMessage = "Invalid credentials"
    }
    #expect(await model.state.slot == .error("Invalid credentials"))
    #expect(AuthIdentifier.errorMessage == "auth_error_message")
    #expect(AuthIdentifier.errorLabel == "Error")
  }

  @Test func testErrorClearedOnNavigation() async {
    let model = AuthFlowModel(service: ScriptedAccount())
    await model.update {
      $0.navigationState = .login
      $0.errorMessage = "Invalid credentials"
    }
    await model.navigateToChoice()
    #expect(await model.state.errorMessage == nil)
  }

  @Test func testLoginDoesNotRevealEmailExistence() async {
    let service = ScriptedAccount(
      failure: AuthClientError(
        status: 401, code: "invalid_credentials", message: "Email not found"))
    let model = AuthFlowModel(service: service)
    await model.performLogin()
    #expect(await model.state.errorMessage == "That email or password looks incorrect")
  }

  @Test func testSignupRevealsEmailExists() async {
    let service = ScriptedAccount(
      failure: AuthClientError(
        status: 422, code: "user_already_exists", message: "User already registered"))
    let model = AuthFlowModel(service: service)
    await model.performSignup(consentAccepted: true)
    #expect(
      await model.state.errorMessage
        == "An account with this email already exists. Try logging in instead.")
  }

  @Test func testCompleteErrorFlow() async {
    let model = AuthFlowModel(service: ScriptedAccount(failure: AuthError.invalidCredentials))
    await model.update {
      $0.navigationState = .login
      $0.email = "test@example.com"
      $0.password = "wrong"
    }
    await model.submit()
    #expect(await model.state.errorMessage == "That email or password looks incorrect")
    await model.navigateToChoice()
    #expect(await model.state.errorMessage == nil)
  }

  @Test func testMultipleErrorTypes() async {
    let service = ScriptedAccount(failure: URLError(.notConnectedToInternet))
    let model = AuthFlowModel(service: service)
    await model.performLogin()
    #expect(
      await model.state.errorMessage
        == "We can't reach the server. Check your connection and try again.")
    await service.fail(with: AuthError.rateLimited)
    await model.performLogin()
    #expect(
      await model.state.errorMessage == "Too many attempts. Please try again shortly.")
    await service.fail(with: AuthError.emailUnverified)
    await model.performLogin()
    #expect(await model.state.errorMessage == "Verify your email before signing in")
  }
}

@Suite struct AuthFlowModelTests {
  private func filled(
    _ screen: AuthNavigationState, service: ScriptedAccount
  ) async -> AuthFlowModel {
    let model = AuthFlowModel(service: service)
    await model.update {
      $0.navigationState = screen
      $0.email = "test@example.com"
      $0.password = "password123"
      $0.confirmPassword = "password123"
      $0.code = "123456"
    }
    return model
  }

  @Test(arguments: ["", "ann", "ann@", "@example.com", "ann@example", "a b@example.com", "a@b@c.d"])
  func anAddressThatIsNoneIsNotSent(email: String) async {
    for screen in [AuthNavigationState.login, .signup(consentAccepted: true), .resetRequest] {
      let service = ScriptedAccount()
      let model = await filled(screen, service: service)
      await model.update { $0.email = email }
      await model.submit()
      #expect(await model.state.errorMessage == "Enter a valid email.")
      #expect(await service.calls.isEmpty)
    }
  }

  @Test func theOrderIsMismatchConsentAddressOffline() async {
    let model = await filled(.signup(consentAccepted: false), service: ScriptedAccount())
    await model.updateNetworkStatus(.offline)
    await model.update {
      $0.email = "no address"
      $0.confirmPassword = "other"
    }
    let steps: [(@Sendable (inout AuthFlowState) -> Void, String)] = [
      ({ _ in }, "Passwords don't match"),
      ({ $0.confirmPassword = $0.password }, "You must accept the terms to continue."),
      ({ $0.navigationState = .signup(consentAccepted: true) }, "Enter a valid email."),
      (
        { $0.email = "ann@example.com" }, "You're offline. Try again once you're connected."
      ),
    ]
    for (edit, expected) in steps {
      await model.update(edit)
      await model.submit()
      let state = await model.state
      #expect((state.errorMessage ?? state.statusBanner?.message) == expected)
    }
  }

  @Test func anEmptyFieldTurnsTheButtonOffAndSaysNothing() async {
    let empties: [(AuthNavigationState, @Sendable (inout AuthFlowState) -> Void)] = [
      (.login, { $0.password = "" }),
      (.signup(consentAccepted: true), { ($0.password, $0.confirmPassword) = ("", "") }),
      (.resetVerify(pendingEmail: "ann@example.com"), { $0.code = "" }),
      (.resetVerify(pendingEmail: "ann@example.com"), { $0.password = "" }),
      (.choice, { _ in }),
    ]
    for (screen, empty) in empties {
      let service = ScriptedAccount()
      let model = await filled(screen, service: service)
      await model.update(empty)
      #expect(await !model.state.canSubmit)
      await model.submit()
      #expect(await model.state.slot == .empty)
      #expect(await service.calls.isEmpty)
    }
  }

  @Test func everyScreenAsksItsQuestion() async {
    let screens: [(AuthNavigationState, String, AuthNavigationState)] = [
      (.login, "login", .login),
      (.signup(consentAccepted: true), "register", .signup(consentAccepted: true)),
      (.resetRequest, "requestReset", .resetVerify(pendingEmail: "test@example.com")),
      (.resetVerify(pendingEmail: "test@example.com"), "confirmReset", .login),
    ]
    for (screen, call, next) in screens {
      let service = ScriptedAccount()
      let model = await filled(screen, service: service)
      #expect(await model.state.canSubmit)
      await model.submit()
      let state = await model.state
      #expect(await service.calls == [call])
      #expect(state.slot == .empty && !state.isLoading)
      #expect(state.navigationState == next)
      #expect((state.session != nil) == ["login", "register"].contains(call))
    }
  }

  @Test func goingBackClearsEverythingTyped() async {
    let model = await filled(.login, service: ScriptedAccount())
    await model.update { $0.statusBanner = AuthBanner(type: .info, message: "x") }
    await model.navigateToChoice()
    #expect(await model.state == AuthFlowState())
  }

  @Test func anotherScreenTakesTheMessageAway() async {
    let model = AuthFlowModel(service: ScriptedAccount())
    #expect(await model.state.navigationState == .choice)
    for screen in 0..<3 {
      await model.update { $0.errorMessage = "x" }
      switch screen {
      case 0: await model.navigateToLogin()
      case 1: await model.navigateToSignup()
      default: await model.navigateToResetRequest()
      }
      #expect(await model.state.slot == .empty)
    }
  }

  @Test func aMessageStaysUntilDismissedOrSubmittedAgain() async {
    let service = ScriptedAccount(failure: AuthError.invalidCredentials)
    let model = await filled(.login, service: service)
    await model.submit()
    await model.update { $0.password = "another one" }
    #expect(await model.state.errorMessage != nil)
    await model.dismiss()
    #expect(await model.state.slot == .empty)
    await model.submit()
    #expect(await model.state.errorMessage != nil)
    await service.fail(with: nil)
    await model.submit()
    #expect(await model.state.slot == .empty)
  }

  @Test func everyScreenIsPartOfOneFlow() {
    let flows: [(AuthNavigationState, AuthFlow?)] = [
      (.choice, nil), (.login, .login), (.signup(consentAccepted: false), .signup),
      (.resetRequest, .reset), (.resetVerify(pendingEmail: "e"), .reset),
    ]
    for (screen, flow) in flows { #expect(screen.flow == flow) }
  }

  @Test func aSignupThatCannotBeIsNotSent() async {
    let service = ScriptedAccount()
    let model = await filled(.signup(consentAccepted: false), service: service)
    await model.performSignup(consentAccepted: false)
    #expect(await model.state.errorMessage == "You must accept the terms to continue.")
    #expect(await service.calls.isEmpty)
  }

  @Test func aResetThatFailsSaysSo() async {
    for screen in [AuthNavigationState.resetRequest, .resetVerify(pendingEmail: "e@f.gh")] {
      let model = await filled(screen, service: ScriptedAccount(failure: AuthError.otpIncorrect))
      await model.submit()
      #expect(
        await model.state.errorMessage == "That code isn't right. Double-check and try again.")
    }
  }

  @Test func anErrorAndABannerAtOnceCannotBe() {
    var state = AuthFlowState()
    state.statusBanner = AuthBanner(type: .info, message: "offline")
    state.errorMessage = "wrong"
    #expect(state.statusBanner == nil && state.slot == .error("wrong"))
    state.statusBanner = AuthBanner(type: .info, message: "offline")
    #expect(state.errorMessage == nil)
    state.statusBanner = nil
    #expect(state.slot == .empty)
  }

  @Test func onlyWhatClearsTheSessionClearsIt() async {
    let clears: [(Int, String?, Bool)] = [
      (401, "invalid_credentials", true), (401, "session_expired", true), (403, nil, true),
      (429, nil, false), (422, "user_already_exists", false), (500, nil, false),
    ]
    for (status, code, expected) in clears {
      let service = ScriptedAccount(
        failure: AuthClientError(status: status, code: code, message: ""))
      let model = await filled(.login, service: service)
      await model.update { $0.session = ScriptedAccount.session }
      await model.submit()
      #expect(await (model.state.session == nil) == expected, "\(status) \(code ?? "")")
    }
  }

  @Test func fieldErrorsOfTheHostBelongToTheirFields() async {
    let failure = APIFailure(
      error: .badRequest("Check the form"), status: 400, code: "VALIDATION_ERROR",
      validationErrors: [
        .init(field: "email", message: "Blocked domain"),
        .init(field: "newPassword", message: "Too common"),
        .init(field: "confirmPassword", message: "Differs"), .init(field: "x", message: "y"),
      ])
    let model = await filled(
      .signup(consentAccepted: true), service: ScriptedAccount(failure: failure))
    await model.submit()
    let state = await model.state
    #expect(
      state.fieldErrors
        == [.email: "Blocked domain", .password: "Too common", .confirmPassword: "Differs"])
    #expect(state.slot == .empty)
  }

  @Test(arguments: 0..<3)
  func aCancellationSaysNothing(index: Int) async {
    let errors: [any Error] = [CancellationError(), AppError.cancelled, APIFailure.cancelled]
    let model = await filled(.login, service: ScriptedAccount(failure: errors[index]))
    await model.submit()
    #expect(await model.state.slot == .empty)
    #expect(await !model.state.isLoading)
  }

  @Test func anAnswerToAScreenThatWasLeftIsNotShown() async {
    for failure in [AuthError.invalidCredentials, nil] {
      let service = ScriptedAccount(failure: failure, waits: true)
      let model = await filled(.login, service: service)
      async let submitted: Void = model.submit()
      await service.isAsked()
      #expect(await model.state.isLoading)
      await model.submit()
      #expect(await service.calls.count == 1, "a second submit asks again")
      await model.navigateToChoice()
      await service.release()
      await submitted
      #expect(await model.state == AuthFlowState())
    }
  }

  @Test func everyNewStateIsPublishedNewestFirst() async {
    let model = AuthFlowModel(service: ScriptedAccount())
    var states = await model.states().makeAsyncIterator()
    #expect(await states.next()?.navigationState == .choice)
    await model.navigateToLogin()
    await model.navigateToSignup()
    #expect(await states.next()?.navigationState == .signup(consentAccepted: false))
  }
}

@Suite struct AuthIdentifierTests {
  @Test func identifiersAndLabelsAreTheContracts() {
    #expect(
      AuthField.allCases.map(\.rawValue)
        == ["auth_email", "auth_password", "auth_confirm_password"])
    #expect(AuthField.allCases.map(\.label) == ["Email", "Password", "Confirm Password"])
    #expect(AuthIdentifier.choiceSignIn == "auth_choice_signin")
    #expect(AuthIdentifier.choiceSignUp == "auth_choice_signup")
    #expect(AuthIdentifier.consent == "auth_consent")
    #expect(AuthIdentifier.submit == "auth_submit")
    #expect(AuthIdentifier.signInLabel == "Sign In")
    #expect(AuthIdentifier.signInHint == "Navigate to login screen")
    #expect(AuthIdentifier.signUpLabel == "Create Account")
  }
}
