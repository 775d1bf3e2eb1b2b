/*
 * Tally for iOS: copy this file into your app. It needs FirebaseFirestore 11 or newer, Swift 5.9 or newer, and nothing
 * else.
 *
 *     let views = try TallyCounter.of(Firestore.firestore(), "views:home")
 *     let watch = views.watch { label.text = "\($0.wholeTotal) views" }
 *     try await views.increment()
 *
 * The first part, the planner, decides what is written and what is shown. It has no I/O, and docs/vectors.json holds it to
 * the web client. The second part hands the plans to the Firestore SDK. It runs on the main actor.
 */
import FirebaseFirestore
import Foundation

// --- planner ---

/// The value of a field in a plan.
indirect enum TallyValue {
  case text(String)
  case whole(Int64)
  /// Added to the field.
  case increment(Int64)
  /// The server's time of the commit.
  case serverTime
  /// Bytes, appended to an array that does not contain them.
  case append([Int])
  case fields([String: TallyValue])
  /// Removes the field.
  case delete
}

/// One write of a commit: a merge, a new document, or without `fields` a deletion.
struct TallyWrite {
  let path: String
  let fields: [String: TallyValue]?
  let merge: Bool

  init(_ path: String, _ fields: [String: TallyValue]?, _ merge: Bool) {
    self.path = path
    self.fields = fields
    self.merge = merge
  }
}

/// One increment: which shard, which slot, which nonce. A retry sends the same plan. The marks of the slot `expired` may
/// be removed, if the clock of this device is right.
struct TallyPlan {
  let counter: String
  let shard: String
  let by: Int64
  let slot: String
  let expired: String
  let nonce: [Int]
  let entry: String?
  let once: String?
  let isUndo: Bool

  init(
    _ counter: String, _ shard: String, _ by: Int64, _ slot: String, _ expired: String, _ nonce: [Int], _ entry: String?,
    _ once: String?, _ isUndo: Bool
  ) {
    self.counter = counter
    self.shard = shard
    self.by = by
    self.slot = slot
    self.expired = expired
    self.nonce = nonce
    self.entry = entry
    self.once = once
    self.isUndo = isUndo
  }
}

/// What a client writes, as functions without I/O.
enum TallyPlanner {
  static let maxIdBytes = 1_500
  static let maxShards = 10_000
  static let markSlots: Int64 = 5
  static let markSlotMillis: Int64 = 61_000
  static let nonceBytes = 5
  static let maxCommitMillis: Int64 = 10_000
  static let maxPublishDelayMillis: Int64 = 15_000
  static let shardCountTtlMillis: Int64 = 120_000
  static let shardCountTtlWrites = 20
  static let shortShardCountTtlMillis: Int64 = 1_000
  static let firstCountTimeoutMillis: Int64 = 8_000
  static let laterCountTimeoutMillis: Int64 = 1_000
  static let onlineMillis: Int64 = 10_000
  static let slowWriteMillis: Int64 = 2_000
  static let slowWriteReads: Int64 = 4
  static let slowFactor = 4.0
  static let slowMinShards = 64.0
  static let slowAnswerTtlMillis: Int64 = 10_000
  static let offlineAfterMillis: Int64 = 10_000
  static let refusedFactor = 8.0
  static let maxFactor = 512.0

  /// What the entry of an increment names for a shard if the web client has counted it in the counter document.
  static let direct = "direct"

  /// Later than every instant in microseconds.
  static let never: Int64 = 9_007_199_254_740_991

  /// Whether a string is valid as an id. Firestore also takes control characters, but its events do not arrive.
  static func isValidName(_ name: String) -> Bool {
    let size = name.utf8.count
    let isReserved = size >= 4 && name.hasPrefix("__") && name.hasSuffix("__")
    return size >= 1 && size <= maxIdBytes && !name.contains("/") && name != "." && name != ".." && !isReserved && !hasControl(name)
  }

  private static func hasControl(_ name: String) -> Bool {
    return name.unicodeScalars.contains { one in isControl(UInt32(one)) }
  }

  /// Control characters, and halves of a surrogate pair, which no string of Swift has.
  private static func isControl(_ one: UInt32) -> Bool {
    return one < 32 || (one >= 127 && one < 160) || (one >= 55_296 && one < 57_344)
  }

  static func shardPath(_ counter: String, _ shard: String) -> String {
    return counter + "/shards/" + shard
  }

  static func entryPath(_ counter: String, _ once: String) -> String {
    return counter + "/tallyEntries/" + once
  }

  /// The id of a random shard, one of the last seven eighths. Shard 0, which wakes the functions, gets an eighth of a share.
  static func randomShard(_ shardsToChooseFrom: Double, _ random: () -> Double) -> String {
    let leftOut = Int(shardsToChooseFrom / 8)
    let share = random() * (shardsToChooseFrom - Double(leftOut))
    return String(share < 0.125 ? 0 : leftOut + Int(share))
  }

