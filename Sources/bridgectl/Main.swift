import BridgeCommands

@main
enum Main {
  static func main() async {
    await BridgeCommand.start()
  }
}
