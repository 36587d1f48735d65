/// What `install` and `uninstall` run on the other side: POSIX shell in one line without single
/// quotes or exclamation marks, since every login shell reads that the same way. Each line of an
/// answer is a key, a space and a text.
package enum InstallScript {
  /// The command line of a script.
  package static func command(_ script: String, marker: AnswerMarker) -> String {
    "exec /bin/sh -c 'umask 077; \(say); \(marker.printing); \(script)'"
  }

  private static let say = #"say() { printf "%s\n" "$*"; }"#

  /// The directories to try, the best first; one outside the home directory only where it belongs
  /// to this user alone.
  private static func places(_ shared: String) -> String {
    #"u=$(id -u); for b in "\#(own)" "\#(shared)/bridge-$u"; do d=$b/bin"#
  }

  private static let own = "$HOME/.local/lib/bridge"

  private static func isPrivate(_ shared: String) -> String {
    #"case "$b" in \#(shared)/*) set -- $(ls -ldn "$b"); case "$1:$3" in drwx------*:$u) ;; "#
      + #"*) say "unwritable $b: it is not a directory of this user only"; continue;; esac;; esac"#
  }

  /// The directory for programs of users whose home directory cannot hold or execute them.
  package static let shared = "/var/tmp"

  /// Finds a directory that has the program, or can hold and execute one of `length` bytes. df(1)
  /// does not see quotas: those are met when it is written.
  package static func probe(
    _ digest: String, length: Int = 0, shared: String = shared
  ) -> String {
    [
      sum, places(shared),
      #"e=$(mkdir -p "$d" 2>&1) || { say "unwritable $e"; continue; }"#, isPrivate(shared),
      ##"t=$d/.try.$$; e=$( { printf "#\041/bin/sh\nexit 0\n" > "$t" && chmod 700 "$t"; } 2>&1) "##
        + #"|| { rm -f "$t"; say "unwritable $e"; continue; }"#,
      #"e=$("$t" 2>&1); r=$?; rm -f "$t"; [ $r = 0 ] || { say "noexec $d"; continue; }"#,
      // One that is damaged may run for ever: it is not asked.
      #"p="$d/bridge-host"; if [ -f "$p" ] && [ -x "$p" ] "#
        + #"&& [ $(($(wc -c < "$p"))) = \#(length) ]; then set -- $(sum < "$p"); "#
        + #"[ "$1" = \#(digest) ] && { say "place $d"; say "have yes"; break; }; fi"#,
      #"set -- $(df -Pk "$d" 2> /dev/null | tail -n 1)"#,
      #"if [ "$4" -lt \#(length / 1024 + 1) ] 2> /dev/null; "#
        + #"then say "unwritable $d: $4 KiB are free"; continue; fi"#,
      #"say "place $d"; break; done"#,
      #"say "machine $(uname -s) $(uname -m)""#,
    ].joined(separator: "; ")
  }

  /// Prints the SHA-256 of what it reads, before other words; ends with 9 where no tool does.
  private static let sum =
    "sum() { if command -v sha256sum > /dev/null; then sha256sum; "
    + "elif command -v shasum > /dev/null; then shasum -a 256; "
    + "elif command -v openssl > /dev/null; then openssl dgst -sha256 -r; else return 9; fi; }"

  /// Whether a program that answers with `version` is the one to install.
  private static func isBridgeHost(_ version: String) -> String {
    #"case "\#(version)" in "bridge-host protocol "*) true ;; *) false ;; esac"#
  }

  /// Reads the program from standard input. What a lost link has left of it is kept under its
  /// digest, and said first: the rest is to be sent.
  package static func install(_ digest: String, length: Int, in directory: String) -> String {
    [
      sum, #"d="\#(place(directory))"; h=\#(digest); t=$d/.new.$$; l=$d/.link.$$; p=$d/.part."#,
      // It would be moved into that.
      #"for b in "$d/$h/bridge-host" "$d/bridge-host"; do if [ -d "$b" ]; "#
        + #"then say "error-write $b is a directory: remove it"; exit; fi; done"#,
      #"k=; leave() { rm -f "$l"; if [ "$k" ]; then mv -f "$t" "$p$h"; else rm -f "$t"; fi; }"#,
      #"trap leave 0; trap "exit 1" 1 2 13 15"#,
      #"mv -f "$p$h" "$t" 2> /dev/null || e=$( { : > "$t"; } 2>&1) "#
        + #"|| { say "error-write $e"; exit; }"#,
      #"c=$(($(wc -c < "$t"))); [ $c -lt \#(length) ] || { c=0; : > "$t"; }"#,
      #"say "kept $c"; say "send yes"; k=y"#,
      #"e=$(cat 2>&1 >> "$t") || { k=; say "error-write $e"; exit; }"#,
      #"c=$(($(wc -c < "$t"))); [ $c -le \#(length) ] || k="#,
      #"[ $c = \#(length) ] || { say "error-length $c"; exit; }; k="#,
      #"s=$(sum < "$t"); case $? in 9) say "error-tools -"; exit ;; esac"#,
      #"set -- $s; [ "$1" = $h ] || { say "error-hash $1"; exit; }"#,
      #"chmod 700 "$t"; v=$("$t" version 2>&1) || { say "error-run $v"; exit; }"#,
      #"\#(isBridgeHost("$v")) || { say "error-program $v"; exit; }"#,
      #"e=$( { mkdir -p "$d/$h" && { sync "$t" 2> /dev/null || sync; } "#
        + #"&& mv -f "$t" "$d/$h/bridge-host" "#
        + #"&& ln -s "$h/bridge-host" "$l" && mv -f "$l" "$d/bridge-host"; } 2>&1) "#
        + #"|| { say "error-write $e"; exit; }"#,
      #"rm -f "$p"*; say "ok $v""#,
    ].joined(separator: "; ")
  }

  /// Removes every directory of programs.
  package static let uninstall = [
    places(shared), #"[ -d "$d" ] || continue"#, isPrivate(shared),
    #"e=$(rm -rf "$d" 2>&1) || { say "error-write $e"; exit; }"#,
    #"say "removed $d"; rmdir "$b" 2> /dev/null; done; say "end yes""#,
  ].joined(separator: "; ")

  /// The directory that was answered, for double quotes. A home directory whose path is no UTF-8
  /// did not come as it is.
  private static func place(_ directory: String) -> String {
    directory.unicodeScalars.contains("\u{FFFD}") ? "\(own)/bin" : escaped(directory)
  }

  /// A path inside double quotes inside single quotes.
  private static func escaped(_ path: String) -> String {
    var text = ""
    for character in path.unicodeScalars {
      switch character {
      case "'": text += "'\\''"
      case "\"", "$", "`", "\\": text += "\\\(character)"
      case _: text.unicodeScalars.append(character)
      }
    }
    return text
  }
}