  /// The slot of `marks` that a write goes to, by this device's clock, or one that comes later. A wrong clock is harmless,
  /// and may show any number.
  static func markSlot(_ now: Int64, _ later: Int64) -> String {
    let slots = now / markSlotMillis
    return String((abs(slots) + later) % markSlots)
  }

  /// Identifies an increment: random bytes.
  static func newNonce(_ random: () -> Double) -> [Int] {
    var nonce: [Int] = []
    while nonce.count < nonceBytes {
      nonce.append(Int(random() * 256))
    }
    return nonce
  }

  /// Plans one increment on a shard. An undo is an increment by the opposite amount on the shard that the entry names,
  /// and on shard 0 if it names none.
  ///
  /// - Parameter now: milliseconds since the epoch
  static func planIncrement(
    _ counter: String, _ shard: String, _ by: Int64, _ now: Int64, _ random: () -> Double, _ once: String?,
    _ isUndo: Bool
  ) -> TallyPlan {
    let entry = once == nil ? nil : entryPath(counter, once!)
    let expired = markSlot(now, 1)
    let place = shard == direct ? "0" : shard
    return TallyPlan(counter, place, by, markSlot(now, 0), expired, newNonce(random), entry, once, isUndo)
  }

  /// The writes of a plan, for one commit.
  ///
  /// - Parameter removesMarks: whether they also remove the slot that has expired
  static func writes(_ plan: TallyPlan, _ removesMarks: Bool) -> [TallyWrite] {
    let mark = TallyValue.fields(["at": TallyValue.serverTime, "nonces": TallyValue.append(plan.nonce)])
    var marks = [plan.slot: mark]
    if removesMarks {
      marks[plan.expired] = TallyValue.delete
    }
    let fields = [
      "shard": TallyValue.text(plan.shard),
      "count": TallyValue.increment(plan.by),
      "writes": TallyValue.increment(1),
      "at": TallyValue.serverTime,
      "marks": TallyValue.fields(marks),
    ]
    let shardWrite = TallyWrite(shardPath(plan.counter, plan.shard), fields, true)
    if plan.entry == nil || plan.once == nil {
      return [shardWrite]
    }
    if plan.isUndo {
      return [TallyWrite(plan.entry!, nil, false), shardWrite]
    }
    let entry = [
      "once": TallyValue.text(plan.once!),
      "by": TallyValue.whole(plan.by),
      "shard": TallyValue.text(plan.shard),
      "at": TallyValue.serverTime,
    ]
    return [TallyWrite(plan.entry!, entry, false), shardWrite]
  }

  /// What a refused commit means: "committed", "counted" (by an earlier call with the `once`), "retry" (on another shard) or
  /// "refused".
  ///
  /// - Parameters:
  ///   - hasMark: whether the shard has the nonce of the plan
  ///   - countedBy: the amount of the entry, if the plan creates one and there is one
  static func judgeRefusal(_ isAborted: Bool, _ hasMark: Bool, _ countedBy: Int64?, _ by: Int64) -> String {
    if hasMark {
      return "committed"
    }
    if isAborted {
      return "retry"
    }
    return countedBy == by ? "counted" : "refused"
  }

  /// Whether an increment first goes into a transaction: if that is refused as contended, another shard is next. All others go
  /// only to the SDK's queue, which keeps them on disk: every increment while the server has not answered for ten seconds,
  /// increments with `once`, and increments of a watched counter that is not contended.
  ///
  /// - Parameter sinceAnswerMillis: since the last answer of the server
  static func usesTransaction(
    _ hasOnce: Bool, _ isWatched: Bool, _ isContended: Bool, _ sinceAnswerMillis: Int64
  ) -> Bool {
    let isOnline = sinceAnswerMillis < onlineMillis
    return !hasOnce && isOnline && (isContended || !isWatched)
  }

  /// A server's timestamp in whole microseconds.
  static func micros(_ seconds: Int64, _ nanoseconds: Int64) -> Int64 {
    return seconds * 1_000_000 + nanoseconds / 1_000
  }

  /// The latest commit time of a write: its timestamp is from the start of the commit, whose end is within the round trip.
  static func latestCommit(_ at: Int64, _ roundTripMillis: Int64) -> Int64 {
    return at + min(abs(roundTripMillis), maxCommitMillis) * 1_000
  }
}

/// How many shards this client chooses from for its next write. docs/data-model.md (Which shard) has the rules;
/// docs/vectors.json tests them.
final class TallyShardCount {
  /// Milliseconds since the epoch.
  private let clock: () -> Int64
  private var shardCount = 1.0
  private var knownAt: Int64 = 0
  private var ttl: Int64 = 0
  private var writes = 0
  private var pending = 0

  /// Whether a watch or a read, even one that failed, has updated the count.
  private var hasCount = false

  /// Since when no write has been answered, while some are pending.
  private var pendingSince: Int64 = 0

  /// The wait that the last answer ended; none if it has no length.
  private var lastWaitSince: Int64 = 0
  private var lastWaitUntil: Int64 = 0

  /// When the last read was answered, and how long it took.
  private var readAt: Int64 = 0
  private var roundTrip: Int64 = 0

