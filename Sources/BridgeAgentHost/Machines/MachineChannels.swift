import BridgeErrors
import BridgeTransport

/// The channels of a machine for what comes before its sessions: installing what they need.
struct MachineChannels: ByteChannelSource {
  let machine: RemoteMachine

  func channel(running command: String) async throws(AppError) -> any ByteChannel {
    try await machine.openChannel(running: command)
  }
}
