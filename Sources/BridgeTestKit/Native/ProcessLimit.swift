import Foundation

/// The time that a test has which runs in a process of its own: nothing else ends that, and the
/// time limit of the test waits for its end.
package enum ProcessLimit {
  /// Ends this process by SIGALRM (alarm(2)) after so many seconds.
  package static func begin(seconds: UInt32 = 100) {
    signal(SIGALRM, SIG_DFL)
    var alarms = sigset_t()
    unsafe sigemptyset(&alarms)
    unsafe sigaddset(&alarms, SIGALRM)
    unsafe pthread_sigmask(SIG_UNBLOCK, &alarms, nil)
    alarm(seconds)
  }
}