  /// The multiple that refusals have built up.
  private var factor = 1.0

  init(_ clock: @escaping () -> Int64) {
    self.clock = clock
  }

  private func slownessOf(_ since: Int64, _ until: Int64, _ mustBeProven: Bool) -> Int64 {
    let isProven = readAt > since
    if until - since >= TallyPlanner.offlineAfterMillis || (mustBeProven && !isProven) {
      return 0
    }
    let reads = isProven ? TallyPlanner.slowWriteReads * roundTrip : 0
    return (until - since) / max(TallyPlanner.slowWriteMillis, reads)
  }

  /// How many times the expected duration the current or the last wait has lasted, rounded down.
  ///
  /// - Parameter mustBeProven: whether waits that no read was answered since are left out
  private func slowness(_ mustBeProven: Bool) -> Int64 {
    let now = clock()
    let current = pending > 0 ? slownessOf(pendingSince, now, mustBeProven) : 0
    let isRemembered = now - lastWaitUntil < TallyPlanner.slowAnswerTtlMillis
    let last = isRemembered ? slownessOf(lastWaitSince, lastWaitUntil, mustBeProven) : 0
    return max(current, last)
  }

  private func multiple() -> Double {
    return max(factor, Double(slowness(true)) * max(TallyPlanner.slowFactor, TallyPlanner.slowMinShards / shardCount))
  }

  /// Whether the client chooses from more than the shard count.
  func isContended() -> Bool {
    return multiple() > 1
  }

  /// Whether to read the shard count before the next write.
  func isStale() -> Bool {
    let isSuspected = factor > 1 || slowness(false) > 0
    let limit = isSuspected ? TallyPlanner.shortShardCountTtlMillis : ttl
    return writes >= TallyPlanner.shardCountTtlWrites || clock() - knownAt >= limit
  }

  /// How long a write waits for a read of the shard count at most, in milliseconds.
  func countTimeout() -> Int64 {
    return hasCount ? TallyPlanner.laterCountTimeoutMillis : TallyPlanner.firstCountTimeoutMillis
  }

  /// The client has read the counter document.
  ///
  /// - Parameters:
  ///   - seen: its shard count; less than 1 becomes 1. Without it, because the read failed or there is no counter, the known
  ///     count stays
  ///   - growing: whether the count has just grown. A watch passes `false`, because it learns of further growth
  ///   - readMillis: how long the read took, in milliseconds. A failed read and a watch pass none
  func update(_ seen: Double?, _ growing: Bool, _ readMillis: Int64?) {
    let read = seen ?? shardCount
    let known = read >= 1 ? read : 1.0
    if known > shardCount {
      // The backend grew the count because of the contention.
      factor = 1.0
      lastWaitUntil = lastWaitSince
    }
    shardCount = known
    knownAt = clock()
    let isSettled = seen != nil && !growing
    ttl = isSettled ? TallyPlanner.shardCountTtlMillis : TallyPlanner.shortShardCountTtlMillis
    hasCount = true
    if readMillis != nil {
      readAt = knownAt
    }
    roundTrip = readMillis ?? roundTrip
    writes = 0
  }

  func writeSent() {
    writes += 1
    if pending == 0 {
      pendingSince = clock()
    }
    pending += 1
  }

  /// The write has an answer.
  ///
  /// - Parameter isRefused: whether it was refused as contended
  func writeAnswered(_ isRefused: Bool) {
    let before = multiple()
    pending -= 1
    let now = clock()
    lastWaitSince = isRefused ? now : pendingSince
    lastWaitUntil = now
    pendingSince = now
    if isRefused {
      factor = min(before * TallyPlanner.refusedFactor, TallyPlanner.maxFactor)
    } else {
      factor = max(factor / 2, 1.0)
    }
  }

  /// How many shards to choose from for the next write.
  func shardsToChooseFrom() -> Double {
    return min(multiple() * shardCount, Double(TallyPlanner.maxShards))
  }
}

/// One increment of this client, with bounds of its commit time in microseconds.
final class TallyOwnIncrement {
  let by: Int64
  var earliest: Int64
  var latest: Int64

  init(_ by: Int64, _ earliest: Int64, _ latest: Int64) {
    self.by = by
    self.earliest = earliest
    self.latest = latest
  }
}

/// The total that a watch shows: the published one, and this client's increments that it does not include yet. A
/// published total includes what was committed up to its `asOf`; while that is unknown of an increment, the shown total
/// stays as near as possible to what it was.
final class TallyTotal {
  private var own: [TallyOwnIncrement] = []
  private var published = 0.0
  private var publishedAt: Int64 = 0
  private var isFirst = true
  private var shown = 0.0

  func total() -> Double {
    return shown
  }

  /// Whether an increment has no answer yet.
  func isPending() -> Bool {
    return own.contains { one in one.latest == TallyPlanner.never }
  }

  func incrementMade(_ by: Int64) -> TallyOwnIncrement {
    let made = TallyOwnIncrement(by, publishedAt + 1, TallyPlanner.never)
    own.append(made)
    shown += Double(by)
    return made
  }

