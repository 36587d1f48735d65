import BridgeErrors
import BridgeTerminal
import BridgeTransport

/// Input and output carried to and from a target behind the host.
struct TunnelCarrier: Sendable {
  enum End: Sendable {
    /// The target has sent its last byte.
    case outputEnded
    /// Nothing reads the output any more.
    case outputClosed
    case lost
  }

  private enum Step {
    case inputEnded
    case ended(End)
  }

  let tunnel: any ByteChannel
  let input: DescriptorReader
  let output: DescriptorWriter

  /// Until the target has sent its last byte, as ssh does, or one direction cannot go on.
  func run() async -> End {
    await withTaskGroup(of: Step.self) { group in
      group.addTask { await carryInput() }
      group.addTask { .ended(await carryOutput()) }
      defer { group.cancelAll() }
      while let step = await group.next() {
        if case .ended(let end) = step { return end }
      }
      return .lost
    }
  }

  private func carryInput() async -> Step {
    do throws(AppError) {
      while true {
        switch await input.read() {
        case .bytes(let bytes): try await tunnel.write(bytes)
        case .end:
          try await tunnel.finish()
          return .inputEnded
        case .cancelled: return .ended(.lost)
        }
      }
    } catch {
      // The target takes no more, or the link is lost; what has come is read, and tells which.
      return .inputEnded
    }
  }

  private func carryOutput() async -> End {
    do throws(AppError) {
      while let bytes = try await tunnel.read() {
        switch await output.write(bytes) {
        case .written: continue
        case .queued: return .lost
        case .failed: return .outputClosed
        }
      }
      return .outputEnded
    } catch {
      return .lost
    }
  }
}
