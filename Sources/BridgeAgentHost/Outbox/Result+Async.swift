import BridgeErrors

extension Result where Success == Void, Failure == AppError {
  /// What `body` came to, for the other tasks of its group.
  init(catching body: () async throws(AppError) -> Void) async {
    do throws(AppError) {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
