// Runs the second part of Tally.swift against faults: lost answers, refusals, many at once, another queue. Each part prints
// what it has found; it ends with "faults: N wrong", or the runtime stops it. Arguments: the parts to run; all of them without arguments.
import FirebaseFirestore
import Foundation

private let mainKey = DispatchSpecificKey<Bool>()

@main
struct Hostile {
  @MainActor static var wrong = 0

  @MainActor
  static func main() async {
    DispatchQueue.main.setSpecific(key: mainKey, value: true)
    let wanted = Set(CommandLine.arguments.dropFirst())
    let parts: [(String, () async throws -> Void)] = [
      ("lost-answers", lostAnswers), ("refusals", refusals), ("once", once), ("many", many), ("numbers", numbers),
      ("other-queue", otherQueue), ("release", release), ("undos", undos),
      ("taps", taps), ("queued", queued),
    ]
    for (name, run) in parts where wanted.isEmpty || wanted.contains(name) {
      print("faults: " + name)
      fflush(nil)
      do { try await run() } catch { expect(false, "\(name) throws \(error)") }
    }
    print("faults: \(wrong) wrong")
    exit(wrong == 0 ? 0 : 1)
  }

  /// Every increment counts once, whichever answers are lost, in the counter document and in shards.
  @MainActor static func lostAnswers() async throws {
    let firestore = Firestore.firestore()
    let codes: [FirestoreErrorCode.Code] = [.unavailable, .deadlineExceeded, .aborted, .permissionDenied]
    for (code, isDirect) in codes.flatMap({ [($0, true), ($0, false)] }) {
      let counter = try TallyCounter.of(firestore, "lost:\(code.rawValue):\(isDirect)")
      if !isDirect { firestore.publishInMemory(counter.path, ["shardCount": NSNumber(value: 1)]) }
      var acknowledged: Int64 = 0
      for faults in [[Fault.answerLost(code)], [.answerLost(code), .refused(.aborted)], [.refused(.unavailable), .answerLost(.aborted)]] {
        firestore.failInMemory(faults)
        do {
          try await counter.increment()
          acknowledged += 1
        } catch { print("faults:   \(code) \(faults): \(error)") }
        firestore.failInMemory([])
      }
      let counted = firestore.countInMemory(counter.path)
      expect(acknowledged == 3 && counted == 3, "after \(code): \(acknowledged) acknowledged, \(counted) counted")
    }
  }

  /// What is refused is not counted, is not shown afterwards, and says why.
  @MainActor static func refusals() async throws {
    let firestore = Firestore.firestore()
    let counter = try TallyCounter.of(firestore, "refused")
    var shown: [Double] = []
    let watch = counter.watch { shown.append($0.total) }
    try await Task.sleep(nanoseconds: 100_000_000)
    let denied = Array(repeating: Fault.refused(.permissionDenied), count: 8)
    firestore.failInMemory(denied)
    var code = ""
    do { try await counter.increment() } catch { code = (error as? TallyError)?.code ?? "\(error)" }
    firestore.failInMemory([])
    try await Task.sleep(nanoseconds: 100_000_000)
    expect(code == "counter/permission-denied", "a refused increment throws \(code)")
    expect(shown.last == 0, "after a refusal the watch has shown \(shown)")
    watch.remove()
  }

  /// A button that is pressed twice, undone twice, on two devices.
  @MainActor static func once() async throws {
    let firestore = Firestore.firestore()
    let counter = try TallyCounter.of(firestore, "liked")
    try await counter.increment(once: "me")
    try? await counter.increment(once: "me")
    expect(firestore.countInMemory(counter.path) == 1, "twice with one once counts \(firestore.countInMemory(counter.path))")
    try await counter.undo(once: "me")
    try? await counter.undo(once: "me")
    let left = firestore.countInMemory(counter.path)
    expect(left == 0, "undone twice leaves \(left)")
    let first = Task { try await counter.increment(once: "me") }
    let second = Task { try await counter.increment(once: "me") }
    try await first.value
    try await second.value
    let both = firestore.countInMemory(counter.path)
    expect(both == 1, "two at once count \(both)")
  }

  /// An undo that is refused twice is made again, in the counter document and in shards. One whose entry names no shard fails.
  @MainActor static func undos() async throws {
    let firestore = Firestore.firestore()
    for isDirect in [true, false] {
      let counter = try TallyCounter.of(firestore, "undos:\(isDirect)")
      if !isDirect { firestore.publishInMemory(counter.path, ["shardCount": NSNumber(value: 1)]) }
      try await counter.increment(once: "me")
      firestore.failInMemory([.refused(.permissionDenied), .refused(.permissionDenied)])
      try await counter.undo(once: "me")
      firestore.failInMemory([])
      let counts = try await counter.getIncremented(once: "me")
      let left = firestore.countInMemory(counter.path)
      expect(!counts && left == 0, "an undo refused twice leaves \(left), it counts: \(counts)")
      try await counter.increment(once: "me")
      let first = Task { try await counter.undo(once: "me") }
      let second = Task { try await counter.undo(once: "me") }
      try await first.value
      try await second.value
      let both = firestore.countInMemory(counter.path)
      expect(both == 0, "two undos at once leave \(both)")
      firestore.publishInMemory(counter.path + "/tallyEntries/spoiled", ["by": NSNumber(value: 1), "shard": "a/b"])
      var code = ""
      do { try await counter.undo(once: "spoiled") } catch { code = (error as? TallyError)?.code ?? "\(error)" }
      expect(code == "counter/invalid-shard", "the undo of an entry without a shard throws \(code)")
    }
  }

