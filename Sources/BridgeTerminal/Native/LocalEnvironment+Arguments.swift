import Glibc

// The command line of the process.
extension LocalEnvironment {
  /// The bytes of each argument; the first one is the program's name. They come from the kernel
  /// (proc(5)): Swift looks for them before `environ`, which a library that is preloaded and sets a
  /// variable has moved.
  package static let argumentBytes: [[UInt8]] = fromKernel ?? fromSwift

  /// The arguments as texts. What is not UTF-8 is replaced.
  package static var arguments: [String] {
    argumentBytes.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The first argument, from 1, that is not UTF-8: with what is replaced in it another command
  /// would run. Nil when all can be read.
  package static var unreadableArgument: Int? {
    argumentBytes.indices.dropFirst().first {
      String(validating: argumentBytes[$0], as: UTF8.self) == nil
    }
  }

  private static var fromKernel: [[UInt8]]? {
    let file = unsafe open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = unsafe read(file, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { break }
      bytes += buffer.prefix(count)
    }
    // Each argument ends with a zero byte.
    guard bytes.last == 0 else { return nil }
    return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
  }

  private static var fromSwift: [[UInt8]] {
    let arguments = unsafe UnsafeBufferPointer(
      start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    return arguments.indices.map { index in
      guard let argument = unsafe arguments[index] else { return [] }
      return unsafe Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
    }
  }
}