  /// Committed at `latest` or before.
  func incrementCommitted(_ made: TallyOwnIncrement, _ latest: Int64) {
    made.latest = latest
    settle()
  }

  func incrementRefused(_ made: TallyOwnIncrement) {
    let before = own.count
    own.removeAll { one in one === made }
    if own.count < before {
      shown -= Double(made.by)
    }
    settle()
  }

  /// The counter document was read.
  ///
  /// - Parameter asOf: in microseconds; 0 without a published total
  func totalRead(_ total: Double, _ asOf: Int64, _ fromCache: Bool) {
    if asOf == 0 && publishedAt > 0 && !fromCache {
      // The counter was deleted, and with it all committed increments.
      own.removeAll { one in one.latest < TallyPlanner.never }
    } else if asOf < publishedAt {
      return
    }
    if isFirst {
      shown = total
      if fromCache {
        own.forEach { one in one.earliest = max(one.earliest, asOf + 1) }
      }
    }
    isFirst = false
    published = total
    publishedAt = asOf
    settle()
  }

  private func settle() {
    own.removeAll { one in one.latest <= publishedAt }
    var low = published
    var high = published
    own.forEach { one in
      let isMissing = one.earliest > publishedAt
      if isMissing || one.by < 0 {
        low += Double(one.by)
      }
      if isMissing || one.by > 0 {
        high += Double(one.by)
      }
    }
    shown = min(max(shown, low), high)
  }
}

// --- Firestore ---

/// Why a call failed. Firestore's own errors are passed on unchanged.
struct TallyError: LocalizedError {
  let code: String
  let message: String

  var errorDescription: String? { code + ": " + message }
}

/// A total and the instant for which it is exact.
struct TallySnapshot: Equatable {
  /// The sum of all increments committed at or before `asOf`; a watch adds this client's own.
  var total: Double
  /// `nil` without a published total.
  let asOf: Timestamp?
  /// Whether `total` includes increments of this client that the server has not acknowledged.
  var pending: Bool
  /// Whether the published total is from this device's cache.
  let fromCache: Bool
  /// Writes per second, averaged over some seconds.
  let rate: Double

  /// The total, rounded. It is whole unless a server writes fractions.
  var wholeTotal: Int { Int(total.rounded()) }
}

/// One counter. Calls of `of` for the same counter return the same object, which is kept as long as the process.
@MainActor
final class TallyCounter {
  let id: String
  let path: String
  private let firestore: Firestore
  private let shardCount: TallyShardCount
  private let total = TallyTotal()
  private var views: [TallyWatch] = []
  private var ownByOnce: [String: TallyOwnIncrement] = [:]
  private var wasWatched = false
  private var viewEndedAt: Int64 = 0
  private var answeredAt: Int64 = 0
  private var keepsMarks = false
  private var reading: Task<Void, Never>?

  private static var counters: [ObjectIdentifier: [String: TallyCounter]] = [:]
  /// The SDK stops the app if there are more.
  private static let lookupAttempts = Int(Int32.max)

  private init(_ firestore: Firestore, _ id: String, _ path: String) {
    self.firestore = firestore
    self.id = id
    self.path = path
    shardCount = TallyShardCount(TallyCounter.clock)
  }

  /// Refers to a counter. No I/O; the first increment creates it.
  ///
  /// - Throws: `TallyError` with `counter/invalid-id` or `counter/invalid-collection`
  static func of(_ firestore: Firestore, _ id: String, collection: String = "counters") throws -> TallyCounter {
    try requireName("collection", collection)
    try requireName("id", id)
    let path = collection + "/" + id
    let database = ObjectIdentifier(firestore)
    if let known = counters[database]?[path] { return known }
    let counter = TallyCounter(firestore, id, path)
    counters[database, default: [:]][path] = counter
    return counter
  }

  /// Adds `by`. Returns when the server has acknowledged the increment; offline, when the device is online again. With a
  /// `once`, the user's uid, the counter counts it once, and the call succeeds if it counts already.
  ///
  /// Cost: 1 write; with `once` 2 writes, and 2 reads by the rules. The first increment reads the counter document (1 read,
  /// awaited for eight seconds at most). So do the first after two minutes and one in 20 (1 read, awaited for a second at
  /// most), unless a watch has delivered a total. A write that is refused or contended costs 1 read more, 2 with `once`. In a
  /// watched counter, an increment that is sent while others contend costs 1 read more.
  ///
  /// An increment first awaits the read of the counter document, if it makes one. Then, unlike on the web, it goes to the
  /// SDK's queue if the server has not answered anything for 10 seconds: the queue keeps it on disk, so an app that is offline
  /// or killed does not lose it. Else it goes into a transaction, and if that is refused as contended, to another shard.
  /// Increments with `once`, and those of a watched counter that is not contended, always go to the queue, which repeats a
  /// contended write on the same shard.
  ///
  /// - Throws: `TallyError` with `counter/invalid-amount`, `counter/invalid-once` or `counter/permission-denied`
  func increment(by: Int64 = 1, once: String? = nil) async throws {
    try TallyCounter.requireAmount(by)
    if let once { try TallyCounter.requireName("once", once) }
    try await commit(by, once, nil)
  }

