import BridgeErrors

extension Result where Failure == AppError {
  /// What `body` came to, for the other tasks of its group.
  init(catching body: () async throws(AppError) -> Success) async {
    do throws(AppError) {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
