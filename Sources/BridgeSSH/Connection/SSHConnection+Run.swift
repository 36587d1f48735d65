public import BridgeErrors

extension SSHConnection {
  /// Runs `command` to its end, without input, and returns all that it printed.
  ///
  /// For output of any length, input or a terminal: `execute`.
  /// - Parameter limit: The most bytes that each of the two streams may have; 1 MiB by default.
  /// - Throws: `validationError` when it printed more (it is closed then, and goes on only as long
  ///   as it can without a reader); otherwise as `execute` and `exitStatus()`.
  public nonisolated func run(
    _ command: String, limit: Int = 1 << 20
  ) async throws(AppError) -> CommandResult {
    let channel = try await execute(command)
    do throws(AppError) {
      try await channel.finishInput()
      let (output, errorOutput) = try await channel.collect(limit: limit)
      return CommandResult(
        output: output, errorOutput: errorOutput, status: try await channel.exitStatus())
    } catch {
      await channel.close()
      throw error
    }
  }
}

extension SSHChannel {
  /// Reads both streams at once: a command that fills one waits for its reader.
  fileprivate func collect(limit: Int) async throws(AppError) -> ([UInt8], [UInt8]) {
    let streams = [standardOutput, standardError]
    let results = await withTaskGroup(of: (Int, Result<[UInt8], AppError>).self) { group in
      for (index, stream) in streams.enumerated() {
        group.addTask { (index, await stream.collect(limit: limit)) }
      }
      var results: [Result<[UInt8], AppError>] = [.success([]), .success([])]
      for await (index, result) in group {
        results[index] = result
        // The other stream may never end.
        if case .failure = result { group.cancelAll() }
      }
      return results
    }
    // A stream that was only canceled with the other is not the reason.
    if case .failure(let error) = results[1], case .failure(.cancelled) = results[0] { throw error }
    return (try results[0].get(), try results[1].get())
  }
}

extension ByteStream {
  fileprivate func collect(limit: Int) async -> Result<[UInt8], AppError> {
    var bytes: [UInt8] = []
    do throws(AppError) {
      for try await chunk in self {
        bytes += chunk
        guard bytes.count <= limit else {
          throw .validationError(
            field: "command", message: "It printed more than \(limit) bytes; read its streams.")
        }
      }
      return .success(bytes)
    } catch {
      return .failure(error)
    }
  }
}
