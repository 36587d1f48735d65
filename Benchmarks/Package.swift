// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that it sees what any other client sees: products only.
let package = Package(
  name: "bridge-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "bridge", path: "..")],
  targets: [
    .executableTarget(
      name: "bridge-bench",
      dependencies: [
        .product(name: "BridgeAgentHost", package: "bridge"),
        .product(name: "BridgeConsole", package: "bridge"),
        .product(name: "BridgeErrors", package: "bridge"),
        .product(name: "BridgeFaults", package: "bridge"),
        .product(name: "BridgeReactor", package: "bridge"),
        .product(name: "BridgeRecovery", package: "bridge"),
        .product(name: "BridgeSSH", package: "bridge"),
        .product(name: "BridgeSession", package: "bridge"),
        .product(name: "BridgeSessionProtocol", package: "bridge"),
        .product(name: "BridgeStore", package: "bridge"),
        .product(name: "BridgeStorePostgres", package: "bridge"),
        .product(name: "BridgeStoreSQLite", package: "bridge"),
        .product(name: "BridgeSupervision", package: "bridge"),
        .product(name: "BridgeTransport", package: "bridge"),
        .product(name: "BridgeWebSocket", package: "bridge"),
      ],
      // The same dialect as the main package.
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
      ])
  ],
  swiftLanguageModes: [.v6]
)
