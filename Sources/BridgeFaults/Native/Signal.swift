import Glibc

/// The signals that break a server: signal(7).
enum Signal {
  case kill
  case stop
  case resume

  var number: Int32 {
    switch self {
    case .kill: SIGKILL
    case .stop: SIGSTOP
    case .resume: SIGCONT
    }
  }
}
