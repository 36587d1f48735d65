public import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import FoundationEssentials

/// The output of an agent that prints JSON, one value a line; else as `SessionLines`.
public struct DecodedLines<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  /// A value, or what is none.
  public typealias Element = DecodedLine<Value>
  /// Why the session is over for this client.
  public typealias Failure = AppError

  /// The lines, to commit one or to ask how far they are.
  public let lines: SessionLines

  /// Takes the values in order.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let lines: SessionLines.AsyncIterator
    let decoder = JSONDecoder()

    /// The next value, or what is none; nil after the last one, and when this client leaves.
    ///
    /// - Throws: as the iterator of `SessionLines`.
    public func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AppError) -> DecodedLine<Value>? {
      guard let line = try await lines.next() else { return nil }
      guard let stream = line.stream, let bytes = line.bytes, stream != .standardError else {
        return .other(line, reason: nil)
      }
      guard case .line = line.content else {
        return .other(line, reason: "The line is longer than the limit, or a part of it is lost.")
      }
      do {
        return .value(try decoder.decode(Value.self, from: Data(bytes)), line)
      } catch {
        return .other(line, reason: Self.reason(error))
      }
    }

    private static func reason(_ error: any Error) -> String {
      guard let error = error as? DecodingError else { return "The line is no JSON." }
      switch error {
      case .dataCorrupted(let context) where context.codingPath.isEmpty:
        return "The line is no JSON."
      case .dataCorrupted(let context), .keyNotFound(_, let context),
        .typeMismatch(_, let context), .valueNotFound(_, let context):
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
      @unknown default: return "The line has another value."
      }
    }
  }

  /// An iterator; two of one value share its lines.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(lines: lines.makeAsyncIterator())
  }
}

extension SessionLines {
  /// Its lines as JSON values.
  public nonisolated func json<Value: Decodable & Sendable>(
    as type: Value.Type
  ) -> DecodedLines<Value> {
    DecodedLines(lines: self)
  }
}