  /// Fifty at once, some of them refused and lost.
  @MainActor static func many() async throws {
    let firestore = Firestore.firestore()
    let counter = try TallyCounter.of(firestore, "many")
    firestore.failInMemory([.refused(.aborted), .none, .answerLost(.unavailable), .refused(.aborted), .answerLost(.aborted)])
    let tasks = (0..<50).map { _ in Task { try await counter.increment() } }
    var acknowledged: Int64 = 0
    for task in tasks {
      do {
        try await task.value
        acknowledged += 1
      } catch { print("faults:   \(error)") }
    }
    firestore.failInMemory([])
    let counted = firestore.countInMemory(counter.path)
    expect(acknowledged == 50 && counted == 50, "of 50 at once \(acknowledged) are acknowledged, \(counted) counted")
  }

  /// Totals that no Int holds.
  @MainActor static func numbers() async throws {
    let firestore = Firestore.firestore()
    let counter = try TallyCounter.of(firestore, "numbers")
    for total in [Double(1 << 53), 1.5, -2.5, 1e19, .infinity, .nan] {
      firestore.publishInMemory(counter.path, ["total": NSNumber(value: total), "asOf": Timestamp(date: Date())])
      print("faults:   total \(total)")
      fflush(nil)
      print("faults:   is \(try await counter.get().wholeTotal)")
    }
    print("faults:   the least amount, undone")
    fflush(nil)
    try? await counter.increment(by: .min, once: "least")
    try? await counter.undo(once: "least")
  }

  /// Like, unlike, like without a wait between them: the last tap counts.
  @MainActor static func taps() async throws {
    let firestore = Firestore.firestore()
    firestore.delayReadsInMemory(50_000_000)
    for attempt in 0..<20 {
      let counter = try TallyCounter.of(firestore, "taps:\(attempt)")
      try await counter.increment(once: "me")
      var states: [Bool] = []
      let button = try counter.onIncremented(once: "me") { states.append($0) }
      try await Task.sleep(nanoseconds: 100_000_000)
      let unlike = Task { try await counter.undo(once: "me") }
      await Task.yield()
      let like = Task { try await counter.increment(once: "me") }
      var failure = ""
      do {
        try await unlike.value
        try await like.value
      } catch { failure = ", and \(error)" }
      let counts = try await counter.getIncremented(once: "me")
      let sum = firestore.countInMemory(counter.path)
      expect(counts && sum == 1, "like, unlike, like: it counts: \(counts), the sum is \(sum)\(failure)")
      expect(states == [true, false, true], "like, unlike, like: the button has shown \(states)")
      button.remove()
      if wrong > 0 { return }
    }
  }

  /// What needs no read is in the SDK's queue when the call first suspends.
  @MainActor static func queued() async throws {
    let firestore = Firestore.firestore()
    let counter = try TallyCounter.of(firestore, "queued")
    try await counter.increment()
    let second = Task { try await counter.increment() }
    await Task.yield()
    let counted = firestore.countInMemory(counter.path)
    expect(counted == 2, "the queue has \(counted) before the call has returned")
    try await second.value
  }

  /// A screen whose closures hold it goes when its watches are removed.
  @MainActor static func release() async throws {
    let counter = try TallyCounter.of(Firestore.firestore(), "release")
    final class Screen {
      var watch: TallyWatch?
      var like: TallyEntryWatch?
      var last = 0.0
    }
    weak var kept: Screen?
    do {
      let screen = Screen()
      kept = screen
      screen.watch = counter.watch { screen.last = $0.total }
      screen.like = try counter.onIncremented(once: "me") { _ in screen.last = 1 }
      try await Task.sleep(nanoseconds: 100_000_000)
      screen.watch?.remove()
      screen.like?.remove()
    }
    try await Task.sleep(nanoseconds: 300_000_000)
    expect(kept == nil, "after remove() the closures still hold the screen")
  }

  /// settings.dispatchQueue is not the main queue.
  @MainActor static func otherQueue() async throws {
    let firestore = Firestore.firestore()
    firestore.callBackInMemory(on: DispatchQueue(label: "app"))
    let counter = try TallyCounter.of(firestore, "queue")
    var shown: [Double] = []
    var wereMain = true
    let watch = counter.watch { snapshot in
      wereMain = wereMain && isOnMain()
      shown.append(snapshot.total)
    }
    try await counter.increment()
    try await Task.sleep(nanoseconds: 200_000_000)
    expect(shown.last == 1 && wereMain, "on another queue the watch has shown \(shown), on the main queue: \(wereMain)")
    let like = try counter.onIncremented(once: "me") { _ in wereMain = wereMain && isOnMain() }
    try await counter.increment(once: "me")
    try await Task.sleep(nanoseconds: 200_000_000)
    expect(wereMain, "the button is shown off the main queue")
    watch.remove()
    like.remove()
  }

  /// On Linux the main queue runs on any thread.
  @MainActor static func isOnMain() -> Bool { return DispatchQueue.getSpecific(key: mainKey) == true }

  @MainActor static func expect(_ holds: Bool, _ what: String) {
    if holds { return }
    wrong += 1
    print("faults: WRONG: " + what)
    fflush(nil)
  }
}
