/// One `import` line.
struct ImportLine: Equatable {
  var module: String
  var line: Int
  var isReexported: Bool
  /// Whether it is the first after an `#else`.
  var isInElse: Bool
}

extension SourceFile {
  /// Every import, whatever stands before the keyword (`@testable`, `public`, `package`, …) or
  /// between it and the module (`struct`, `func`, …).
  var imports: [ImportLine] {
    let kinds: Set = [
      "struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor",
    ]
    return tokens.indices.compactMap { index in
      guard token(at: index) == "import", token(at: index - 1) != "." else { return nil }
      guard tokens.indices.contains(index + 1) else { return nil }
      let named = kinds.contains(token(at: index + 1)) ? index + 2 : index + 1
      let attribute = token(at: index - 1) == "_exported" || token(at: index - 2) == "_exported"
      let hasLevel = ["public", "package", "internal"].contains(token(at: index - 1))
      let before = hasLevel ? index - 2 : index - 1
      return ImportLine(
        module: token(at: named), line: tokens[index].line, isReexported: attribute,
        isInElse: token(at: before) == "else" && token(at: before - 1) == "#")
    }
  }
}

/// Who may import whom, directly. The compiler's import check lets transitive imports pass; this
/// table does not.
struct ImportTable: Sendable {
  struct Row: Sendable {
    var target: String
    var modules: Set<String>
    /// What its `Native/` folders may import besides.
    var native: Set<String> = []
    /// What of the platform they may use.
    var platform = ImportTable.platform
  }

  /// What every `Native/` folder may use: the platform's own libraries and atomics.
  static let platform: Set = ["Dispatch", "FoundationEssentials", "Glibc", "Synchronization"]
  /// Foundation besides, where no program for users links it.
  static let wholePlatform = platform.union(["Foundation"])
  /// What stands in for them on Apple's systems, behind `#else`.
  static let apple: Set = ["Darwin", "Foundation"]
  /// What every test may use.
  static let testing: Set = ["Testing", "Foundation", "Logging", "BridgeTestKit", "BridgeFaults"]

