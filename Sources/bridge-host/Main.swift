import BridgeSessionHost

@main struct BridgeHost {
  static func main() { HostProgram.run(Array(CommandLine.arguments.dropFirst())) }
}
