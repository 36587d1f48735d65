package import ArgumentParser
import BridgeErrors
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import FoundationEssentials

/// `bridgectl cp`.
package struct CopyCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "cp",
    abstract: "Copy files to or from a host; a lost link only interrupts the copy.",
    usage: "bridgectl cp [<options>] <SRC> ... <DST>",
    discussion: """
      SRC or DST is [user@]host:PATH, where PATH is absolute or from the home directory. \
      Permission bits and times of the last change are kept. A file gets its name in one step, \
      once all of it is there and a check over it is the same on both machines, where both can \
      compute one. After a lost link the copy resumes at the same byte; a single file also resumes \
      when you run the same command again. \
      Without bridge-host on the host (`bridgectl install`) the usual tools there do it.

      Several SRC, all of them here or all on one host, are copied into DST, a directory. A SRC on \
      a host may be a pattern (*, ?, [a-c]) in quotes; it is expanded there.

      A symbolic link in a tree is copied as one where it stays inside the tree; nothing is \
      written outside DST. What cannot be copied is named, the rest is copied, and the exit \
      status says so.

      EXAMPLES:
          bridgectl cp disk.img build.example:images/
          bridgectl cp -r build.example:/var/log/app ./logs
          bridgectl cp -r site/. web:/srv/www
          bridgectl cp -r src docs notes.txt web:
          bridgectl cp -r --exclude node_modules --exclude '*.o' app web:
          bridgectl cp 'web:logs/*.gz' web:notes.txt .
          bridgectl cp --streams 4 web:dump.tar .
          bridgectl cp --limit 500K disk.img web:
      """)

  @Flag(name: .customShort("r"), help: "Copy directories with all that is in them.")
  package var recursive = false

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      """
      Leave out of directories what has this name, with all that is in it: *.o, cache/*.tmp, \
      /build (at the top of SRC), node_modules/ (a directory). May be repeated.
      """, valueName: "PATTERN"))
  package var exclude: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      Copy one file over so many connections at once, \(FileStripe.counts.lowerBound) to \
      \(FileStripe.counts.upperBound): of use where one is limited by a processor, or by the path.
      """, valueName: "N"))
  package var streams: Int?

  @Option(
    help: ArgumentHelp("Copy at most so many bytes a second: 500K, 2M.", valueName: "SIZE"))
  package var limit: String?

  @Flag(help: "Compare by SHA-256, which takes longer, and report it (--json).")
  package var sha256 = false

  @OptionGroup package var reach: ReachOptions

  @Argument(
    help: ArgumentHelp(
      """
      What is copied, and the last one its copy or the directory for it: each PATH or HOST:PATH.
      """, valueName: "SRC ... DST"),
    completion: .file())
  package var operands: [String]

  /// Creates the command with its defaults.
  package init() {}

  /// - Throws: `ValidationError` where there is no DST, or a path was taken for the port.
  package func validate() throws {
    // Of scp(1) `-p` takes no value.
    if let port = reach.port, UInt16(port) == nil {
      throw ValidationError(
        "-p is the port here, and '\(port)' is none: modes and times are kept without an option")
    }
    guard operands.count > 1 else { throw ValidationError("Missing expected argument '<DST>'") }
  }

  /// Ends the process with the exit code.
  package func run() async throws {
    let (reach, operands, sha256) = (reach, operands, sha256)
    let (recursive, exclude, streams, limit) = (recursive, exclude, streams, limit)
    let request = Result { () throws(AppError) in
      try CopyRequest(
        operands, isRecursive: recursive, excluding: exclude, streams: streams, limit: limit)
    }
    let survey = (try? request.get())?.survey() ?? CopyRequest.Survey()
    let link = LinkArguments(reach, host: (try? request.get().host) ?? operands.first ?? "")
    await LinkCommand(options: link).run(
      { () throws(AppError) in
        let request = try request.get()
        let connect = try ConnectRequest(link)
        try request.check(survey)
        return connect
      },
      { context in
        // Both were checked before: without them there is no work.
        guard let request = try? request.get(), let first = survey.ready.first else {
          return IdleWork(context: context)
        }
        return Self.work(context, request, survey, first: first.place, sha256: sha256)
      })
  }

  /// The copy, whose sources that are not there have been named.
  private static func work(
    _ context: RunContext, _ request: CopyRequest, _ survey: CopyRequest.Survey, first: CopyPlace,
    sha256: Bool
  ) -> CopyWork {
    var generator = SystemRandomNumberGenerator()
    let run = Identifier(using: &generator)
    let key = sha256 ? nil : Identifier(using: &generator).bytes
    let account = "\(context.settings.user)@\(context.settings.endpoint)"
    let directory = FileManager.default.currentDirectoryPath
    let pace = request.limit.map { CopyPace(bytesPerSecond: $0) }
    let site = CopySite()
    let work = CopyWork(context, request, survey, first: first) { place, index, isInto in
      // What a source leaves running on the host has nothing to do with the next one.
      let run = Identifier(high: run.high &+ UInt64(index), low: run.low)
      var job = request.job(
        of: place, isInto: isInto, account: account, directory: directory, run: run, key: key)
      (job.pace, job.site) = (pace, site)
      return job
    }
    work.reportFaulty()
    return work
  }
}
