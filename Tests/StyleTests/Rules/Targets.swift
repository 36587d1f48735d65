extension Rule {
  private static let inBridgectl = ImportTable.linked(into: "bridgectl")

  static let targets = [
    Rule(
      "every source lies in a known target",
      breaks: [
        SourceFile("Sources/BridgeExtras/A.swift", ""), SourceFile("Sources/A.swift", ""),
        SourceFile("Tests/BridgeExtrasTests/A.swift", ""),
      ],
      keeps: [
        library(""), test(""), SourceFile("Sources/CLibUV/shim.h", ""),
        SourceFile("Tests/IntegrationTests/A.swift", ""),
      ]
    ) { file in
      switch file.area {
      case "Sources":
        let targets = Set(ImportTable.libraries.map(\.target)).union(ImportTable.systemLibraries)
        return targets.contains(file.target) ? [] : [0]
      case "Tests":
        let whole: Set = ["ExampleTests", "IntegrationTests", "StyleTests"]
        let targets = whole.union(ImportTable.libraries.map { $0.target + "Tests" })
        return targets.contains(file.target) ? [] : [0]
      default: return []
      }
    },
    Rule(
      "a system library is a module map and one header: no C file",
      breaks: [SourceFile("Sources/CLibUV/shim.c", ""), SourceFile("Sources/CLibUV/a.h", "")],
      keeps: [
        SourceFile("Sources/CLibUV/shim.h", ""), SourceFile("Sources/CLibUV/module.modulemap", ""),
      ]
    ) { file in
      guard file.area == "Sources", ImportTable.systemLibraries.contains(file.target) else {
        return []
      }
      return ["shim.h", "module.modulemap"].contains(file.name) ? [] : [0]
    },
    Rule(
      "a file imports only what the table allows its target",
      breaks: [
        library("public import BridgeRecovery"),
        SourceFile("Sources/BridgeSSH/A.swift", "package import CLibSSH2"),
        SourceFile("Sources/BridgeRecovery/A.swift", "import struct Foundation.Date"),
        native("import CLibUV"), native("import Foundation"), test("@testable import BridgeSSH"),
        SourceFile("Sources/BridgeFaults/A.swift", "import BridgeReactor"),
        SourceFile("Sources/BridgeSessionProtocol/A.swift", "import Foundation"),
        SourceFile("Sources/BridgeSessionProtocol/Native/A.swift", "import Glibc"),
        SourceFile("Sources/BridgeSessionHost/Native/A.swift", "import Foundation"),
        SourceFile("Examples/Hello/A.swift", "import CLibSSH2"),
      ],
      keeps: [
        library("public import struct FoundationEssentials.Date"),
        native("package import CLibSSH2"),
        SourceFile("Sources/BridgeFaults/Native/A.swift", "import Foundation"),
        test("@testable import BridgeErrors\nimport Testing"),
        commands("import BridgeSSH\nimport ArgumentParser"),
        SourceFile("Tests/BridgeSSHTests/Native/A.swift", "import CLibSSH2"),
        SourceFile("Sources/BridgeSessionHost/Native/A.swift", "import CSessionSystem"),
        SourceFile("Tests/BridgeSessionProtocolTests/Native/A.swift", "import Glibc"),
      ]
    ) { file in
      guard file.isSwift else { return [] }
      let allowed = ImportTable.allowed(in: file)
      return file.imports.filter { !allowed.contains($0.module) }.map(\.line)
    },
    Rule(
      "what bridgectl links imports of Foundation its essentials only, which spares it ICU",
      breaks: [
        library("import Foundation"), library("public import struct Foundation.Date"),
        library("#if canImport(Foundation)\n  import Foundation\n#endif"),
        native("import FoundationNetworking"), commands("import Foundation"),
        SourceFile("Sources/BridgeSessionProtocol/A.swift", "import FoundationXML"),
      ],
      keeps: [
        library("import FoundationEssentials"),
        library(
          """
          #if canImport(FoundationEssentials)
            public import FoundationEssentials
          #else
            public import Foundation
          #endif
          """),
        SourceFile("Sources/BridgeURLErrors/A.swift", "public import Foundation"),
        SourceFile("Sources/BridgeHTTP/A.swift", "import FoundationNetworking"),
        test("import Foundation"),
      ]
    ) { file in
      guard file.area == "Sources", inBridgectl.contains(file.target) else { return [] }
      let essentials = file.imports.contains { $0.module == "FoundationEssentials" }
      let others = file.imports.filter {
        $0.module.hasPrefix("Foundation") && $0.module != "FoundationEssentials"
      }
      return others.filter { !essentials || !$0.isInElse }.map(\.line)
    },
  ]
}