  /// Undoes an increment with `once`. Succeeds if it does not count.
  ///
  /// Cost: 1 read; if it counts, 1 write and 1 delete more, and 2 reads by the rules.
  ///
  /// - Throws: `TallyError` with `counter/invalid-once` or `counter/permission-denied`; Firestore's `unavailable` if the
  ///   device is offline and the entry is not in its cache
  func undo(once: String) async throws {
    try TallyCounter.requireName("once", once)
    await refreshShardCount()
    let cached = try await entryOf(once).getDocument()
    if cached.exists {
      do {
        return try await undoEntry(once, cached)
      } catch let error as TallyError where error.code == "counter/permission-denied" {}
    }
    // The cache was out of date: another device has undone the increment or made it again.
    if let actual = try await readFromServer(entryOf(once), TallyCounter.lookupAttempts), actual.exists {
      try await undoEntry(once, actual)
    }
  }

  private func undoEntry(_ once: String, _ entry: DocumentSnapshot) async throws {
    let by = (entry.get("by") as? NSNumber)?.int64Value ?? 0
    try await commit(-by, once, entry.get("shard") as? String)
  }

  /// Adds an increment to your own batch: both are committed or neither. At most one per counter and batch. Watches show it
  /// when it is published. After a cut connection, `commit` may fail with `permissionDenied` although the batch was
  /// committed.
  ///
  /// Cost: 1 write of the batch; with `once` 2, and 2 reads by the rules; now and then the reads of `increment`.
  ///
  /// - Throws: `TallyError` with `counter/invalid-amount` or `counter/invalid-once`
  func incrementIn(_ batch: WriteBatch, by: Int64 = 1, once: String? = nil) throws {
    try TallyCounter.requireAmount(by)
    if let once { try TallyCounter.requireName("once", once) }
    Task { await refreshShardCount() }
    addWrites(batch, planFor(by, once, nil))
  }

  /// Whether an increment with this `once` counts. Cost: 1 read. Offline it needs the entry in the cache.
  func getIncremented(once: String) async throws -> Bool {
    try TallyCounter.requireName("once", once)
    return try await entryOf(once).getDocument().exists
  }

  /// Watches whether an increment with this `once` counts, once that is known, with this client's own changes at once. Cost: 1 read,
  /// and 1 per change.
  func onIncremented(
    once: String, onError: @escaping (Error) -> Void = { _ in }, _ next: @escaping (Bool) -> Void
  ) throws -> ListenerRegistration {
    try TallyCounter.requireName("once", once)
    let entry = entryOf(once)
    let watch = TallyEntryWatch()
    var shown: Bool?
    let show = { (counts: Bool) in
      if watch.isRemoved || counts == shown { return }
      shown = counts
      next(counts)
    }
    watch.listener = entry.addSnapshotListener(includeMetadataChanges: true) { read, error in
      if let error {
        onError(error)
      } else if let read {
        // An empty cache does not know the entry; one that persists may know that there is none.
        if read.exists || !read.metadata.isFromCache || shown != nil { return show(read.exists) }
        entry.getDocument(source: .cache) { cached, _ in
          if let cached, shown == nil { show(cached.exists) }
        }
      }
    }
    return watch
  }

  /// Reads the published total. Cost: 1 read.
  func get() async throws -> TallySnapshot {
    let document = try await firestore.document(path).getDocument()
    shardCount.update(shardsOf(document), document.get("growing") as? Bool == true, nil)
    return snapshotOf(document)
  }

  /// Watches the total: calls `next` with each published one, about once a second at most, and at once for increments of
  /// this client, which every total includes exactly once. Increments of your own batches, of other devices and from before
  /// the app was restarted show when they are published. The watch ends with `remove()`. One that fails calls `onError` and
  /// has then ended.
  ///
  /// Cost: 1 read per published total. An increment's time is read from the cache, and from the server (1 read) if the
  /// cache has lost it or was never given it: where persistence is disabled, and after a transaction.
  func watch(
    onError: @escaping (Error) -> Void = { _ in }, _ next: @escaping (TallySnapshot) -> Void
  ) -> TallyWatch {
    let view = TallyWatch(next)
    wasWatched = true
    views.append(view)
    view.listener = firestore.document(path).addSnapshotListener(includeMetadataChanges: true) {
      [weak self, weak view] document, error in
      // The SDK calls back on the main queue.
      MainActor.assumeIsolated {
        guard let self, let view else { return }
        if let error {
          self.remove(view)
          onError(error)
        } else if let document {
          let fromCache = document.metadata.isFromCache
          // A cache without the document does not tell the shard count.
          if document.exists || !fromCache { self.shardCount.update(self.shardsOf(document), false, nil) }
          let read = self.snapshotOf(document)
          view.published = read
          self.total.totalRead(read.total, TallyCounter.micros(read.asOf), fromCache)
          self.showAll()
        }
      }
    }
    view.leave = { [weak self, weak view] in
      if let self, let view { self.remove(view) }
    }
    return view
  }

