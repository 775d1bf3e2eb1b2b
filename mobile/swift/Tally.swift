/*
 * Tally for iOS: copy this file into your app. It needs FirebaseFirestore 11.2 or newer, Swift 6.1 (Xcode 16.3) or newer, and
 * nothing else.
 *
 *     let views = try TallyCounter.of(Firestore.firestore(), "views:home")
 *     let watch = views.watch { label.text = "\($0.wholeTotal) views" }
 *     try await views.increment()
 *
 * The first part, the planner, decides what is written and what is shown. It has no I/O, and docs/vectors.json holds it to
 * the web client. The second part hands the plans to the Firestore SDK. It runs on the main actor, where it also calls back.
 */
import Dispatch
import FirebaseFirestore
import Foundation
import Network

// --- planner ---

/// The value of a field in a plan.
nonisolated indirect enum TallyValue {
  case text(String)
  case whole(Int64)
  case flag(Bool)
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
nonisolated struct TallyWrite {
  let path: String
  let fields: [String: TallyValue]?
  let merge: Bool

  init(_ path: String, _ fields: [String: TallyValue]?, _ merge: Bool) {
    self.path = path
    self.fields = fields
    self.merge = merge
  }
}

/// One increment: which document, which slot, which nonce. A retry sends the same plan. On a shard, the marks of the slot
/// `expired` may be removed, if the clock of this device is right; in the counter document they always are.
nonisolated struct TallyPlan {
  let counter: String
  let shard: String
  let by: Int64
  let slot: String
  let expired: String
  let nonce: [Int]
  let entry: String?
  let once: String?
  let isUndo: Bool
  let generation: Int64?
  let group: String?

  init(
    _ counter: String, _ shard: String, _ by: Int64, _ slot: String, _ expired: String, _ nonce: [Int], _ entry: String?,
    _ once: String?, _ isUndo: Bool, _ generation: Int64?, _ group: String?
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
    self.generation = generation
    self.group = group
  }
}

/// Where the next increment goes, by the counter document.
nonisolated struct TallyTarget {
  /// The generation that the increment joins; `nil` for a shard.
  let generation: Int64?

  /// How many more increments that generation takes.
  let room: Int64

  /// How many shards the crowd that filled the generation needs.
  let shards: Double

  init(_ generation: Int64?, _ room: Int64, _ shards: Double) {
    self.generation = generation
    self.room = room
    self.shards = shards
  }
}

/// What a client writes, as functions without I/O.
nonisolated enum TallyPlanner {
  static let maxIdBytes = 1_500
  static let maxShards = 10_000
  static let markSlots: Int64 = 5
  static let directSlots: Int64 = 8
  static let maxDirectMarks: Int64 = 4
  static let maxMarksWithoutFunctions: Int64 = 40
  static let slowGenerationMillis: Int64 = 60_000
  static let crowdShardMillis = 6_000.0
  static let mostCrowdShards = 150.0
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

  /// What the entry of an increment names instead of a shard if it is in the counter document.
  static let direct = "direct"

  /// Later than every instant in microseconds.
  static let never: Int64 = 9_007_199_254_740_991

  /// Whether a name is valid as an id. By its UTF-16 units, because languages differ in what is a character, and in what is
  /// equal. Firestore also takes control characters, but its events do not arrive. Half a surrogate pair is refused: the SDK
  /// would replace it.
  static func isValidName(_ units: [Int]) -> Bool {
    var size = 0
    var at = 0
    while at < units.count {
      let one = units[at]
      let isHigh = one >= 55_296 && one < 56_320 && at + 1 < units.count
      let isPair = isHigh && units[at + 1] >= 56_320 && units[at + 1] < 57_344
      if !isPair && isForbidden(one) {
        return false
      }
      size += sizeOf(one, isPair)
      at += isPair ? 2 : 1
    }
    // In parentheses twice, because the grammar that compares the planners takes `!(` for a call.
    return size >= 1 && size <= maxIdBytes && !isDots(units) && !((size >= 4 && isReserved(units)))
  }

  /// Control characters, a slash, half a surrogate pair.
  private static func isForbidden(_ one: Int) -> Bool {
    return one < 32 || one == 47 || (one >= 127 && one < 160) || (one >= 55_296 && one < 57_344)
  }

  /// The bytes of a character in UTF-8.
  private static func sizeOf(_ one: Int, _ isPair: Bool) -> Int {
    if one < 2_048 {
      return one < 128 ? 1 : 2
    }
    return isPair ? 4 : 3
  }

  /// "." or "..".
  private static func isDots(_ units: [Int]) -> Bool {
    return units.count < 3 && units[0] == 46 && units[units.count - 1] == 46
  }

  /// "__" at both ends.
  private static func isReserved(_ units: [Int]) -> Bool {
    let last = units.count - 1
    return units[0] == 95 && units[1] == 95 && units[last] == 95 && units[last - 1] == 95
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

  /// Where the next increment goes, by the field `direct` of the counter document. docs/data-model.md (In the counter
  /// document) has the rules.
  ///
  /// - Parameters:
  ///   - isOpen: whether the document accepts direct increments; true if it does not exist
  ///   - size: how many marks the generation has
  ///   - millis: the time between the last writes of the previous and of this generation; without a previous one, since the
  ///     epoch; -1 if a write has no time yet
  static func directTarget(_ isOpen: Bool, _ generation: Int64, _ size: Int64, _ millis: Int64) -> TallyTarget {
    if !isOpen {
      return TallyTarget(nil, 0, 1.0)
    }
    let most = size > maxDirectMarks ? maxMarksWithoutFunctions : maxDirectMarks
    // Firestore compares microseconds, so exactly a minute may be less.
    if size >= maxDirectMarks && millis > slowGenerationMillis {
      return TallyTarget(generation + 1, most, 1.0)
    }
    if size < most {
      return TallyTarget(generation, most - size, 1.0)
    }
    if millis < 0 {
      return TallyTarget(nil, 0, 1.0)
    }
    if most > maxDirectMarks {
      return TallyTarget(generation + 1, most, 1.0)
    }
    return TallyTarget(nil, 0, min(crowdShardMillis / Double(max(millis, 1)), mostCrowdShards))
  }

  /// Plans one increment in the counter document. An undo is an increment by the opposite amount.
  ///
  /// - Parameter group: of an increment that creates the document: the part of the counter's id before the first colon, or ""
  static func planDirect(
    _ counter: String, _ generation: Int64, _ group: String?, _ by: Int64, _ random: () -> Double, _ once: String?,
    _ isUndo: Bool
  ) -> TallyPlan {
    let entry = once == nil ? nil : entryPath(counter, once!)
    let slot = String(generation % directSlots)
    let expired = String((generation + 1) % directSlots)
    return TallyPlan(counter, direct, by, slot, expired, newNonce(random), entry, once, isUndo, generation, group)
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
    return TallyPlan(counter, place, by, markSlot(now, 0), expired, newNonce(random), entry, once, isUndo, nil, nil)
  }

  /// The writes of a plan, for one commit.
  ///
  /// - Parameter removesMarks: whether they also remove the slot that has expired
  static func writes(_ plan: TallyPlan, _ removesMarks: Bool) -> [TallyWrite] {
    let increment = plan.generation == nil ? shardWrite(plan, removesMarks) : directWrite(plan, plan.generation!)
    if plan.entry == nil || plan.once == nil {
      return [increment]
    }
    if plan.isUndo {
      return [TallyWrite(plan.entry!, nil, false), increment]
    }
    let entry = [
      "once": TallyValue.text(plan.once!),
      "by": TallyValue.whole(plan.by),
      "shard": TallyValue.text(plan.shard),
      "at": TallyValue.serverTime,
    ]
    return [TallyWrite(plan.entry!, entry, false), increment]
  }

  private static func shardWrite(_ plan: TallyPlan, _ removesMarks: Bool) -> TallyWrite {
    let fields = [
      "shard": TallyValue.text(plan.shard),
      "count": TallyValue.increment(plan.by),
      "writes": TallyValue.increment(1),
      "at": TallyValue.serverTime,
      "marks": marked(plan, removesMarks),
    ]
    return TallyWrite(shardPath(plan.counter, plan.shard), fields, true)
  }

  private static func directWrite(_ plan: TallyPlan, _ generation: Int64) -> TallyWrite {
    var direct = [
      "generation": TallyValue.whole(generation),
      "count": TallyValue.increment(plan.by),
      "writes": TallyValue.increment(1),
      "marks": marked(plan, true),
    ]
    var fields = ["total": TallyValue.increment(plan.by)]
    if plan.group != nil {
      direct["open"] = TallyValue.flag(true)
      fields["group"] = TallyValue.text(plan.group!)
    }
    fields["direct"] = TallyValue.fields(direct)
    return TallyWrite(plan.counter, fields, true)
  }

  private static func marked(_ plan: TallyPlan, _ removesMarks: Bool) -> TallyValue {
    let mark = TallyValue.fields(["at": TallyValue.serverTime, "nonces": TallyValue.append(plan.nonce)])
    var marks = [plan.slot: mark]
    if removesMarks {
      marks[plan.expired] = TallyValue.delete
    }
    return TallyValue.fields(marks)
  }

  /// What a refused commit means: "committed", "counted" (by an earlier call with the `once`), "retry" (elsewhere) or
  /// "refused".
  ///
  /// - Parameters:
  ///   - hasMark: whether the document has the nonce of the plan
  ///   - countedBy: the amount of the entry, if the plan creates one and there is one
  ///   - isDirect: whether it is the counter document, which refuses for ever what its generation has refused
  static func judgeRefusal(
    _ isAborted: Bool, _ hasMark: Bool, _ countedBy: Int64?, _ by: Int64, _ isDirect: Bool
  ) -> String {
    if hasMark {
      return "committed"
    }
    if isAborted {
      return "retry"
    }
    if countedBy == by {
      return "counted"
    }
    return isDirect ? "retry" : "refused"
  }

  /// Whether an increment on a shard is first tried in a transaction. If that is refused as contended, it goes to another
  /// shard. Direct increments never are, nor is any increment while the device is offline: the caller checks both.
  ///
  /// - Parameter sinceAnswerMillis: the time since the last answer of the server
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

/// A write that was sent, in milliseconds since the epoch.
nonisolated final class TallySentWrite {
  let at: Int64

  init(_ at: Int64) {
    self.at = at
  }
}

/// How many shards this client chooses from for its next write. docs/data-model.md (Which shard) has the rules;
/// docs/vectors.json tests them.
nonisolated final class TallyShardCount {
  /// Milliseconds since the epoch.
  private let clock: () -> Int64
  private var shardCount = 1.0
  private var knownAt: Int64 = 0
  private var ttl: Int64 = 0
  private var writes = 0

  /// Whether a watch or a read, even one that failed, has updated the count.
  private var hasCount = false

  /// The writes without an answer, in their order.
  private var unanswered: [TallySentWrite] = []

  /// When a write was answered last.
  private var answeredAt: Int64 = 0

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

  /// Since when the writes without an answer wait.
  private func waitingSince() -> Int64 {
    return max(answeredAt, unanswered[0].at)
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
    let current = unanswered.count > 0 ? slownessOf(waitingSince(), now, mustBeProven) : 0
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
  ///
  /// - Parameter isLive: whether a watch keeps the document up to date
  func isStale(_ isLive: Bool) -> Bool {
    let isSuspected = factor > 1 || slowness(false) > 0
    if isLive && !isSuspected {
      return false
    }
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

  func writeSent() -> TallySentWrite {
    writes += 1
    let sent = TallySentWrite(clock())
    unanswered.append(sent)
    return sent
  }

  /// The write has an answer.
  ///
  /// - Parameter isRefused: whether it was refused as contended
  func writeAnswered(_ sent: TallySentWrite, _ isRefused: Bool) {
    let before = multiple()
    let now = clock()
    let hasNoWait = isRefused || unanswered.count == 0
    lastWaitSince = hasNoWait ? now : waitingSince()
    lastWaitUntil = now
    answeredAt = now
    // Those that the server has answered others after so long may be of a user who has signed out.
    unanswered.removeAll { one in one === sent || now - one.at >= TallyPlanner.offlineAfterMillis }
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

/// One increment of this client. On a shard, `earliest` and `latest` are bounds of its commit time in microseconds. In the
/// counter document, its mark tells whether a total includes it, and `latest` only whether it is acknowledged.
nonisolated final class TallyOwnIncrement {
  let by: Int64
  var earliest: Int64
  var latest: Int64
  var plan: TallyPlan? = nil
  var isMarked = false

  init(_ by: Int64, _ earliest: Int64, _ latest: Int64) {
    self.by = by
    self.earliest = earliest
    self.latest = latest
  }

  func isDirect() -> Bool {
    return plan?.generation != nil
  }
}

/// The total that a watch shows: the published one, and this client's increments that it does not include yet. A
/// published total includes what was committed up to its `asOf`; while that is unknown of an increment, the shown total
/// stays as near as possible to what it was.
nonisolated final class TallyTotal {
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

  /// The increment has a plan. If it had one before, that one was refused, so the published total no longer includes the
  /// increment.
  func incrementPlanned(_ made: TallyOwnIncrement, _ plan: TallyPlan) {
    if made.isMarked {
      published -= Double(made.by)
    }
    made.isMarked = false
    made.plan = plan
    settle()
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
      published -= made.isMarked ? Double(made.by) : 0
    }
    settle()
  }

  /// The counter document was read, as the SDK shows it: with this client's direct increments, also those without an answer.
  ///
  /// - Parameters:
  ///   - asOf: in microseconds; 0 without a published total
  ///   - hasMark: whether it has the nonce of a direct increment; `nil` if that was removed
  func totalRead(_ total: Double, _ asOf: Int64, _ fromCache: Bool, _ hasMark: (TallyPlan) -> Bool?) {
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
    own.forEach { one in one.isMarked = one.isDirect() && isMarkedBy(one, hasMark) }
    settle()
  }

  /// Marks that are gone were those of acknowledged increments.
  private func isMarkedBy(_ one: TallyOwnIncrement, _ hasMark: (TallyPlan) -> Bool?) -> Bool {
    let plan = one.plan
    let found = plan == nil ? false : hasMark(plan!)
    return found ?? (one.latest < TallyPlanner.never)
  }

  private func isIncluded(_ one: TallyOwnIncrement) -> Bool {
    if one.isDirect() {
      return one.isMarked && one.latest < TallyPlanner.never
    }
    return one.latest <= publishedAt
  }

  private func settle() {
    own.removeAll { one in isIncluded(one) }
    var low = published
    var high = published
    own.forEach { one in
      let isMissing = one.isDirect() ? !one.isMarked : one.earliest > publishedAt
      let isUnknown = !one.isDirect() && !isMissing
      if isMissing || (isUnknown && one.by < 0) {
        low += Double(one.by)
      }
      if isMissing || (isUnknown && one.by > 0) {
        high += Double(one.by)
      }
    }
    shown = min(max(shown, low), high)
  }
}

// --- Firestore ---

/// Why a call failed. Firestore's own errors are passed on unchanged.
nonisolated struct TallyError: LocalizedError {
  let code: String
  let message: String

  var errorDescription: String? { code + ": " + message }
}

/// A total. Its shards are summed up to `asOf`.
nonisolated struct TallySnapshot: Equatable {
  /// The sum of the shards up to `asOf`, plus all direct increments. In a watch also this client's unsent and unpublished
  /// increments.
  var total: Double
  /// `nil` without a published total.
  let asOf: Timestamp?
  /// Whether `total` includes increments of this client that the server has not acknowledged.
  var pending: Bool
  /// Whether the published total is from this device's cache.
  let fromCache: Bool
  /// Writes per second, averaged over some seconds.
  let rate: Double

  /// The total, rounded. It is whole unless a server writes fractions. NaN is 0; a total that is too large is the nearest
  /// `Int`.
  var wholeTotal: Int {
    if total.isNaN { return 0 }
    return Int(exactly: total.rounded()) ?? (total < 0 ? Int.min : Int.max)
  }
}

/// One counter. Calls of `of` for the same counter return the same object, which is kept as long as the process.
///
/// Await all increments and remove all watches before `terminate`: an increment that is still open never ends. A later call
/// ends the app.
@MainActor
final class TallyCounter {
  let id: String
  let path: String
  private let firestore: Firestore
  private let shardCount: TallyShardCount
  private let total = TallyTotal()
  private var views: [TallyWatch] = []
  private var wasWatched = false
  private var viewEndedAt: Int64 = 0
  private var answeredAt: Int64 = 0
  private var keepsMarks = false
  private var reading: Signal?

  /// Whether the last document is one that the server has sent to a watch.
  private var isLive = false

  /// The target of the next increment, as of the last read of the document; `nil` before the first read and after one that
  /// failed.
  private var target: TallyTarget?

  /// `room` of that target, minus this client's increments since.
  private var room: Int64 = 0

  /// Whether that document is missing, so that an increment creates it.
  private var isMissing = false

  /// The last call with each `once`. By bytes: strings of Swift are equal if they look the same.
  private var calls: [[UInt8]: OrderedCall] = [:]

  /// What `onIncremented` shows, made anew when a call begins, is refused or ends.
  private var entryViews: [TallyEntryWatch] = []

  private static var counters: [ObjectIdentifier: [[UInt8]: TallyCounter]] = [:]

  /// Whether the device has no network, as the system has said last. It counts as online until the system first says so, some
  /// milliseconds after the first call of `of`.
  private static var isOffline = false
  private static var monitor: NWPathMonitor?

  /// The SDK stops the app if there are more.
  private static let lookupAttempts = Int(Int32.max)

  /// The SDK repeats an `unauthenticated` read without end, each time with a new token.
  private static let unauthenticatedAttempts = 3

  /// An undo that the rules refuse is made again if the server's entry differs from what the client knew.
  private static let maxUndoAttempts = 3

  private init(_ firestore: Firestore, _ id: String, _ path: String) {
    self.firestore = firestore
    self.id = id
    self.path = path
    shardCount = TallyShardCount(TallyCounter.clock)
  }

  /// What calls wait for. After it is given, a wait does not suspend.
  @MainActor
  private final class Signal {
    private var isGiven = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func give() {
      isGiven = true
      let waited = waiting
      waiting = []
      for one in waited { one.resume() }
    }

    func wait() async {
      if isGiven { return }
      await withCheckedContinuation { (given: CheckedContinuation<Void, Never>) in
        waiting.append(given)
      }
    }
  }

  /// A call with `once`. The next one begins when this one is in the SDK's queue, which keeps the order, or has an outcome.
  @MainActor
  private final class OrderedCall {
    let once: String

    /// The amount; 0 for an undo.
    let by: Int64
    let nextAllowed: Signal
    let answered: Signal

    /// Whether its writes have been in the SDK's queue, so that later calls do not wait.
    var isQueued = false

    /// Whether a listener has shown this call's writes. From then on the listener's state is shown: after a sign-out it is
    /// that of the next user.
    var isSeen = false
    var isOver = false

    /// Whether watches of the total show its increment.
    var isInTotal = false

    /// Why the call has failed.
    var failure: Error?

    init(_ once: String, _ by: Int64) {
      self.once = once
      self.by = by
      nextAllowed = Signal()
      answered = Signal()
    }

    var counts: Bool { return by != 0 }

    /// It has an outcome.
    func finish() {
      isOver = true
      nextAllowed.give()
      answered.give()
    }
  }

  /// One increment, from its first step to its outcome.
  @MainActor
  private final class Call {
    let by: Int64
    let ordered: OrderedCall?

    /// For an undo, the shard that the entry names; else `nil`.
    let undoneShard: String?

    /// Whether watches show it before a total includes it.
    let isShown: Bool

    /// A generation that has refused it.
    var refusedBy: Int64?

    /// As watches show it.
    var own: TallyOwnIncrement?

    init(_ by: Int64, _ ordered: OrderedCall?, _ undoneShard: String?, _ isShown: Bool = true) {
      self.by = by
      self.ordered = ordered
      self.undoneShard = undoneShard
      self.isShown = isShown
    }
  }

  /// A committed increment: the server's time of the write or of a later one, if it was read with the outcome.
  private struct Committed {
    let plan: TallyPlan
    let countedBefore: Bool
    let at: Timestamp?
  }

  /// Refers to a counter. No I/O; the first increment creates it.
  ///
  /// - Throws: `TallyError` with `counter/invalid-id` or `counter/invalid-collection`
  static func of(_ firestore: Firestore, _ id: String, collection: String = "counters") throws -> TallyCounter {
    try requireName("collection", collection)
    try requireName("id", id)
    let path = collection + "/" + id
    let database = ObjectIdentifier(firestore)
    let key = bytesOf(path)
    if let known = counters[database]?[key] { return known }
    startMonitor()
    let counter = TallyCounter(firestore, id, path)
    counters[database, default: [:]][key] = counter
    return counter
  }

  /// Adds `by`. Returns when the server has acknowledged the increment; offline, when the device is online again. With a
  /// `once`, the user's uid, the counter counts it once, and the call succeeds if it counts already.
  ///
  /// While the counter is calm, the increment is a write of the counter document, which then has it in its total. Otherwise it
  /// is a write of a shard, which the functions publish. While neither a watch is live nor the server has answered this client
  /// about this counter within 10 seconds, an increment goes to a shard, which accepts a late write.
  ///
  /// Calls with the same `once` take effect in the order of the calls. Tasks of the main actor make their calls in the order in
  /// which the tasks were created.
  ///
  /// Cost: 1 write; with `once` 2 writes, and 2 reads by the rules. The first increment reads the counter document (1 read,
  /// awaited for eight seconds at most). So do the first after two minutes and one in 20 (1 read, awaited for a second at
  /// most), unless a watch is up to date. Without a network none is awaited. A write that is refused or contended costs 1 read
  /// more, 2 with `once`. In a watched counter, an increment that is sent while others contend costs 1 read more.
  ///
  /// An increment first awaits the read of the counter document, if it makes one. What needs no read and no transaction is in
  /// the queue when the call first suspends.
  ///
  /// The SDK's queue sends direct increments, those with `once`, those of a watched counter that is not contended, and all
  /// while the device is offline or the server has not answered for 10 seconds: the queue keeps them on disk, so an app that
  /// is killed does not lose them, and repeats a contended write on the same document. The others are tried in a transaction
  /// first. If that is refused as contended, they go to another shard; if it ends without an answer, to the queue.
  ///
  /// - Throws: `TallyError` with `counter/invalid-amount`, `counter/invalid-once` or `counter/permission-denied`
  func increment(by: Int64 = 1, once: String? = nil) async throws {
    try TallyCounter.requireAmount(by)
    guard let once else { return try await commit(Call(by, nil, nil)) }
    try TallyCounter.requireName("once", once)
    try await ordered(once, by) { call, _ in try await commit(Call(by, call, nil)) }
  }

  /// Undoes an increment with `once`. Succeeds if it does not count.
  ///
  /// Cost: 1 read unless the entry is in the cache; if it does not count, 1 more; if it does, 1 write and 1 delete, and 2
  /// reads by the rules. If the rules refuse it, 3 reads more for each of up to two other attempts.
  ///
  /// - Throws: `TallyError` with `counter/invalid-once` or `counter/permission-denied`; Firestore's `unavailable` if the
  ///   device is offline and the entry is not in its cache
  func undo(once: String) async throws {
    try TallyCounter.requireName("once", once)
    try await ordered(once, 0) { call, before in
      let entry = entryOf(once)
      var found = try? await entry.getDocument(source: .cache)
      if found?.exists != true { found = try await entry.getDocument() }
      if let found, found.exists {
        try await undoEntry(call, found, before?.isInTotal == true, 1)
      } else {
        try await undoOnServer(call, 1)
      }
    }
  }

  /// The cache was out of date: another device has undone the increment or made it again.
  private func undoOnServer(_ call: OrderedCall, _ attempt: Int) async throws {
    // Before a read that may last until the device is online.
    call.nextAllowed.give()
    let found = try await readFromServer(entryOf(call.once), TallyCounter.lookupAttempts)
    if let found, found.exists && !isSuperseded(call) { try await undoEntry(call, found, true, attempt + 1) }
  }

  /// - Parameter isInTotal: whether watches show the increment that it undoes, if that is in the queue for a shard
  private func undoEntry(
    _ call: OrderedCall, _ entry: DocumentSnapshot, _ isInTotal: Bool, _ attempt: Int
  ) async throws {
    let by = TallyCounter.wholeOf(entry.get("by")) ?? 0
    let shard = entry.get("shard") as? String ?? TallyPlanner.direct
    // A server may have written any name; one that is no id would end the app.
    try TallyCounter.requireName("shard", shard)
    // An increment of before the watch began, or before the app did: without the server's time, it is still in the queue.
    let isShown = isInTotal || shard == TallyPlanner.direct || entry.get("at") is Timestamp
    do {
      try await commit(Call(0 &- by, call, shard, isShown))
    } catch {
      if !TallyCounter.isDenied(error) || attempt >= TallyCounter.maxUndoAttempts { throw error }
      try await undoOnServer(call, attempt)
    }
  }

  /// A call with `once`, after those before; one that repeats the last one shares its outcome, because the cache would show
  /// both. It has its place in the order before the first suspension.
  private func ordered(
    _ once: String, _ by: Int64, _ make: @MainActor (OrderedCall, _ before: OrderedCall?) async throws -> Void
  ) async throws {
    let key = TallyCounter.bytesOf(once)
    let before = calls[key]
    if let before, before.by == by && !before.isOver {
      await before.answered.wait()
      if let failure = before.failure { throw failure }
      return
    }
    let call = OrderedCall(once, by)
    calls[key] = call
    defer {
      call.finish()
      showEntries()
    }
    showEntries()
    if let before { await before.nextAllowed.wait() }
    do {
      try await make(call, before)
    } catch {
      call.failure = error
      throw error
    }
  }

  private nonisolated static func isDenied(_ error: Error) -> Bool {
    return (error as? TallyError)?.code == "counter/permission-denied"
  }

  /// Whether there is a later call with this `once`, which decides.
  private func isSuperseded(_ call: OrderedCall?) -> Bool {
    guard let call else { return false }
    return calls[TallyCounter.bytesOf(call.once)] !== call
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
    _ = refreshShardCount()
    let shard = TallyPlanner.randomShard(shardCount.shardsToChooseFrom(), TallyCounter.random)
    let plan = TallyPlanner.planIncrement(path, shard, by, TallyCounter.clock(), TallyCounter.random, once, false)
    addWrites(batch, plan)
  }

  /// Whether an increment with this `once` counts. Cost: 1 read. Offline it needs the entry in the cache.
  func getIncremented(once: String) async throws -> Bool {
    try TallyCounter.requireName("once", once)
    return try await entryOf(once).getDocument().exists
  }

  /// Watches whether an increment with this `once` counts, once that is known, with this client's own changes at once. Cost: 1
  /// read, and 1 per change. The watch ends with `remove()`.
  func onIncremented(
    once: String, onError: @escaping @MainActor @Sendable (Error) -> Void = { _ in },
    _ next: @escaping @MainActor (Bool) -> Void
  ) throws -> TallyEntryWatch {
    try TallyCounter.requireName("once", once)
    let entry = entryOf(once)
    let watch = TallyEntryWatch(TallyCounter.bytesOf(once), next)
    entryViews.append(watch)
    watch.listener = entry.addSnapshotListener(includeMetadataChanges: true) { @Sendable [weak self, weak watch] read, error in
      tallyOnMain { [weak self, weak watch] in
        guard let self, let watch, self.isViewed(watch) else { return }
        if let error {
          self.remove(watch)
          onError(error)
        } else if let read {
          // An empty cache does not know the entry; one that persists may know that there is none.
          if read.exists || !read.metadata.isFromCache || watch.stored != nil { return self.entryRead(watch, read.exists) }
          entry.getDocument(source: .cache) { @Sendable cached, _ in
            tallyOnMain {
              if let cached, watch.stored == nil && self.isViewed(watch) { self.entryRead(watch, cached.exists) }
            }
          }
        }
      }
    }
    watch.leave = { [weak self, weak watch] in
      if let self, let watch { self.remove(watch) }
    }
    return watch
  }

  private func entryRead(_ watch: TallyEntryWatch, _ exists: Bool) {
    watch.stored = exists
    if let last = calls[watch.key], last.isQueued && last.counts == exists { last.isSeen = true }
    show(watch)
  }

  private func show(_ watch: TallyEntryWatch) {
    // Before a call is in the queue, and while it is refused and made again, the SDK shows what was before.
    if let last = calls[watch.key], !last.isOver && !last.isSeen { return watch.show(last.counts) }
    if let stored = watch.stored { watch.show(stored) }
  }

  private func showEntries() {
    for watch in entryViews {
      // A view may remove others.
      if isViewed(watch) { show(watch) }
    }
  }

  private func isViewed(_ watch: TallyEntryWatch) -> Bool {
    return entryViews.contains { $0 === watch }
  }

  private func remove(_ watch: TallyEntryWatch) {
    entryViews.removeAll { $0 === watch }
  }

  /// Reads the published total. Cost: 1 read; 2 while this client's increments of the document are unsent.
  func get() async throws -> TallySnapshot {
    let document = try await firestore.document(path).getDocument()
    if !document.metadata.isFromCache { answeredAt = TallyCounter.clock() }
    if document.metadata.hasPendingWrites {
      // The SDK's view is that of the time when they were made, perhaps without the document.
      let read = try? await readFromServer(firestore.document(path), 1)
      return TallyCounter.snapshotOf(read ?? document)
    }
    documentRead(document, TallyCounter.isGrowing(document))
    return TallyCounter.snapshotOf(document)
  }

  /// Watches the total: calls `next` when it changes, and at once for increments of this client, which every total includes
  /// exactly once. Others' direct increments show when they are made. Those on shards are published about once a second at
  /// most, as are increments of your own batches and from before the app was restarted. The watch ends with `remove()`. One
  /// that fails calls `onError` and has then ended.
  ///
  /// Cost: 1 read per change of the counter document, and 1 at the start. A published total is a change, and so is a direct
  /// increment of any client, which costs each watcher a read. The time of an increment on a shard is read from the cache, and
  /// from the server (1 read) if the cache has lost it or was never given it: where persistence is disabled, and after a
  /// transaction.
  func watch(
    onError: @escaping @MainActor @Sendable (Error) -> Void = { _ in },
    _ next: @escaping @MainActor (TallySnapshot) -> Void
  ) -> TallyWatch {
    let view = TallyWatch(next)
    wasWatched = true
    views.append(view)
    view.listener = firestore.document(path).addSnapshotListener(includeMetadataChanges: true) {
      @Sendable [weak self, weak view] document, error in
      tallyOnMain { [weak self, weak view] in
        guard let self, let view, self.views.contains(where: { $0 === view }) else { return }
        if let error {
          self.remove(view)
          onError(error)
        } else if let document, TallyCounter.isWhole(document) {
          let fromCache = document.metadata.isFromCache
          self.isLive = !fromCache
          self.documentRead(document, false)
          let read = TallyCounter.snapshotOf(document)
          // While writes of this client have no answer, the SDK shows the document as it was when they were made. Then the
          // total is the last one, with these increments.
          if view.published == nil || !read.pending {
            view.published = read
            self.total.totalRead(read.total, TallyCounter.micros(read.asOf), fromCache) { plan in
              TallyCounter.markIn(document, plan)
            }
          }
          self.showAll()
        }
      }
    }
    view.leave = { [weak self, weak view] in
      if let self, let view { self.remove(view) }
    }
    return view
  }

  /// Whether the SDK knows the whole document. If not, it shows only this client's unsent fields.
  private nonisolated static func isWhole(_ document: DocumentSnapshot) -> Bool {
    guard let direct = document.get("direct") as? [String: Any] else { return true }
    return direct["open"] != nil
  }

  private func remove(_ view: TallyWatch) {
    guard let place = views.firstIndex(where: { $0 === view }) else { return }
    views.remove(at: place)
    viewEndedAt = TallyCounter.clock()
    if views.isEmpty { isLive = false }
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
    if TallyPlanner.isValidName(name.utf16.map { Int($0) }) { return }
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

  private func documentOf(_ plan: TallyPlan) -> DocumentReference {
    return firestore.document(plan.generation != nil ? path : TallyPlanner.shardPath(path, plan.shard))
  }

  private nonisolated static func bytesOf(_ name: String) -> [UInt8] {
    return Array(name.utf8)
  }

  /// The part of the counter's id before the first colon, or "". By its scalars: with a mark after it, a colon is another
  /// character.
  private nonisolated static func groupOf(_ id: String) -> String {
    guard let colon = id.unicodeScalars.firstIndex(of: ":") else { return "" }
    return String(id[..<colon])
  }

  /// Servers may have written anything.
  private nonisolated static func snapshotOf(_ document: DocumentSnapshot) -> TallySnapshot {
    return TallySnapshot(
      total: numberOf(document.get("total")) ?? 0, asOf: document.get("asOf") as? Timestamp,
      pending: document.metadata.hasPendingWrites, fromCache: document.metadata.isFromCache,
      rate: numberOf(document.get("rate")) ?? 0)
  }

  private nonisolated static func numberOf(_ value: Any?) -> Double? {
    return (value as? NSNumber)?.doubleValue
  }

  private nonisolated static func wholeOf(_ value: Any?) -> Int64? {
    return (value as? NSNumber)?.int64Value
  }

  private nonisolated static func isGrowing(_ document: DocumentSnapshot?) -> Bool {
    return document?.get("growing") as? Bool == true
  }

  /// Keeps what a watch or a read has found, perhaps in the cache. A cache without the document tells nothing.
  private func documentRead(_ document: DocumentSnapshot, _ growing: Bool) {
    if !document.exists && document.metadata.isFromCache { return }
    let before = target
    let left = room
    learn(document, growing, nil)
    // It may lack the last writes of this client.
    if let before, before.generation == target?.generation { room = min(left, room) }
  }

  /// Keeps what a read of the server has found; `nil` for a read that failed.
  private func learn(_ document: DocumentSnapshot?, _ growing: Bool, _ readMillis: Int64?) {
    var found: TallyTarget?
    isMissing = false
    if let document {
      found = TallyCounter.targetIn(document)
      isMissing = !document.exists
    }
    target = found
    room = found?.room ?? 0
    var published = TallyCounter.numberOf(document?.get("shardCount"))
    let direct = document?.get("direct") as? [String: Any]
    if published == nil && direct?["open"] as? Bool == true { published = 1 }
    // A crowd that the functions have not seen yet needs more.
    if let known = published { published = max(known, found?.shards ?? 1) }
    shardCount.update(published, growing, readMillis)
  }

  private nonisolated static func targetIn(_ document: DocumentSnapshot) -> TallyTarget {
    if !document.exists { return TallyPlanner.directTarget(true, 0, 0, 0) }
    let direct = document.get("direct") as? [String: Any]
    let generation = generationIn(direct)
    let slots = TallyPlanner.directSlots
    let marks = direct?["marks"] as? [String: Any]
    let now = marks?[String(generation % slots)] as? [String: Any]
    let before = marks?[String((generation + slots - 1) % slots)] as? [String: Any]
    let nonces = now?["nonces"] as? [Any]
    let until = now?["at"] as? Timestamp
    let since = before?["at"] as? Timestamp
    let isUnknown = until == nil || (before != nil && since == nil)
    let millis = isUnknown ? -1 : (micros(until) - micros(since)) / 1_000
    return TallyPlanner.directTarget(direct?["open"] as? Bool == true, generation, Int64(nonces?.count ?? 0), millis)
  }

  /// The number of the generation, which sums may be made with.
  private nonisolated static func generationIn(_ direct: [String: Any]?) -> Int64 {
    return min(max(wholeOf(direct?["generation"]) ?? 0, 0), TallyPlanner.never)
  }

  /// Whether a document has the mark of an increment; `nil` if its generation is so old that marks were removed.
  private nonisolated static func markIn(_ document: DocumentSnapshot?, _ plan: TallyPlan) -> Bool? {
    let direct = document?.get("direct") as? [String: Any]
    var marks = document?.get("marks") as? [String: Any]
    if plan.generation != nil { marks = direct?["marks"] as? [String: Any] }
    let slot = marks?[plan.slot] as? [String: Any]
    let nonces = slot?["nonces"] as? [Any]
    let nonce = dataOf(plan.nonce)
    if nonces?.contains(where: { ($0 as? Data) == nonce }) == true { return true }
    let oldest = generationIn(direct) - TallyPlanner.directSlots + 1
    if let generation = plan.generation, generation <= oldest { return nil }
    return false
  }

  /// Commits an increment, and shows it in watches from now on until a total includes it.
  private func commit(_ call: Call) async throws {
    let own = wasWatched && call.isShown ? total.incrementMade(call.by) : nil
    call.own = own
    call.ordered?.isInTotal = own != nil
    if own != nil { showAll() }
    let sentAt = TallyCounter.clock()
    do {
      let committed = try await commitWithRetries(call)
      if let own { Task { await showUntilIncluded(own, committed, sentAt) } }
    } catch {
      if let own { refuse(own) }
      throw error
    }
  }

  private func commitWithRetries(_ call: Call) async throws -> Committed {
    // Without a wait, an increment for the SDK's queue is there before this call suspends.
    if let read = refreshShardCount(), dependsOnCount(call) { await read.wait() }
    let plan = planFor(call)
    if let own = call.own { total.incrementPlanned(own, plan) }
    let written = shardCount.writeSent()
    do {
      let committed = try await sendAndConfirm(call, plan)
      shardCount.writeAnswered(written, false)
      answeredAt = TallyCounter.clock()
      if let committed { return committed }
    } catch {
      let isContended = TallyCounter.codeOf(error) == .aborted
      shardCount.writeAnswered(written, isContended)
      if isContended { answeredAt = TallyCounter.clock() }
      let isRefused = isContended || (TallyCounter.isDenied(error) && isSuperseded(call.ordered))
      if !isRefused { throw error }
    }
    // A later call with this `once` has not waited, and decides. So this one must not be repeated; and it may be refused
    // because the later one was committed before the look-up.
    if isSuperseded(call.ordered) { return Committed(plan: plan, countedBefore: true, at: nil) }
    return try await again(call, plan)
  }

  /// Whether the plan depends on the shard count. An undo with a known shard does not. A call with `once` that is made again
  /// does not wait either: later calls would not wait for it.
  private func dependsOnCount(_ call: Call) -> Bool {
    let undone = call.undoneShard ?? TallyPlanner.direct
    return call.ordered == nil || (call.refusedBy == nil && undone == TallyPlanner.direct)
  }

  /// A refused write can no longer be committed, so another increment elsewhere is safe.
  private func again(_ call: Call, _ plan: TallyPlan) async throws -> Committed {
    if let generation = plan.generation { call.refusedBy = generation }
    return try await commitWithRetries(call)
  }

  /// `nil` if the counter document has refused the increment for ever.
  private func sendAndConfirm(_ call: Call, _ plan: TallyPlan) async throws -> Committed? {
    do {
      let at = try await send(call, plan)
      return Committed(plan: plan, countedBefore: false, at: at)
    } catch {
      return try await confirm(plan, error)
    }
  }

  /// A transaction first, or the queue. What the transaction leaves without an answer goes to the queue, too: both count
  /// once.
  ///
  /// A transaction also removes the marks that have expired by this device's clock. If the rules refuse that, the clock may be
  /// wrong: the same plan is sent again without the removal, and if it is accepted, this client removes none from then on.
  /// Writes in the queue may be sent hours later, so they remove none.
  private func send(_ call: Call, _ plan: TallyPlan) async throws -> Timestamp? {
    let sinceAnswer = TallyCounter.clock() - answeredAt
    let usesTransaction = TallyPlanner.usesTransaction(
      plan.entry != nil, isWatched(), shardCount.isContended(), sinceAnswer)
    if plan.generation == nil && usesTransaction && !TallyCounter.isOffline {
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
        if !isWatched() { return nil }
        // Without the timestamp, too, the increment is committed.
        let read = try? await readFromServer(documentOf(plan), TallyCounter.lookupAttempts)
        return read?.get("at") as? Timestamp
      } catch {
        let code = TallyCounter.codeOf(error)
        if code == .aborted || code == .permissionDenied { throw error }
      }
    }
    try await queue(call, plan)
    return nil
  }

  private func queue(_ call: Call, _ plan: TallyPlan) async throws {
    let batch = firestore.batch()
    addWrites(batch, plan)
    // The SDK's async form need not begin before this call suspends.
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, Error>) in
      batch.commit { @Sendable error in
        guard let error else { return done.resume() }
        // The SDK no longer shows it, and calls its listeners next.
        tallyOnMain { call.ordered?.isSeen = false }
        done.resume(throwing: error)
      }
      call.ordered?.isQueued = true
      call.ordered?.nextAllowed.give()
    }
  }

  private func transact(_ plan: TallyPlan, _ removesMarks: Bool) async throws {
    let writes = TallyPlanner.writes(plan, removesMarks).map { (document: firestore.document($0.path), $0) }
    try await runTransaction(1) { own in
      for (document, write) in writes {
        guard let fields = write.fields else {
          own.deleteDocument(document)
          continue
        }
        own.setData(TallyCounter.valuesOf(fields), forDocument: document, merge: write.merge)
      }
    }
  }

  private func planFor(_ call: Call) -> TallyPlan {
    let once = call.ordered?.once
    let isUndo = call.undoneShard != nil
    if let generation = generationFor(call) {
      room -= 1
      let group = isMissing ? TallyCounter.groupOf(id) : nil
      return TallyPlanner.planDirect(path, generation, group, call.by, TallyCounter.random, once, isUndo)
    }
    let shard = call.undoneShard ?? TallyPlanner.randomShard(shardCount.shardsToChooseFrom(), TallyCounter.random)
    return TallyPlanner.planIncrement(path, shard, call.by, TallyCounter.clock(), TallyCounter.random, once, isUndo)
  }

  /// The generation of the counter document that an increment joins, `nil` for a shard. A write in the queue of a device that
  /// is offline may be sent when its generation is over, and nothing would make it again if the app has ended meanwhile: so it
  /// goes to a shard.
  private func generationFor(_ call: Call) -> Int64? {
    let isOnline = isLive || TallyCounter.clock() - answeredAt < TallyPlanner.onlineMillis
    let isCalm = !shardCount.isStale(isLive) && !shardCount.isContended()
    let isOnShard = (call.undoneShard ?? TallyPlanner.direct) != TallyPlanner.direct
    if !isOnline || !isCalm || isOnShard || TallyCounter.isOffline || room <= 0 { return nil }
    // If a generation that has refused this increment still takes others, the policy refuses direct increments.
    if target?.generation == call.refusedBy { return nil }
    return target?.generation
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
      case .flag(let isTrue): return isTrue
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

  /// Looks up whether a refused write counts; `nil` if the counter document has refused it for ever, so another one elsewhere
  /// is safe. Cost: 1 read, 2 with `once`.
  private func confirm(_ plan: TallyPlan, _ cause: Error) async throws -> Committed? {
    let isAborted = TallyCounter.codeOf(cause) == .aborted
    let isDirect = plan.generation != nil
    if !isAborted && TallyCounter.codeOf(cause) != .permissionDenied { throw cause }
    let written = try await readFromServer(documentOf(plan), TallyCounter.lookupAttempts)
    let hasMark = TallyCounter.markIn(written, plan) == true
    if isDirect { learn(written, TallyCounter.isGrowing(written), nil) }
    var countedBy: Int64?
    if let entry = plan.entry, !hasMark && !isAborted && !plan.isUndo {
      let found = try await readFromServer(firestore.document(entry), TallyCounter.lookupAttempts)
      countedBy = TallyCounter.wholeOf(found?.get("by"))
    }
    switch TallyPlanner.judgeRefusal(isAborted, hasMark, countedBy, plan.by, isDirect) {
    case "committed": return Committed(plan: plan, countedBefore: false, at: written?.get("at") as? Timestamp)
    case "counted": return Committed(plan: plan, countedBefore: true, at: nil)
    case "retry":
      if isAborted { throw cause }
      return nil
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

  /// The SDK calls `update` on a queue of its own.
  private func runTransaction(
    _ maxAttempts: Int, _ update: @escaping @Sendable (Transaction) throws -> Void
  ) async throws {
    let options = TransactionOptions()
    options.maxAttempts = maxAttempts
    // The SDK has no async form with options.
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, Error>) in
      firestore.runTransaction(
        with: options,
        block: { @Sendable own, failure in
          do {
            try update(own)
          } catch {
            failure?.pointee = error as NSError
          }
          return nil
        },
        completion: { @Sendable _, error in
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
    let read = TallyRead()
    let most = TallyCounter.unauthenticatedAttempts
    do {
      try await runTransaction(maxAttempts) { own in
        do {
          read.document = try own.getDocument(document)
        } catch {
          if TallyCounter.codeOf(error) != .unauthenticated { throw error }
          read.unauthenticated.append(error)
          if read.unauthenticated.count < most { throw error }
        }
        // Ends the transaction; of an error that is not Firestore's, the SDK makes no second attempt.
        throw TallyError(code: "counter/nothing-to-commit", message: "")
      }
    } catch {
      if read.document == nil && TallyCounter.codeOf(error) != .permissionDenied {
        throw read.unauthenticated.last ?? error
      }
    }
    return read.document
  }

  /// Reads the counter document if the known shard count is stale. Never fails.
  ///
  /// - Returns: what an increment waits for, eight seconds at most for the first read, one for later ones; `nil` if it need not
  ///   wait, because the count is fresh or the device is offline
  private func refreshShardCount() -> Signal? {
    if !shardCount.isStale(isLive) { return nil }
    let read = reading ?? readShardCount()
    return TallyCounter.isOffline ? nil : read
  }

  private func readShardCount() -> Signal {
    let known = Signal()
    reading = known
    let countTimeout = shardCount.countTimeout()
    Task {
      try? await Task.sleep(nanoseconds: UInt64(countTimeout) * 1_000_000)
      known.give()
    }
    Task {
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
      learn(document, TallyCounter.isGrowing(document), readMillis)
      reading = nil
      known.give()
    }
    return known
  }

  /// Follows whether the device has a network, from the first counter on. Cost: no request and no permission; the system calls
  /// back when the network changes.
  private static func startMonitor() {
    if monitor != nil { return }
    let started = NWPathMonitor()
    monitor = started
    started.pathUpdateHandler = { @Sendable path in
      let hasNoPath = path.status == .unsatisfied
      tallyOnMain { TallyCounter.isOffline = hasNoPath }
    }
    started.start(queue: DispatchQueue.main)
  }

  /// Shows an increment in the watches until a total includes it.
  private func showUntilIncluded(_ own: TallyOwnIncrement, _ committed: Committed, _ sentAt: Int64) async {
    // It had counted before; or no view is left that could show the increment.
    if committed.countedBefore || !isWatched() { return refuse(own) }
    if committed.plan.generation != nil {
      // Its mark tells which totals include it.
      total.incrementCommitted(own, 0)
      return showAll()
    }
    var found = committed.at
    if found == nil { found = await timestampOf(documentOf(committed.plan)) }
    guard let at = found else { return refuse(own) }
    let start = TallyCounter.micros(at)
    total.incrementCommitted(own, TallyPlanner.latestCommit(start, TallyCounter.clock() - sentAt))
    showAll()
    Task {
      // A total between both bounds may include the increment or not. It does if no other total has followed by then.
      try? await Task.sleep(nanoseconds: UInt64(TallyPlanner.maxPublishDelayMillis) * 1_000_000)
      total.incrementCommitted(own, start)
      showAll()
    }
  }

  private func refuse(_ own: TallyOwnIncrement) {
    total.incrementRefused(own)
    showAll()
  }

  /// The server's time of this client's last write on a shard that went through the queue.
  private func timestampOf(_ shard: DocumentReference) async -> Timestamp? {
    var snapshot = try? await shard.getDocument(source: .cache)
    if snapshot == nil { snapshot = try? await shard.getDocument() }
    return snapshot?.get("at", serverTimestampBehavior: .previous) as? Timestamp
  }
}

/// A watch of whether an increment with `once` counts. It ends with `remove()`, which may be called anywhere, as in `deinit`.
@MainActor
final class TallyEntryWatch {
  /// The bytes of its `once`.
  fileprivate let key: [UInt8]

  /// Whether the entry exists as the SDK shows it; `nil` before that is known.
  fileprivate var stored: Bool?
  fileprivate var listener: ListenerRegistration?
  fileprivate var leave: () -> Void = {}
  private var shown: Bool?
  private var next: ((Bool) -> Void)?

  fileprivate init(_ key: [UInt8], _ next: @escaping (Bool) -> Void) {
    self.key = key
    self.next = next
  }

  nonisolated func remove() {
    tallyOnMain {
      self.listener?.remove()
      self.leave()
      // The app's closure may hold this watch.
      self.next = nil
    }
  }

  fileprivate func show(_ counts: Bool) {
    if counts == shown { return }
    shown = counts
    next?(counts)
  }
}

/// A watch of a total. It ends with `remove()`, which may be called anywhere, as in `deinit`.
@MainActor
final class TallyWatch {
  fileprivate var published: TallySnapshot?
  fileprivate var listener: ListenerRegistration?
  fileprivate var leave: () -> Void = {}
  private var last: TallySnapshot?
  private var next: ((TallySnapshot) -> Void)?

  fileprivate init(_ next: @escaping (TallySnapshot) -> Void) {
    self.next = next
  }

  nonisolated func remove() {
    tallyOnMain {
      self.listener?.remove()
      self.leave()
      // The app's closure may hold this watch.
      self.next = nil
    }
  }

  fileprivate func show(_ total: Double, _ isPending: Bool) {
    guard var shown = published else { return }
    shown.total = total
    shown.pending = shown.pending || isPending
    if shown == last { return }
    last = shown
    next?(shown)
  }
}

/// What a transaction has read. The SDK runs its attempts one after another, on a queue of its own, and then calls back.
private nonisolated final class TallyRead: @unchecked Sendable {
  var document: DocumentSnapshot?
  var unauthenticated: [Error] = []
}

/// Runs on the main actor what the SDK has called back with, on the queue of its `settings.dispatchQueue`. Another queue does not
/// wait: the SDK calls back under a lock that `remove()` takes.
private nonisolated func tallyOnMain(_ run: @escaping @MainActor @Sendable () -> Void) {
  if Thread.isMainThread { return MainActor.assumeIsolated(run) }
  DispatchQueue.main.async { MainActor.assumeIsolated(run) }
}
