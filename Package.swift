// swift-tools-version: 6.3
import PackageDescription

// The dialect, stated once for every Swift target. Why each line: CONTRIBUTING.md.
let dialect: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
  .strictMemorySafety(),  // SE-0458
  .treatAllWarnings(as: .error),  // SE-0480
]

let log = Target.Dependency.product(name: "Logging", package: "swift-log")
func nio(_ product: String) -> Target.Dependency { .product(name: product, package: "swift-nio") }
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let lifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle")
func hummingbird(_ product: String) -> Target.Dependency {
  .product(name: product, package: "hummingbird")
}
func metrics(_ product: String) -> Target.Dependency {
  .product(name: product, package: "swift-metrics")
}
func tracing(_ product: String) -> Target.Dependency {
  .product(name: product, package: "swift-distributed-tracing")
}
let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")

/// What `import Bridge` gives. Who imports it depends on each of them by name, too: a build looks
/// at the modules that are named, and would not compile anew when one behind Bridge changes.
let exported = [
  "BridgeErrors", "BridgeRecovery", "BridgeSSH", "BridgeSupervision", "BridgeTransport",
  "BridgeURLErrors", "BridgeWebSocket",
]
let bridge: [Target.Dependency] = (["Bridge"] + exported).map { .byName(name: $0) }

/// A static standard library makes the linker export every public name, a megabyte of text that no
/// library looks up. Not in a debug build: a sanitizer's names must be found.
let noExports: [LinkerSetting] = [
  .unsafeFlags(
    ["-Xlinker", "--no-export-dynamic"], .when(platforms: [.linux], configuration: .release))
]

/// An example that breaks links: every module that it needs, the faults, and the narrator.
func linkExample(_ name: String) -> Target {
  .executableTarget(
    name: name,
    dependencies: [
      "BridgeErrors", "BridgeFaults", "BridgeRecovery", "BridgeSSH", "BridgeSupervision",
      "BridgeTransport", "BridgeWebSocket", "Narration",
    ], path: "Examples/\(name)")
}