  private func remove(_ view: TallyWatch) {
    guard let place = views.firstIndex(where: { $0 === view }) else { return }
    views.remove(at: place)
    viewEndedAt = TallyCounter.clock()
  }

  /// Whether there is a view, or has just been one: a view that is created again soon still finds the increments.
  private func isWatched() -> Bool {
    return !views.isEmpty || TallyCounter.clock() - viewEndedAt < TallyPlanner.maxPublishDelayMillis
  }

  private func showAll() {
    for view in views {
      // A view may remove others.
      if views.contains(where: { $0 === view }) { view.show(total.total(), total.isPending()) }
    }
  }

  private nonisolated static func clock() -> Int64 {
    return Int64(Date().timeIntervalSince1970 * 1_000)
  }

  private nonisolated static func random() -> Double {
    return Double.random(in: 0..<1)
  }

  private nonisolated static func micros(_ at: Timestamp?) -> Int64 {
    guard let at else { return 0 }
    return TallyPlanner.micros(at.seconds, Int64(at.nanoseconds))
  }

  private nonisolated static func requireName(_ what: String, _ name: String) throws {
    if TallyPlanner.isValidName(name) { return }
    let accepted = "pass 1-1500 bytes, no \"/\" or control character, not \".\", \"..\", \"__x__\""
    throw TallyError(code: "counter/invalid-" + what, message: "\(what) is \"\(name.prefix(60))\"; \(accepted)")
  }

  private nonisolated static func requireAmount(_ by: Int64) throws {
    if by == 0 { throw TallyError(code: "counter/invalid-amount", message: "amount is 0; pass another number") }
  }

  private nonisolated static func codeOf(_ error: Error) -> FirestoreErrorCode.Code? {
    let error = error as NSError
    return error.domain == FirestoreErrorDomain ? FirestoreErrorCode.Code(rawValue: error.code) : nil
  }

  private func entryOf(_ once: String) -> DocumentReference {
    return firestore.document(TallyPlanner.entryPath(path, once))
  }

  private func shardOf(_ plan: TallyPlan) -> DocumentReference {
    return firestore.document(TallyPlanner.shardPath(path, plan.shard))
  }

  private func snapshotOf(_ document: DocumentSnapshot) -> TallySnapshot {
    return TallySnapshot(
      total: (document.get("total") as? NSNumber)?.doubleValue ?? 0, asOf: document.get("asOf") as? Timestamp,
      pending: false, fromCache: document.metadata.isFromCache,
      rate: (document.get("rate") as? NSNumber)?.doubleValue ?? 0)
  }

  private func shardsOf(_ document: DocumentSnapshot) -> Double? {
    return (document.get("shardCount") as? NSNumber)?.doubleValue
  }

  /// A committed increment: the server's time of the write or of a later one, if it was read with the outcome.
  private struct Committed {
    let plan: TallyPlan
    let countedBefore: Bool
    let at: Timestamp?
  }

  private func commit(_ by: Int64, _ once: String?, _ undoneShard: String?) async throws {
    let shown = wasWatched ? show(by, once) : nil
    let sentAt = TallyCounter.clock()
    do {
      let committed = try await commitWithRetries(by, once, undoneShard)
      if let shown { await settle(shown, committed, sentAt, once) }
    } catch {
      if let shown { refuse(shown, once) }
      throw error
    }
  }

  private func commitWithRetries(_ by: Int64, _ once: String?, _ undoneShard: String?) async throws -> Committed {
    await refreshShardCount()
    let plan = planFor(by, once, undoneShard)
    shardCount.writeSent()
    do {
      let committed: Committed
      do {
        committed = Committed(plan: plan, countedBefore: false, at: try await send(plan))
      } catch {
        committed = try await confirm(plan, error)
      }
      shardCount.writeAnswered(false)
      answeredAt = TallyCounter.clock()
      return committed
    } catch {
      let isRefused = TallyCounter.codeOf(error) == .aborted
      shardCount.writeAnswered(isRefused)
      if !isRefused { throw error }
      answeredAt = TallyCounter.clock()
    }
    // A refused write can no longer be committed, so another increment on another shard is safe.
    return try await commitWithRetries(by, once, undoneShard)
  }

  /// A transaction first, or the queue. What the transaction leaves without an answer goes to the queue, too: both count
  /// once.
  ///
  /// A transaction also removes the marks that have expired by this device's clock. If the rules refuse that, the clock may be
  /// wrong: the same plan is sent again without the removal, and if it is accepted, this client removes none from then on.
  /// Writes in the queue may be sent hours later, so they remove none.
  private func send(_ plan: TallyPlan) async throws -> Timestamp? {
    let sinceAnswer = TallyCounter.clock() - answeredAt
    if TallyPlanner.usesTransaction(plan.entry != nil, isWatched(), shardCount.isContended(), sinceAnswer) {
      do {
        let removesMarks = !keepsMarks
        do {
          try await transact(plan, removesMarks)
        } catch {
          if !removesMarks || TallyCounter.codeOf(error) != .permissionDenied { throw error }
          try await transact(plan, false)
          keepsMarks = true
        }
        // The cache does not have the server's timestamp.
        return !isWatched() ? nil : try await readFromServer(shardOf(plan), TallyCounter.lookupAttempts)?.get("at") as? Timestamp
      } catch {
        let code = TallyCounter.codeOf(error)
        if code == .aborted || code == .permissionDenied { throw error }
      }
    }
    let batch = firestore.batch()
    addWrites(batch, plan)
    try await batch.commit()
    return nil
  }

