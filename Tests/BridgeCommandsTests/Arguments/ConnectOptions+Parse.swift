import ArgumentParser
import BridgeCommands

extension ConnectOptions {
  /// The options in the words behind `bridgectl connect`.
  static func parse(_ arguments: [String]) throws -> ConnectOptions {
    try ConnectCommand.parse(arguments).options
  }
}