// Who may import whom; Tests/StyleTests holds the same table against the import lines.
let package = Package(
  name: "bridge",
  platforms: [.macOS(.v15), .iOS(.v18)],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
  ],
  targets: [
    .systemLibrary(name: "CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CLibSSH2", pkgConfig: "libssh2", providers: [.apt(["libssh2-1-dev"])]),
    .systemLibrary(name: "CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(
      name: "CLibWebSockets", pkgConfig: "libwebsockets",
      providers: [.apt(["libwebsockets-dev", "libwebsockets-evlib-uv", "libssl-dev"])]),
    .target(name: "Bridge", dependencies: exported.map { .byName(name: $0) }),
    .target(name: "BridgeErrors"),
    .target(name: "BridgeURLErrors", dependencies: ["BridgeErrors"]),
    .target(name: "BridgeAccount", dependencies: ["BridgeErrors", "BridgeURLErrors"]),
    .target(name: "BridgeDiagnostics", dependencies: ["BridgeErrors", "CLibCrypto", log]),
    .target(name: "BridgeHTTP", dependencies: ["BridgeErrors", "BridgeURLErrors"]),
    .target(name: "BridgeRecovery", dependencies: ["BridgeErrors"]),
    .target(name: "BridgeWaiting", dependencies: ["BridgeErrors"]),
    .target(
      name: "BridgeTransport", dependencies: ["BridgeErrors", "BridgeWaiting", "CSessionSystem"]),
    .target(
      name: "BridgeReactor",
      dependencies: ["BridgeTransport", "BridgeErrors", "BridgeWaiting", "CLibUV"]),
    .target(
      name: "BridgeFaults",
      dependencies: [
        "BridgeErrors", nio("NIOCore"), nio("NIOHTTP1"), nio("NIOPosix"), nio("NIOWebSocket"),
      ]),
    .target(
      name: "BridgeSupervision",
      dependencies: ["BridgeRecovery", "BridgeTransport", "BridgeErrors", "BridgeWaiting"]),
    .target(
      name: "BridgeService",
      dependencies: ["BridgeAgentHost", "BridgeSupervision", "BridgeErrors", lifecycle]),
    .target(
      name: "BridgeMetrics",
      dependencies: [
        "BridgeAgentHost", "BridgeDiagnostics", "BridgeErrors", "BridgeRecovery", "BridgeStore",
        "BridgeSupervision", lifecycle, log, metrics("Metrics"), tracing("Tracing"),
      ]),
    .target(
      name: "BridgeConsole",
      dependencies: [
        "BridgeAgentHost", "BridgeErrors", "BridgeMetrics", "BridgeRecovery", "BridgeSSH",
        "BridgeSession", "BridgeSessionProtocol", "BridgeStore", "BridgeSupervision",
        "BridgeTerminalState", "BridgeWaiting", hummingbird("Hummingbird"),
        hummingbird("HummingbirdCore"), hummingbird("HummingbirdTLS"),
        .product(name: "HTTPTypes", package: "swift-http-types"), lifecycle, log, nio("NIOCore"),
      ],
      // In the program: one file is copied, and no folder is missing beside it.
      resources: [.embedInCode("Resources")]),
    .target(
      name: "BridgeTestKit",
      dependencies: ["BridgeRecovery", "BridgeTransport", "BridgeErrors", "BridgeWaiting"]),
    .executableTarget(
      name: "domain-errors", dependencies: ["BridgeDiagnostics", "BridgeErrors", "BridgeRecovery"],
      path: "Examples/domain-errors"),
    .executableTarget(
      name: "remote-command", dependencies: bridge, path: "Examples/remote-command"),
    .executableTarget(
      name: "supervised-command", dependencies: bridge, path: "Examples/supervised-command"),
    .executableTarget(
      name: "supervised-messages", dependencies: bridge, path: "Examples/supervised-messages"),
    .executableTarget(
      name: "build-and-chat", dependencies: bridge, path: "Examples/build-and-chat"),
    .target(
      name: "Narration",
      dependencies: [
        "BridgeErrors", "BridgeFaults", "BridgeRecovery", "BridgeSSH", "BridgeSupervision",
        "BridgeTransport", "BridgeWebSocket",
      ], path: "Examples/Narration"),
    .executableTarget(
      name: "agent-session",
      dependencies: [
        "BridgeAgentHost", "BridgeErrors", "BridgeFaults", "BridgeSSH", "BridgeSession",
        "BridgeSessionProtocol", "BridgeTransport", "Narration", "bridge-host",
      ], path: "Examples/agent-session"),
    .executableTarget(
      name: "agent-host",
      dependencies: [
        "BridgeAgentHost", "BridgeConsole", "BridgeErrors", "BridgeMetrics", "BridgeService",
        "BridgeSessionProtocol", "BridgeStore", "BridgeStoreSQLite", "BridgeSupervision",
        "BridgeWebSocket", lifecycle, log,
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ], path: "Examples/agent-host", exclude: ["chat.py"]),
    linkExample("ssh-auth-failure"), linkExample("ssh-host-key-change"),
    linkExample("ssh-network-drop"), linkExample("retry-storm"), linkExample("severity-queue"),
    .executableTarget(
      name: "soak",
      dependencies: [
        "BridgeAgentHost", "BridgeErrors", "BridgeFaults", "BridgeMetrics", "BridgeRecovery",
        "BridgeSSH", "BridgeService", "BridgeSession", "BridgeSessionProtocol", "BridgeStore",
        "BridgeStorePostgres", "BridgeSupervision", "BridgeTerminalState", "BridgeTransport",
        "BridgeWaiting", "BridgeWebSocket", "Narration", "bridge-host", lifecycle, log,
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ], path: "Examples/soak"),
    linkExample("supervised-fleet"),
    linkExample("websocket-close-codes"), linkExample("websocket-handshake-stall"),
    .testTarget(name: "BridgeErrorsTests", dependencies: ["BridgeErrors"]),
    .testTarget(name: "BridgeURLErrorsTests", dependencies: ["BridgeURLErrors", "BridgeErrors"]),
    .testTarget(name: "BridgeAccountTests", dependencies: ["BridgeAccount", "BridgeErrors"]),
    .testTarget(
      name: "BridgeDiagnosticsTests", dependencies: ["BridgeDiagnostics", "BridgeErrors", log]),
    .testTarget(
      name: "BridgeHTTPTests", dependencies: ["BridgeHTTP", "BridgeErrors", "BridgeTestKit"]),
    .testTarget(
      name: "BridgeReactorTests",
      dependencies: [
        "BridgeReactor", "BridgeTransport", "BridgeErrors", "BridgeTestKit", "BridgeWaiting",
      ]),
    .testTarget(
      name: "BridgeFaultsTests",
      dependencies: ["BridgeFaults", "BridgeTestKit", nio("NIOCore"), nio("NIOPosix")]),
    .testTarget(
      name: "BridgeServiceTests",
      dependencies: [
        "BridgeAgentHost", "BridgeService", "BridgeStore", "BridgeStoreSQLite",
        "BridgeSupervision", "BridgeErrors", "BridgeTestKit", "BridgeWaiting", lifecycle, log,
      ]),
    .testTarget(
      name: "BridgeMetricsTests",
      dependencies: [
        "BridgeAgentHost", "BridgeDiagnostics", "BridgeErrors", "BridgeMetrics", "BridgeRecovery",
        "BridgeStore", "BridgeStoreSQLite", "BridgeSupervision", "BridgeTestKit", lifecycle, log,
        metrics("Metrics"), metrics("MetricsTestKit"), tracing("InMemoryTracing"),
        tracing("Tracing"),
      ]),
    .testTarget(
      name: "BridgeConsoleTests",
      dependencies: [
        "BridgeAgentHost", "BridgeConsole", "BridgeErrors", "BridgeFaults", "BridgeRecovery",
        "BridgeSSH", "BridgeSession", "BridgeSessionProtocol", "BridgeStore", "BridgeStoreSQLite",
        "BridgeSupervision", "BridgeTerminalState", "BridgeTestKit", "BridgeTransport",
        "BridgeWaiting", "bridge-host", lifecycle, log,
      ], exclude: ["Browser/accessibility.js"]),
    .testTarget(
      name: "BridgeSupervisionTests",
      dependencies: [
        "BridgeSupervision", "BridgeRecovery", "BridgeTransport", "BridgeErrors", "BridgeTestKit",
      ]),
    .testTarget(
      name: "BridgeTestKitTests",
      dependencies: ["BridgeErrors", "BridgeTestKit", "BridgeTransport"]),
    .testTarget(
      name: "BridgeTransportTests",
      dependencies: ["BridgeTransport", "BridgeErrors", "BridgeTestKit"]),
    .testTarget(
      name: "BridgeWaitingTests",
      dependencies: ["BridgeWaiting", "BridgeErrors", "BridgeTestKit"]),
    .testTarget(
      name: "ExampleTests",
      dependencies: [
        "BridgeFaults", "BridgeSessionProtocol", "BridgeStore", "BridgeStoreSQLite",
        "BridgeTestKit", "agent-host", "agent-session", "bridge-host", "build-and-chat",
        "domain-errors", "remote-command",
        "retry-storm", "severity-queue", "soak", "ssh-auth-failure", "ssh-host-key-change",
        "ssh-network-drop",
        "supervised-command", "supervised-fleet", "supervised-messages", "websocket-close-codes",
        "websocket-handshake-stall",
      ]),
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "Bridge", "BridgeAccount", "BridgeErrors", "BridgeFaults", "BridgeHTTP", "BridgeRecovery",
        "BridgeSSH", "BridgeSupervision", "BridgeTestKit", "BridgeTransport", "BridgeWaiting",
        "bridge-host", "bridgectl",
      ]),
    .testTarget(name: "StyleTests"),
    .testTarget(name: "BridgeRecoveryTests", dependencies: ["BridgeRecovery", "BridgeErrors"]),
    .target(
      name: "BridgeSSH",
      dependencies: [
        "BridgeReactor", "BridgeTransport", "BridgeErrors", "BridgeWaiting", "CLibSSH2",
        "CLibCrypto",
      ]),
    .testTarget(
      name: "BridgeSSHTests",
      dependencies: [
        "BridgeErrors", "BridgeFaults", "BridgeReactor", "BridgeSSH", "BridgeTestKit",
        "BridgeTransport", "BridgeWaiting", "CLibCrypto",
      ]),
    .target(
      name: "BridgeTerminal",
      dependencies: ["BridgeTransport", "BridgeErrors", "BridgeWaiting", "CSessionSystem"]),
    .testTarget(
      name: "BridgeTerminalTests", dependencies: ["BridgeTerminal", "BridgeTestKit"]),
    .target(
      name: "BridgeCommands",
      dependencies: [
        "BridgeTerminal", "BridgeSupervision", "BridgeRecovery", "BridgeSSH", "BridgeWebSocket",
        "BridgeReactor",
        "BridgeTransport", "BridgeDiagnostics", "BridgeErrors", "BridgeFiles", "BridgeSession",
        "BridgeSessionProtocol", "BridgeTerminalState", "BridgeWaiting", argumentParser,
      ]),
    .executableTarget(
      name: "bridgectl", dependencies: ["BridgeCommands"], linkerSettings: noExports),
    .testTarget(
      name: "BridgeCommandsTests",
      dependencies: [
        "BridgeCommands", "BridgeFiles", "BridgeReactor", "BridgeRecovery", "BridgeSSH",
        "BridgeSession", "BridgeSessionProtocol", "BridgeTerminal", "BridgeTerminalState",
        "BridgeTestKit", "BridgeWebSocket", "BridgeTransport", "BridgeErrors", "BridgeFaults",
        argumentParser,
      ]),
    .target(
      name: "BridgeWebSocket",
      dependencies: [
        "BridgeReactor", "BridgeTransport", "BridgeErrors", "BridgeWaiting", "CLibWebSockets",
        "CLibUV", "CLibCrypto",
      ]),
    .testTarget(
      name: "BridgeWebSocketTests",
      dependencies: [
        "BridgeErrors", "BridgeFaults", "BridgeReactor", "BridgeTestKit", "BridgeTransport",
        "BridgeWaiting", "BridgeWebSocket",
      ]),

    // Durable sessions.
    .target(name: "BridgeTerminalState"),
    .testTarget(
      name: "BridgeTerminalStateTests", dependencies: ["BridgeFaults", "BridgeTerminalState"]),
    .target(name: "BridgeSessionProtocol"),
    .testTarget(name: "BridgeSessionProtocolTests", dependencies: ["BridgeSessionProtocol"]),
    .systemLibrary(name: "CSessionSystem"),
    .target(
      name: "BridgeFiles",
      dependencies: ["BridgeSessionProtocol", "CLibCrypto", "CSessionSystem"]),
    .testTarget(name: "BridgeFilesTests", dependencies: ["BridgeFiles", "BridgeSessionProtocol"]),
    .target(
      name: "BridgeSessionHost",
      dependencies: [
        "BridgeFiles", "BridgeSessionProtocol", "BridgeTerminalState", "CSessionSystem",
      ]),
    .target(
      name: "BridgeSession",
      dependencies: [
        "BridgeFiles", "BridgeSessionProtocol", "BridgeTransport", "BridgeErrors", "BridgeWaiting",
      ]),
    .testTarget(
      name: "BridgeSessionTests",
      dependencies: [
        "BridgeAgentHost", "BridgeErrors", "BridgeFaults", "BridgeReactor", "BridgeRecovery",
        "BridgeSSH", "BridgeSession", "BridgeSessionProtocol", "BridgeStore", "BridgeStoreSQLite",
        "BridgeSupervision", "BridgeTerminalState", "BridgeTestKit", "BridgeTransport",
        "BridgeWaiting", "BridgeWebSocket", "bridge-host",
      ]),
    .target(
      name: "BridgeAgentHost",
      dependencies: [
        "BridgeErrors", "BridgeSSH", "BridgeSession", "BridgeSessionProtocol", "BridgeStore",
        "BridgeSupervision", "BridgeTerminalState", "BridgeTransport", "BridgeWaiting",
        "BridgeWebSocket",
      ]),
    .testTarget(
      name: "BridgeAgentHostTests",
      dependencies: [
        "BridgeAgentHost", "BridgeErrors", "BridgeFaults", "BridgeSession",
        "BridgeSessionProtocol", "BridgeStore", "BridgeTestKit", "BridgeWaiting",
        "BridgeWebSocket",
      ]),

    // What agent hosts keep. A program without PostgreSQL links no libpq.
    .target(name: "BridgeStore", dependencies: ["BridgeErrors", "BridgeWaiting"]),
    .target(
      name: "BridgeStoreSQLite",
      dependencies: ["BridgeStore", "BridgeErrors", "BridgeTransport", grdb]),
    .target(
      name: "BridgeStorePostgres",
      dependencies: [
        "BridgeStore", "BridgeErrors", "BridgeRecovery", "BridgeTransport", "BridgeWaiting",
        "CLibPQ",
      ]),
    .testTarget(
      name: "BridgeStoreTests",
      dependencies: [
        "BridgeAgentHost", "BridgeErrors", "BridgeRecovery", "BridgeStore",
        "BridgeStorePostgres", "BridgeStoreSQLite", "BridgeTestKit", "BridgeTransport",
        "BridgeWaiting", grdb,
      ]),
    .executableTarget(name: "bridge-host", dependencies: ["BridgeSessionHost"]),
    .testTarget(
      name: "BridgeSessionHostTests",
      dependencies: [
        "BridgeSessionHost", "BridgeSessionProtocol", "BridgeTerminalState", "bridge-host",
      ]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
  target.swiftSettings = (target.swiftSettings ?? []) + dialect
}

// Every library target is a product of the same name, but for what only examples share.
package.products += package.targets.filter { $0.type == .regular && $0.path == nil }
  .map { .library(name: $0.name, targets: [$0.name] + ($0.name == "Bridge" ? exported : [])) }
