import BridgeAccount
import BridgeErrors
import Foundation
import Testing

private func model(
  _ service: ScriptedAccount, email: String = "test@example.com", password: Secret = "password123"
) async -> LoginModel {
  let model = LoginModel(service: service)
  await model.update {
    $0.email = email
    $0.password = password
  }
  return model
}

/// The tests of the login's view model, under the names they have there.
@Suite struct LoginModelContractTests {
  @Test func testLogin_NetworkError_ShowsRetryableError() async {
    let model = await model(ScriptedAccount(failure: APIError.networkError))
    await model.login()
    let state = await model.state
    #expect(state.showError)
    #expect(state.isRetryable)
    #expect(
      state.errorMessage
        == "Unable to connect to the server. Please check your internet connection.")
  }

  /// Whichever service reports it (docs/contract.md, "Account").
  @Test func testLogin_ForbiddenError_SaysNoMoreThanAWrongPassword() async {
    for failure in [APIError.forbidden, APIFailure(error: .forbidden, status: 403)] as [any Error] {
      let model = await model(ScriptedAccount(failure: failure))
      await model.login()
      let state = await model.state
      #expect(state.showError)
      #expect(!state.isRetryable && !state.requiresReauth)
      #expect(state.errorMessage == "That email or password looks incorrect")
    }
  }

  @Test func testLogin_UnauthorizedError_ShowsAuthError() async {
    let model = await model(
      ScriptedAccount(failure: APIError.unauthorized), email: "wrong@example.com",
      password: "wrongpassword")
    await model.login()
    let state = await model.state
    #expect(state.showError)
    #expect(!state.isRetryable)
    #expect(state.errorMessage == "Your session has expired. Please log in again.")
  }

  @Test func testLogin_ValidationError_ShowsValidationMessage() async {
    let service = ScriptedAccount()
    let model = await model(service, email: "invalid-email")
    await model.login()
    let state = await model.state
    #expect(state.showError)
    #expect(!state.isRetryable)
    #expect(state.errorMessage == "Please enter a valid email address.")
    #expect(await service.calls.count == 0)
  }
}

@Suite struct LoginModelTests {
  static let inputs: [(String, Secret, String)] = [
    ("", "", "Please enter your email address."),
    ("nobody", "", "Please enter a valid email address."),
    ("nobody@example", "", "Please enter a valid email address."),
    ("a@example.com", "", "Please enter your password."),
    ("a@example.com", "1234567", "Password must be at least 8 characters."),
  ]

  @Test(arguments: inputs.indices)
  func theFirstThingWrongIsSaid(index: Int) async {
    let (email, password, expected) = Self.inputs[index]
    let service = ScriptedAccount()
    let model = await model(service, email: email, password: password)
    await model.login()
    let state = await model.state
    #expect(state.errorMessage == expected)
    #expect(state.showError && !state.isRetryable && !state.isLoading)
    #expect(await service.calls.isEmpty)
  }

  @Test func nothingIsShownAtTheStart() async {
    let state = await LoginModel(service: ScriptedAccount()).state
    #expect(!state.isLoading && !state.showError && !state.isRetryable && !state.requiresReauth)
    #expect(state.errorMessage.isEmpty && state.alert == nil)
  }

  struct Stranger: Error {}

  static let failures: [(any Error, String, [LoginAlert.Button])] = [
    (
      APIError.serverError(500), "Server error (500). Please try again later.",
      [.retry, .dismiss]
    ),
    (
      APIFailure(error: .unauthorized, status: 401),
      "Your session has expired. Please log in again.", [.logInAgain, .dismiss]
    ),
    (AuthError.invalidCredentials, "That email or password looks incorrect", [.dismiss]),
    (AuthError.accountLocked, "That email or password looks incorrect", [.dismiss]),
    (ValidationError.required(field: "Email"), "Email is required.", [.dismiss]),
    (Stranger(), "An unexpected error occurred. Please try again.", [.retry, .dismiss]),
  ]

  @Test(arguments: failures.indices)
  func theAlertOffersWhatTheErrorAllows(index: Int) async {
    let (failure, message, buttons) = Self.failures[index]
    let model = await model(ScriptedAccount(failure: failure))
    await model.login()
    let alert = await model.state.alert
    #expect(alert?.title == "Error")
    #expect(alert?.message == message)
    #expect(alert?.buttons == buttons)
    #expect(await !model.state.isLoading)
  }

  @Test func theButtonsAreNamedByTheirTexts() {
    #expect(LoginAlert.Button.allCases.map(\.rawValue) == ["Retry", "Log In Again", "OK"])
  }

  @Test func aCancellationIsNotShown() async {
    let model = await model(ScriptedAccount(failure: CancellationError()))
    await model.login()
    #expect(await model.state.alert == nil)
  }

  @Test func retryingSignsInAndClearsTheError() async {
    let service = ScriptedAccount(failure: APIError.requestTimeout)
    let model = await model(service)
    await model.login()
    await service.fail(with: nil)
    await model.retryLogin()
    let state = await model.state
    #expect(state.alert == nil && state.session == ScriptedAccount.session)
    #expect(await service.calls.count == 2)
  }

  @Test func clearingTakesAllFlagsBack() async {
    let model = await model(ScriptedAccount(failure: APIError.unauthorized))
    await model.login()
    await model.clearError()
    let state = await model.state
    #expect(!state.showError && state.errorMessage.isEmpty)
    #expect(!state.isRetryable && !state.requiresReauth)
  }

  @Test func signingInAgainIsTheHostPagesBusiness() async {
    await confirmation { asked in
      let model = LoginModel(
        service: ScriptedAccount(failure: APIError.unauthorized), onReauth: { asked() })
      await model.reauthenticate()
      #expect(await model.state.alert == nil)
    }
  }

  @Test func aSecondLoginWaitsForTheFirst() async {
    let service = ScriptedAccount(waits: true)
    let model = await model(service)
    async let first: Void = model.login()
    await service.isAsked()
    #expect(await model.state.isLoading)
    await model.login()
    await service.release()
    await first
    #expect(await service.calls.count == 1)
    #expect(await !model.state.isLoading)
  }

  @Test func everyNewStateIsPublished() async {
    let model = await model(ScriptedAccount(failure: APIError.networkError))
    var states = await model.states().makeAsyncIterator()
    #expect(await states.next()?.showError == false)
    await model.login()
    #expect(await states.next()?.showError == true)
  }
}