  private func transact(_ plan: TallyPlan, _ removesMarks: Bool) async throws {
    let writes = TallyPlanner.writes(plan, removesMarks)
    let firestore = self.firestore
    try await runTransaction(1) { own in
      for write in writes {
        let document = firestore.document(write.path)
        guard let fields = write.fields else {
          own.deleteDocument(document)
          continue
        }
        own.setData(TallyCounter.valuesOf(fields), forDocument: document, merge: write.merge)
      }
    }
  }

  private func planFor(_ by: Int64, _ once: String?, _ undoneShard: String?) -> TallyPlan {
    let chosen = undoneShard ?? TallyPlanner.randomShard(shardCount.shardsToChooseFrom(), TallyCounter.random)
    return TallyPlanner.planIncrement(
      path, chosen, by, TallyCounter.clock(), TallyCounter.random, once, undoneShard != nil)
  }

  private func addWrites(_ batch: WriteBatch, _ plan: TallyPlan) {
    for write in TallyPlanner.writes(plan, false) {
      let document = firestore.document(write.path)
      if let fields = write.fields {
        batch.setData(TallyCounter.valuesOf(fields), forDocument: document, merge: write.merge)
      } else {
        batch.deleteDocument(document)
      }
    }
  }

  private nonisolated static func valuesOf(_ fields: [String: TallyValue]) -> [String: Any] {
    return fields.mapValues { value -> Any in
      switch value {
      case .text(let text): return text
      case .whole(let number): return NSNumber(value: number)
      case .increment(let by): return FieldValue.increment(by)
      case .serverTime: return FieldValue.serverTimestamp()
      case .append(let bytes): return FieldValue.arrayUnion([dataOf(bytes)])
      case .fields(let inner): return valuesOf(inner)
      case .delete: return FieldValue.delete()
      }
    }
  }

  private nonisolated static func dataOf(_ bytes: [Int]) -> Data {
    return Data(bytes.map { UInt8($0) })
  }

  /// Looks up whether a refused write counts. Cost: 1 read, 2 with `once`.
  private func confirm(_ plan: TallyPlan, _ cause: Error) async throws -> Committed {
    let isAborted = TallyCounter.codeOf(cause) == .aborted
    if !isAborted && TallyCounter.codeOf(cause) != .permissionDenied { throw cause }
    let shard = try await readFromServer(shardOf(plan), TallyCounter.lookupAttempts)
    let marks = shard?.get("marks") as? [String: Any]
    let nonces = (marks?[plan.slot] as? [String: Any])?["nonces"] as? [Data]
    let hasMark = nonces?.contains(TallyCounter.dataOf(plan.nonce)) == true
    var countedBy: Int64?
    if let entry = plan.entry, !hasMark && !isAborted && !plan.isUndo {
      let found = try await readFromServer(firestore.document(entry), TallyCounter.lookupAttempts)
      countedBy = (found?.get("by") as? NSNumber)?.int64Value
    }
    switch TallyPlanner.judgeRefusal(isAborted, hasMark, countedBy, plan.by) {
    case "committed": return Committed(plan: plan, countedBefore: false, at: shard?.get("at") as? Timestamp)
    case "counted": return Committed(plan: plan, countedBefore: true, at: nil)
    case "retry": throw cause
    default: throw refusal(plan, countedBy)
    }
  }

  private func refusal(_ plan: TallyPlan, _ countedBy: Int64?) -> TallyError {
    var advice =
      "isOpen in firestore.rules must name the group and isAllowedAmount allow the amount; "
      + "or the counter counts once per user: pass once"
    if plan.entry != nil { advice = "once must be the user's uid, and countsOncePerUser must name the group" }
    if let countedBy { advice = "it counts \(countedBy), undo that first" }
    return TallyError(
      code: "counter/permission-denied", message: "firestore.rules refuse \(plan.by) for \"\(id)\"; \(advice)")
  }

