import BridgeSessionHost

@main struct Main {
  static func main() { HostProgram.run(Array(CommandLine.arguments.dropFirst())) }
}
