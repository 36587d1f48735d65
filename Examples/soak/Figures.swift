import Foundation

/// What the kernel says about this process (proc(5)).
struct Figures: Codable, Sendable, Equatable {
  /// Open descriptors by what they are: sockets, pipes, event queues, files.
  var descriptors: [String: Int] = [:]
  var threads = 0
  /// Resident memory, in bytes.
  var resident = 0

  var openDescriptors: Int { descriptors.values.reduce(0, +) }

  static func now() -> Figures {
    var figures = Figures()
    let folder = "/proc/self/fd"
    for entry in entries(folder) {
      // The one that listed the folder is closed by now and leads nowhere.
      guard
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "\(folder)/\(entry)")
      else { continue }
      figures.descriptors[kind(of: target), default: 0] += 1
    }
    figures.threads = entries("/proc/self/task").count
    figures.resident = resident()
    return figures
  }

  static func resident() -> Int {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = fields.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static func kind(of target: String) -> String {
    if target.hasPrefix("anon_inode:") { return String(target.dropFirst("anon_inode:".count)) }
    if target.hasPrefix("/") { return "file" }
    return String(target.prefix { $0 != ":" })
  }

  private static func entries(_ folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }
}

/// Resident memory against faults, as a straight line (least squares).
struct MemorySlope: Sendable {
  private var samples: [(faults: Double, bytes: Double)] = []
  private let warmUp: Int

  /// The faults before `warmUp` fill caches and logs, and are left out.
  init(warmUp: Int, faults: Int) {
    self.warmUp = warmUp
    samples.reserveCapacity(faults)
  }

  mutating func add(after faults: Int, _ bytes: Int) {
    if faults > warmUp { samples.append((Double(faults), Double(bytes))) }
  }

  /// MiB a thousand faults; 0 with less than two samples.
  var mebibytesPerThousand: Double {
    let count = Double(samples.count)
    guard count > 1 else { return 0 }
    let meanX = samples.reduce(0) { $0 + $1.faults } / count
    let meanY = samples.reduce(0) { $0 + $1.bytes } / count
    let above = samples.reduce(0) { $0 + ($1.faults - meanX) * ($1.bytes - meanY) }
    let below = samples.reduce(0) { $0 + ($1.faults - meanX) * ($1.faults - meanX) }
    return below > 0 ? above / below * 1_000 / 1_048_576 : 0
  }
}
