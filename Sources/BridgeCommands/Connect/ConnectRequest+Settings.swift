import BridgeErrors
import BridgeSSH

extension ConnectRequest {
  /// Adds what the configuration says about what runs.
  ///
  /// - Throws: `validationError` where it contradicts the command line.
  mutating func take(_ settings: ConnectSettings) throws(AppError) {
    guard takesSession, program?.request != .subsystem else { return }
    if let remote = settings.remoteCommand {
      guard command == nil else {
        throw .validationError(
          field: "RemoteCommand", message: "Cannot execute command-line and remote command.")
      }
      command = remote
    }
    guard !isIdle else { return }
    switch settings.sessionType ?? .default {
    case .default: return
    case .none: (isIdle, command, program) = (true, nil, nil)
    case .subsystem:
      guard let command else {
        throw .validationError(
          field: "SessionType", message: "You must specify a subsystem to invoke.")
      }
      program = try RemoteProgram(subsystem: program?.bytes ?? Array(command.utf8))
      durability = .never
    }
  }
}
