// Runs the second part of Tally.swift over documents in memory: it ends with "smoke: ok", or the runtime stops it.
import FirebaseFirestore
import Foundation

@main
struct Smoke {
  @MainActor
  static func main() async throws {
    let firestore = Firestore.firestore()
    let views = try TallyCounter.of(firestore, "views:home")

    say("a read from the server, then an increment in the counter document")
    try await views.increment()
    expect(firestore.countInMemory(views.path) == 1, "1 is counted")

    say("another one")
    try await views.increment(by: 2)
    expect(firestore.countInMemory(views.path) == 3, "3 are counted")

    say("a watch shows it at once, and the published total")
    var shown: [Int] = []
    let watch = views.watch { shown.append($0.wholeTotal) }
    firestore.publishInMemory(
      views.path, ["total": NSNumber(value: 3), "asOf": Timestamp(date: Date()), "shardCount": NSNumber(value: 1)])
    try await Task.sleep(nanoseconds: 200_000_000)
    try await views.increment(by: 4)
    try await Task.sleep(nanoseconds: 200_000_000)
    expect(shown.contains(3) && shown.last == 7, "the watch has shown \(shown)")
    watch.remove()

    say("once per user, and its undo")
    try await views.increment(once: "user")
    let counts = try await views.getIncremented(once: "user")
    expect(counts, "it counts")
    var states: [Bool] = []
    let like = try views.onIncremented(once: "user") { states.append($0) }
    try await Task.sleep(nanoseconds: 200_000_000)
    try await views.undo(once: "user")
    try await Task.sleep(nanoseconds: 200_000_000)
    expect(states == [true, false], "the button has shown \(states)")
    like.remove()
    expect(firestore.countInMemory(views.path) == 7, "7 are counted")

    say("in a batch of the app")
    let batch = firestore.batch()
    try views.incrementIn(batch, by: 5)
    try await batch.commit()
    expect(firestore.countInMemory(views.path) == 12, "12 are counted")

    say("names that are none, and two that only look the same")
    for name in ["a/\u{301}b", "__\u{301}a__"] {
      let none = try? TallyCounter.of(firestore, name)
      expect(none == nil, "\(name) is taken")
    }
    let composed = try TallyCounter.of(firestore, "caf\u{e9}")
    let decomposed = try TallyCounter.of(firestore, "cafe\u{301}")
    expect(composed !== decomposed, "they are one counter")
    print("smoke: ok")
    exit(0)
  }

  static func say(_ what: String) {
    print("smoke: " + what)
    fflush(nil)
  }

  static func expect(_ holds: Bool, _ what: String) {
    if holds { return }
    print("smoke: WRONG: " + what)
    exit(1)
  }
}
