import CSessionSystem
import Glibc

/// The master of a terminal, with its slave's device.
struct Terminal {
  let master: Descriptor
  let device: String

  /// Opens a terminal of this size with these modes (RFC 4254, 8).
  init(
    columns: UInt16, rows: UInt16, width: UInt16, height: UInt16, modes: [UInt8]
  ) throws(SystemError) {
    var number: Int32 = 0
    master = Descriptor(try check("open /dev/ptmx") { unsafe bridge_open_master(&number) })
    device = "/dev/pts/\(number)"
    resize(columns: columns, rows: rows, width: width, height: height)
    if !modes.isEmpty { _ = unsafe bridge_set_modes(master.number, modes, modes.count) }
  }

  func resize(columns: UInt16, rows: UInt16, width: UInt16, height: UInt16) {
    _ = bridge_set_size(master.number, columns, rows, width, height)
  }

  /// True while the kernel collects lines (ICANON).
  var isInLineMode: Bool { bridge_is_canonical(master.number) == 1 }

  /// The process group that reads from the terminal; nil where there is none.
  var foreground: Int32? {
    let group = bridge_foreground(master.number)
    return group > 1 ? group : nil
  }
}