  static let libraries: [Row] = [
    Row(
      target: "Bridge",
      modules: [
        "BridgeErrors", "BridgeRecovery", "BridgeSSH", "BridgeSupervision", "BridgeTransport",
        "BridgeURLErrors", "BridgeWebSocket",
      ], platform: []),
    Row(target: "BridgeErrors", modules: apple.union(["FoundationEssentials", "Glibc"])),
    Row(target: "BridgeURLErrors", modules: ["BridgeErrors", "Foundation"]),
    Row(target: "BridgeAccount", modules: ["BridgeErrors", "BridgeURLErrors", "Foundation"]),
    Row(target: "BridgeRecovery", modules: ["BridgeErrors"]),
    Row(target: "BridgeWaiting", modules: ["BridgeErrors"]),
    Row(
      target: "BridgeTransport", modules: ["BridgeErrors", "BridgeWaiting"],
      native: ["CSessionSystem"]),
    Row(
      target: "BridgeReactor", modules: ["BridgeErrors", "BridgeTransport", "BridgeWaiting"],
      native: ["CLibUV"]),
    Row(
      target: "BridgeSSH",
      modules: ["BridgeErrors", "BridgeReactor", "BridgeTransport", "BridgeWaiting"],
      native: ["CLibCrypto", "CLibSSH2"]),
    Row(
      target: "BridgeWebSocket",
      modules: ["BridgeErrors", "BridgeReactor", "BridgeTransport", "BridgeWaiting"],
      native: ["CLibCrypto", "CLibUV", "CLibWebSockets"]),
    Row(
      target: "BridgeSupervision",
      modules: ["BridgeErrors", "BridgeRecovery", "BridgeTransport", "BridgeWaiting"]),
    Row(
      target: "BridgeDiagnostics", modules: ["BridgeErrors", "FoundationEssentials", "Logging"],
      native: ["CLibCrypto"]),
    Row(
      target: "BridgeHTTP",
      modules: ["BridgeErrors", "BridgeURLErrors", "Foundation", "FoundationNetworking"]),
    Row(
      target: "BridgeService",
      modules: ["BridgeAgentHost", "BridgeErrors", "BridgeSupervision", "ServiceLifecycle"]),
    Row(
      target: "BridgeMetrics",
      modules: [
        "BridgeAgentHost", "BridgeDiagnostics", "BridgeErrors", "BridgeRecovery", "BridgeStore",
        "BridgeSupervision", "Logging", "Metrics", "ServiceLifecycle", "Tracing",
      ]),
    Row(
      target: "BridgeConsole",
      modules: [
        "BridgeAgentHost", "BridgeErrors", "BridgeMetrics", "BridgeRecovery", "BridgeSSH",
        "BridgeSession", "BridgeSessionProtocol", "BridgeStore", "BridgeSupervision",
        "BridgeTerminalState", "BridgeWaiting", "Foundation", "FoundationEssentials", "HTTPTypes",
        "Hummingbird", "HummingbirdCore", "HummingbirdTLS", "Logging", "NIOCore",
        "ServiceLifecycle",
      ]),
    Row(
      target: "BridgeFaults",
      modules: ["BridgeErrors", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOWebSocket"],
      platform: wholePlatform),
    Row(
      target: "BridgeTestKit",
      modules: ["BridgeErrors", "BridgeRecovery", "BridgeTransport", "BridgeWaiting"],
      platform: wholePlatform),
    Row(
      target: "BridgeCommands",
      modules: [
        "ArgumentParser", "BridgeDiagnostics", "BridgeErrors", "BridgeFiles",
        "BridgeReactor", "BridgeRecovery", "BridgeSSH", "BridgeSession",
        "BridgeSessionProtocol", "BridgeSupervision", "BridgeTerminal", "BridgeTerminalState",
        "BridgeTransport",
        "BridgeWaiting", "BridgeWebSocket", "FoundationEssentials", "Logging",
      ], platform: []),
    Row(
      target: "BridgeTerminal", modules: ["BridgeErrors", "BridgeTransport", "BridgeWaiting"],
      native: ["CSessionSystem"]),
    Row(target: "bridgectl", modules: ["BridgeCommands"]),
    Row(target: "BridgeSessionProtocol", modules: [], platform: []),
    Row(target: "BridgeTerminalState", modules: [], platform: ["Glibc"]),
    // Both are in one static executable: Foundation would double its size and its memory.
    Row(
      target: "BridgeFiles", modules: ["BridgeSessionProtocol"],
      native: ["CLibCrypto", "CSessionSystem"], platform: ["Glibc"]),
    Row(
      target: "BridgeSessionHost",
      modules: ["BridgeFiles", "BridgeSessionProtocol", "BridgeTerminalState"],
      native: ["CSessionSystem"], platform: ["Glibc"]),
    Row(
      target: "BridgeSession",
      modules: [
        "BridgeErrors", "BridgeFiles", "BridgeSessionProtocol", "BridgeTransport", "BridgeWaiting",
      ], platform: []),
    Row(
      target: "BridgeAgentHost",
      modules: [
        "BridgeErrors", "BridgeSSH", "BridgeSession", "BridgeSessionProtocol", "BridgeStore",
        "BridgeSupervision", "BridgeTerminalState", "BridgeTransport", "BridgeWaiting",
        "BridgeWebSocket", "FoundationEssentials",
      ], platform: []),
    Row(
      target: "BridgeStore", modules: ["BridgeErrors", "BridgeWaiting", "FoundationEssentials"],
      platform: []),
    Row(
      target: "BridgeStoreSQLite",
      modules: [
        "BridgeErrors", "BridgeStore", "BridgeTransport", "FoundationEssentials", "GRDB",
      ], platform: ["Glibc"]),
    Row(
      target: "BridgeStorePostgres",
      modules: [
        "BridgeErrors", "BridgeRecovery", "BridgeStore", "BridgeTransport", "BridgeWaiting",
        "FoundationEssentials",
      ], native: ["CLibPQ"], platform: ["Glibc"]),
    Row(target: "bridge-host", modules: ["BridgeSessionHost"], platform: []),
  ]
  static let systemLibraries: Set = [
    "CLibCrypto", "CLibPQ", "CLibSSH2", "CLibUV", "CLibWebSockets", "CSessionSystem",
  ]
  /// Executables: neither products for programs nor rows of the README's table.
  static let executables: Set = ["bridge-host", "bridgectl"]

  /// The modules that `target` links, itself included.
  static func linked(into target: String) -> Set<String> {
    var (found, open): (Set<String>, Set<String>) = ([], [target])
    while let next = open.popFirst() {
      guard let row = libraries.first(where: { $0.target == next }) else { continue }
      found.insert(next)
      open.formUnion(row.modules.subtracting(found))
    }
    return found
  }

  /// What programs outside Sources may import: every product, and Foundation.
  static let products = Set(libraries.map(\.target)).subtracting(executables)
  static let forPrograms = products.union(["Foundation"])
  /// What a program that runs in a service group imports besides.
  static let services: Set = ["Logging", "ServiceLifecycle", "UnixSignals"]

  /// The modules `file` may import.
  static func allowed(in file: SourceFile) -> Set<String> {
    if file.name == "Package.swift" { return ["PackageDescription"] }
    switch file.area {
    case "Sources": return allowed(inTarget: file.target, isNative: file.isNative)
    case "Examples": return forPrograms.union(services).union(["Narration"])
    case "Benchmarks": return forPrograms.union(file.isNative ? platform : [])
    case "Tests": return allowed(inTest: file)
    default: return []
    }
  }

  private static func allowed(inTarget target: String, isNative: Bool) -> Set<String> {
    guard let row = libraries.first(where: { $0.target == target }) else { return [] }
    return isNative ? row.modules.union(row.native).union(row.platform) : row.modules
  }

  private static func allowed(inTest file: SourceFile) -> Set<String> {
    let everyTarget: Set = ["BridgeSessionTests", "ExampleTests", "IntegrationTests"]
    let native = file.isNative ? platform : []
    // One specification for every store.
    if file.target == "BridgeStoreTests" {
      return testing.union(products).union(["GRDB"]).union(native)
    }
    // Real agents on a real store, in a real group.
    let services: [String: Set<String>] = [
      "BridgeConsoleTests": ["ServiceLifecycle"], "BridgeServiceTests": ["ServiceLifecycle"],
      "BridgeMetricsTests": [
        "InMemoryTracing", "Metrics", "MetricsTestKit", "ServiceLifecycle", "Tracing",
      ],
    ]
    if let modules = services[file.target] {
      return testing.union(products).union(modules).union(native)
    }
    if everyTarget.contains(file.target) { return testing.union(products).union(native) }
    guard file.target.hasSuffix("Tests") else { return testing }
    let target = String(file.target.dropLast("Tests".count))
    return allowed(inTarget: target, isNative: file.isNative).union([target]).union(testing)
      .union(native)
  }
}
