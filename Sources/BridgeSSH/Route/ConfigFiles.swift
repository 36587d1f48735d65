/// The files of ssh_config(5) that are read.
public enum ConfigFiles: Sendable, Equatable {
  /// `~/.ssh/config`, then the machine's `/etc/ssh/ssh_config`; each may be missing.
  case usual
  /// The file at this path alone, which must exist (`-F` of ssh(1)).
  case file(String)
  /// No file.
  case nothing
}