/// The lines that a script answers, after whatever start-up files print.
package struct InstallAnswer: Sendable, Equatable {
  /// More is not kept, in bytes.
  private static let limit = 64 << 10

  private let marker: [UInt8]
  private var bytes: [UInt8] = []

  /// The answer that `marker` comes before.
  package init(marker: AnswerMarker) { self.marker = Array(marker.text.utf8) }

  /// Whether the marker came: the script runs, and reads what is sent to it.
  package var hasBegun: Bool { bytes.firstRange(of: marker) != nil }

  /// Takes bytes in. Of what comes before the marker only the newest are kept.
  package mutating func append(_ more: [UInt8]) {
    bytes += more
    guard bytes.count > Self.limit else { return }
    bytes =
      bytes.firstRange(of: marker).map { Array(bytes[$0.lowerBound...].prefix(Self.limit)) }
      ?? Array(bytes.suffix(marker.count))
  }

  /// The first text of a key.
  package subscript(key: String) -> String? { all(key).first }

  /// How many bytes of the program are there; nil before the host waits for the rest.
  package var kept: Int? { self["send"] == nil ? nil : self["kept"].flatMap { Int($0) } }

  /// Every text of a key, in order.
  package func all(_ key: String) -> [String] {
    lines.compactMap { line in
      guard line.hasPrefix(key + " ") else { return nil }
      return String(line.dropFirst(key.count + 1))
    }
  }

  /// The end of what came.
  package var rest: String { String(decoding: bytes.suffix(256), as: UTF8.self) }

  private var lines: [Substring] {
    guard let range = bytes.firstRange(of: marker) else { return [] }
    return String(decoding: bytes[range.upperBound...], as: UTF8.self).split(separator: "\n")
  }
}
