package import ArgumentParser
import BridgeErrors
import BridgeSessionProtocol
import BridgeTerminal
import FoundationEssentials

/// `bridgectl cp`.
package struct CopyCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "cp",
    abstract: "Copy files to or from a host; a lost link only interrupts the copy.",
    discussion: """
      One of SRC and DST is [user@]host:PATH, where PATH is absolute or from the home directory. \
      Permission bits and times of the last change are kept. A file gets its name in one step, \
      once all of it is there and a check over it is the same on both machines, where both can \
      compute one. After a lost link the copy resumes at the same byte; a single file also resumes \
      when you run the same command again. \
      Without bridge-host on the host (`bridgectl install`) the usual tools there do it.

      A symbolic link in a tree is copied as one where it stays inside the tree; nothing is \
      written outside DST. What cannot be copied is named, the rest is copied, and the exit \
      status says so.

      EXAMPLES:
          bridgectl cp disk.img build.example:images/
          bridgectl cp -r build.example:/var/log/app ./logs
          bridgectl cp -r site/. web:/srv/www
          bridgectl cp --streams 4 web:dump.tar .
      """)

  @Flag(name: .customShort("r"), help: "Copy directories with all that is in them.")
  package var recursive = false

  @Option(
    help: ArgumentHelp(
      """
      Copy one file over so many connections at once, \(FileStripe.counts.lowerBound) to \
      \(FileStripe.counts.upperBound): of use where one is limited by a processor, or by the path.
      """, valueName: "N"))
  package var streams: Int?

  @Flag(help: "Compare by SHA-256, which takes longer, and report it (--json).")
  package var sha256 = false

  @OptionGroup package var reach: ReachOptions

  @Argument(
    help: ArgumentHelp("What is copied: PATH or HOST:PATH.", valueName: "SRC"),
    completion: .file())
  package var source: String

  @Argument(
    help: ArgumentHelp(
      "Its copy, or the directory for it: PATH or HOST:PATH.", valueName: "DST"),
    completion: .file())
  package var destination: String

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws {
    let (reach, source, destination) = (reach, source, destination)
    let (recursive, streams, sha256) = (recursive, streams, sha256)
    let request = Result { () throws(AppError) in
      try CopyRequest(
        source: source, destination: destination, isRecursive: recursive, streams: streams)
    }
    let link = LinkArguments(reach, host: (try? request.get().host) ?? source)
    await LinkCommand(options: link).run(
      { () throws(AppError) in
        let request = try request.get()
        let connect = try ConnectRequest(link)
        try request.checkSource()
        return connect
      },
      { context in
        var generator = SystemRandomNumberGenerator()
        let settings = context.settings
        // The request was read before: without one there is no work.
        let job = (try? request.get())?.job(
          account: "\(settings.user)@\(settings.endpoint)",
          directory: FileManager.default.currentDirectoryPath,
          run: Identifier(using: &generator),
          key: sha256 ? nil : Identifier(using: &generator).bytes)
        guard let job else { return IdleWork(context: context) }
        return CopyWork(
          context, job, source: source, destination: destination, streams: streams ?? 1)
      })
  }
}
