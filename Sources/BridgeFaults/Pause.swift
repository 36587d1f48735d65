import NIOCore
import NIOPosix

/// Waits on an event loop's clock; a poll interval, never a guess at how long something takes.
func pause(_ amount: TimeAmount) async {
  let loop = MultiThreadedEventLoopGroup.singleton.next()
  try? await loop.scheduleTask(in: amount) {}.futureResult.get()
}