  private func runTransaction(_ maxAttempts: Int, _ update: @escaping (Transaction) throws -> Void) async throws {
    let options = TransactionOptions()
    options.maxAttempts = maxAttempts
    // The SDK has no async form with options.
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, Error>) in
      firestore.runTransaction(
        with: options,
        block: { own, failure in
          do {
            try update(own)
          } catch {
            failure?.pointee = error as NSError
          }
          return nil
        },
        completion: { _, error in
          if let error {
            done.resume(throwing: error)
          } else {
            done.resume()
          }
        })
    }
  }

  /// In a transaction that commits nothing: any other read would show this client's unsent writes. `nil` if the rules do not
  /// let this user read the document. Cost: 1 read.
  private func readFromServer(_ document: DocumentReference, _ maxAttempts: Int) async throws -> DocumentSnapshot? {
    var snapshot: DocumentSnapshot?
    do {
      try await runTransaction(maxAttempts) { own in
        snapshot = try own.getDocument(document)
        // Ends the transaction; of an error that is not Firestore's, the SDK makes no second attempt.
        throw TallyError(code: "counter/nothing-to-commit", message: "")
      }
    } catch {
      if snapshot == nil && TallyCounter.codeOf(error) != .permissionDenied { throw error }
    }
    return snapshot
  }

  /// Reads the shard count if the known one is stale. Never fails. Ends after eight seconds at the latest for the first
  /// read, and after one second for later reads.
  private func refreshShardCount() async {
    if !shardCount.isStale() { return }
    if reading == nil {
      let countTimeout = shardCount.countTimeout()
      let read = Task {
        var document: DocumentSnapshot?
        var readMillis: Int64?
        let sentAt = TallyCounter.clock()
        do {
          document = try await readFromServer(firestore.document(path), 1)
          readMillis = TallyCounter.clock() - sentAt
          answeredAt = TallyCounter.clock()
        } catch {
          // Any shard count is safe.
        }
        shardCount.update(document.flatMap { shardsOf($0) }, document?.get("growing") as? Bool == true, readMillis)
        reading = nil
      }
      reading = Task {
        await withCheckedContinuation { (known: CheckedContinuation<Void, Never>) in
          var isOver = false
          let end = {
            if !isOver { known.resume() }
            isOver = true
          }
          Task {
            await read.value
            end()
          }
          Task {
            try? await Task.sleep(nanoseconds: UInt64(countTimeout) * 1_000_000)
            end()
          }
        }
      }
    }
    await reading?.value
  }

  /// Shows an increment in the watches until a published total includes it. `nil` if another attempt with the `once` is shown.
  private func show(_ by: Int64, _ once: String?) -> TallyOwnIncrement? {
    // Of several concurrent attempts with the same `once`, one counts.
    if let once, ownByOnce[once]?.by == by { return nil }
    let own = total.incrementMade(by)
    if let once { ownByOnce[once] = own }
    showAll()
    return own
  }

  private func settle(_ own: TallyOwnIncrement, _ committed: Committed, _ sentAt: Int64, _ once: String?) async {
    // It had counted before; or no view is left that could show the increment.
    if committed.countedBefore || !isWatched() { return refuse(own, once) }
    var found = committed.at
    if found == nil { found = await timestampOf(shardOf(committed.plan)) }
    guard let at = found else { return refuse(own, once) }
    let start = TallyCounter.micros(at)
    total.incrementCommitted(own, TallyPlanner.latestCommit(start, TallyCounter.clock() - sentAt))
    forget(own, once)
    Task {
      // A total between both bounds may include the increment or not. It does if no other total has followed by then.
      try? await Task.sleep(nanoseconds: UInt64(TallyPlanner.maxPublishDelayMillis) * 1_000_000)
      total.incrementCommitted(own, start)
      showAll()
    }
  }

  private func refuse(_ own: TallyOwnIncrement, _ once: String?) {
    total.incrementRefused(own)
    forget(own, once)
  }

  private func forget(_ own: TallyOwnIncrement, _ once: String?) {
    if let once, ownByOnce[once] === own { ownByOnce[once] = nil }
    showAll()
  }

  /// The server's time of this client's last write on a shard that went through the queue.
  private func timestampOf(_ shard: DocumentReference) async -> Timestamp? {
    var snapshot = try? await shard.getDocument(source: .cache)
    if snapshot == nil { snapshot = try? await shard.getDocument() }
    return snapshot?.get("at", serverTimestampBehavior: .previous) as? Timestamp
  }
}

/// A watch of whether an increment with `once` counts. It ends with `remove()`.
private final class TallyEntryWatch: NSObject, ListenerRegistration {
  var listener: ListenerRegistration?
  private(set) var isRemoved = false

  func remove() {
    isRemoved = true
    listener?.remove()
    // The listener's closure holds this watch.
    listener = nil
  }
}

/// A watch of a total. It ends with `remove()`.
@MainActor
final class TallyWatch {
  fileprivate var published: TallySnapshot?
  fileprivate var listener: ListenerRegistration?
  fileprivate var leave: () -> Void = {}
  private var last: TallySnapshot?
  private let next: (TallySnapshot) -> Void

  fileprivate init(_ next: @escaping (TallySnapshot) -> Void) {
    self.next = next
  }

  func remove() {
    listener?.remove()
    leave()
  }

  fileprivate func show(_ total: Double, _ isPending: Bool) {
    guard var shown = published else { return }
    shown.total = total
    shown.pending = isPending
    if shown == last { return }
    last = shown
    next(shown)
  }
}
