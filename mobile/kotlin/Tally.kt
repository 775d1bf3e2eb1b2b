/*
 * Tally for Android: copy this file into your app and change the package. It needs com.google.firebase:firebase-firestore
 * and nothing else.
 *
 *     val views = TallyCounter.of(FirebaseFirestore.getInstance(), "views:home")
 *     views.watch { label.text = "${it.wholeTotal} views" }
 *     views.increment()
 *
 * The first part, the planner, decides what is written and what is shown. It has no I/O, and docs/vectors.json holds it to
 * the web client. The second part hands the plans to the Firestore SDK. Call it from the main thread, where it also calls back.
 */
package tally

import android.content.Context
import android.net.ConnectivityManager
import android.os.Handler
import android.os.Looper
import com.google.android.gms.tasks.Task
import com.google.android.gms.tasks.TaskCompletionSource
import com.google.android.gms.tasks.Tasks
import com.google.firebase.Timestamp
import com.google.firebase.firestore.Blob
import com.google.firebase.firestore.DocumentReference
import com.google.firebase.firestore.DocumentSnapshot
import com.google.firebase.firestore.DocumentSnapshot.ServerTimestampBehavior
import com.google.firebase.firestore.FieldValue
import com.google.firebase.firestore.FirebaseFirestore
import com.google.firebase.firestore.FirebaseFirestoreException
import com.google.firebase.firestore.FirebaseFirestoreException.Code
import com.google.firebase.firestore.ListenerRegistration
import com.google.firebase.firestore.MetadataChanges
import com.google.firebase.firestore.SetOptions
import com.google.firebase.firestore.Source
import com.google.firebase.firestore.Transaction
import com.google.firebase.firestore.TransactionOptions
import com.google.firebase.firestore.WriteBatch
import kotlin.math.abs
import kotlin.math.max
import kotlin.math.min

// --- planner ---

/** The value of a field in a plan. */
sealed class TallyValue {
  data class Text(val text: String) : TallyValue()

  data class Whole(val number: Long) : TallyValue()

  data class Flag(val isTrue: Boolean) : TallyValue()

  /** Added to the field. */
  data class Increment(val by: Long) : TallyValue()

  /** The server's time of the commit. */
  object ServerTime : TallyValue()

  /** Bytes, appended to an array that does not contain them. */
  data class Append(val bytes: List<Int>) : TallyValue()

  data class Fields(val fields: Map<String, TallyValue>) : TallyValue()

  /** Removes the field. */
  object Delete : TallyValue()
}

/** One write of a commit: a merge, a new document, or without `fields` a deletion. */
class TallyWrite(val path: String, val fields: Map<String, TallyValue>?, val merge: Boolean)

/**
 * One increment: which document, which slot, which nonce. A retry sends the same plan. On a shard, the marks of the slot `expired` may be
 * removed, if the clock of this device is right; in the counter document they always are.
 */
class TallyPlan(
  val counter: String,
  val shard: String,
  val by: Long,
  val slot: String,
  val expired: String,
  val nonce: List<Int>,
  val entry: String?,
  val once: String?,
  val isUndo: Boolean,
  val generation: Long?,
  val group: String?
)

/**
 * Where the next increment goes, by the counter document.
 *
 * @param generation the generation that the increment joins; null for a shard
 * @param room how many more increments that generation takes
 * @param shards how many shards the crowd that filled the generation needs
 */
class TallyTarget(val generation: Long?, val room: Long, val shards: Double)

/** What a client writes, as functions without I/O. */
object TallyPlanner {
  const val MAX_ID_BYTES = 1_500
  const val MAX_SHARDS = 10_000
  const val MARK_SLOTS = 5L
  const val DIRECT_SLOTS = 8L
  const val MAX_DIRECT_MARKS = 4L
  const val MAX_MARKS_WITHOUT_FUNCTIONS = 40L
  const val SLOW_GENERATION_MILLIS = 60_000L
  const val CROWD_SHARD_MILLIS = 6_000.0
  const val MOST_CROWD_SHARDS = 150.0
  const val MARK_SLOT_MILLIS = 61_000
  const val NONCE_BYTES = 5
  const val MAX_COMMIT_MILLIS = 10_000L
  const val MAX_PUBLISH_DELAY_MILLIS = 15_000L
  const val SHARD_COUNT_TTL_MILLIS = 120_000L
  const val SHARD_COUNT_TTL_WRITES = 20
  const val SHORT_SHARD_COUNT_TTL_MILLIS = 1_000L
  const val FIRST_COUNT_TIMEOUT_MILLIS = 8_000L
  const val LATER_COUNT_TIMEOUT_MILLIS = 1_000L
  const val ONLINE_MILLIS = 10_000L
  const val SLOW_WRITE_MILLIS = 2_000L
  const val SLOW_WRITE_READS = 4
  const val SLOW_FACTOR = 4.0
  const val SLOW_MIN_SHARDS = 64.0
  const val SLOW_ANSWER_TTL_MILLIS = 10_000L
  const val OFFLINE_AFTER_MILLIS = 10_000L
  const val REFUSED_FACTOR = 8.0
  const val MAX_FACTOR = 512.0

  /** What the entry of an increment names instead of a shard if it is in the counter document. */
  const val DIRECT = "direct"

  /** Later than every instant in microseconds. */
  const val NEVER = 9_007_199_254_740_991L

  /**
   * Whether a name is valid as an id. By its UTF-16 units, because languages differ in what is a character, and in what is equal. Firestore
   * also takes control characters, but its events do not arrive. Half a surrogate pair is refused: the SDK would replace it.
   */
  fun isValidName(units: List<Int>): Boolean {
    var size = 0
    var at = 0
    while (at < units.size) {
      val one = units[at]
      val isHigh = one >= 55_296 && one < 56_320 && at + 1 < units.size
      val isPair = isHigh && units[at + 1] >= 56_320 && units[at + 1] < 57_344
      if (!isPair && isForbidden(one)) {
        return false
      }
      size += sizeOf(one, isPair)
      at += if (isPair) 2 else 1
    }
    return size >= 1 && size <= MAX_ID_BYTES && !isDots(units) && !(size >= 4 && isReserved(units))
  }

  /** Control characters, a slash, half a surrogate pair. */
  private fun isForbidden(one: Int): Boolean {
    return one < 32 || one == 47 || (one >= 127 && one < 160) || (one >= 55_296 && one < 57_344)
  }

  /** The bytes of a character in UTF-8. */
  private fun sizeOf(one: Int, isPair: Boolean): Int {
    if (one < 2_048) {
      return if (one < 128) 1 else 2
    }
    return if (isPair) 4 else 3
  }

  /** "." or "..". */
  private fun isDots(units: List<Int>): Boolean {
    return units.size < 3 && units[0] == 46 && units[units.size - 1] == 46
  }

  /** "__" at both ends. */
  private fun isReserved(units: List<Int>): Boolean {
    val last = units.size - 1
    return units[0] == 95 && units[1] == 95 && units[last] == 95 && units[last - 1] == 95
  }

  fun shardPath(counter: String, shard: String): String {
    return counter + "/shards/" + shard
  }

  fun entryPath(counter: String, once: String): String {
    return counter + "/tallyEntries/" + once
  }

  /** The id of a random shard, one of the last seven eighths. Shard 0, which wakes the functions, gets an eighth of a share. */
  fun randomShard(shardsToChooseFrom: Double, random: () -> Double): String {
    val leftOut = (shardsToChooseFrom / 8).toInt()
    val share = random() * (shardsToChooseFrom - leftOut)
    return (if (share < 0.125) 0 else leftOut + share.toInt()).toString()
  }

  /**
   * The slot of `marks` that a write goes to, by this device's clock, or one that comes later. A wrong clock is harmless, and may show
   * any number.
   */
  fun markSlot(now: Long, later: Long): String {
    val slots = now / MARK_SLOT_MILLIS
    return ((abs(slots) + later) % MARK_SLOTS).toString()
  }

  /** Identifies an increment: random bytes. */
  fun newNonce(random: () -> Double): List<Int> {
    val nonce = mutableListOf<Int>()
    while (nonce.size < NONCE_BYTES) {
      nonce.add((random() * 256).toInt())
    }
    return nonce
  }

  /**
   * Where the next increment goes, by the field `direct` of the counter document. docs/data-model.md (In the counter document) has the rules.
   *
   * @param isOpen whether the document accepts direct increments; true if it does not exist
   * @param size how many marks the generation has
   * @param millis the time between the last writes of the previous and of this generation; without a previous one, since the epoch; -1 if a
   *   write has no time yet
   */
  fun directTarget(isOpen: Boolean, generation: Long, size: Long, millis: Long): TallyTarget {
    if (!isOpen) {
      return TallyTarget(null, 0L, 1.0)
    }
    val most = if (size > MAX_DIRECT_MARKS) MAX_MARKS_WITHOUT_FUNCTIONS else MAX_DIRECT_MARKS
    // Firestore compares microseconds, so exactly a minute may be less.
    if (size >= MAX_DIRECT_MARKS && millis > SLOW_GENERATION_MILLIS) {
      return TallyTarget(generation + 1, most, 1.0)
    }
    if (size < most) {
      return TallyTarget(generation, most - size, 1.0)
    }
    if (millis < 0) {
      return TallyTarget(null, 0L, 1.0)
    }
    if (most > MAX_DIRECT_MARKS) {
      return TallyTarget(generation + 1, most, 1.0)
    }
    return TallyTarget(null, 0L, min(CROWD_SHARD_MILLIS / max(millis, 1L), MOST_CROWD_SHARDS))
  }

  /**
   * Plans one increment in the counter document. An undo is an increment by the opposite amount.
   *
   * @param group of an increment that creates the document: the part of the counter's id before the first colon, or ""
   */
  fun planDirect(
    counter: String,
    generation: Long,
    group: String?,
    by: Long,
    random: () -> Double,
    once: String?,
    isUndo: Boolean
  ): TallyPlan {
    val entry = if (once == null) null else entryPath(counter, once)
    val slot = (generation % DIRECT_SLOTS).toString()
    val expired = ((generation + 1) % DIRECT_SLOTS).toString()
    return TallyPlan(counter, DIRECT, by, slot, expired, newNonce(random), entry, once, isUndo, generation, group)
  }

  /**
   * Plans one increment on a shard. An undo is an increment by the opposite amount on the shard that the entry names, and on
   * shard 0 if it names none.
   *
   * @param now milliseconds since the epoch
   */
  fun planIncrement(
    counter: String,
    shard: String,
    by: Long,
    now: Long,
    random: () -> Double,
    once: String?,
    isUndo: Boolean
  ): TallyPlan {
    val entry = if (once == null) null else entryPath(counter, once)
    val expired = markSlot(now, 1)
    val place = if (shard == DIRECT) "0" else shard
    return TallyPlan(counter, place, by, markSlot(now, 0), expired, newNonce(random), entry, once, isUndo, null, null)
  }

  /**
   * The writes of a plan, for one commit.
   *
   * @param removesMarks whether they also remove the slot that has expired
   */
  fun writes(plan: TallyPlan, removesMarks: Boolean): List<TallyWrite> {
    val increment = if (plan.generation == null) shardWrite(plan, removesMarks) else directWrite(plan, plan.generation)
    if (plan.entry == null || plan.once == null) {
      return listOf(increment)
    }
    if (plan.isUndo) {
      return listOf(TallyWrite(plan.entry, null, false), increment)
    }
    val entry =
      mapOf(
        "once" to TallyValue.Text(plan.once),
        "by" to TallyValue.Whole(plan.by),
        "shard" to TallyValue.Text(plan.shard),
        "at" to TallyValue.ServerTime
      )
    return listOf(TallyWrite(plan.entry, entry, false), increment)
  }

  private fun shardWrite(plan: TallyPlan, removesMarks: Boolean): TallyWrite {
    val fields =
      mapOf(
        "shard" to TallyValue.Text(plan.shard),
        "count" to TallyValue.Increment(plan.by),
        "writes" to TallyValue.Increment(1),
        "at" to TallyValue.ServerTime,
        "marks" to marked(plan, removesMarks)
      )
    return TallyWrite(shardPath(plan.counter, plan.shard), fields, true)
  }

  private fun directWrite(plan: TallyPlan, generation: Long): TallyWrite {
    val direct =
      mutableMapOf(
        "generation" to TallyValue.Whole(generation),
        "count" to TallyValue.Increment(plan.by),
        "writes" to TallyValue.Increment(1),
        "marks" to marked(plan, true)
      )
    val fields = mutableMapOf<String, TallyValue>("total" to TallyValue.Increment(plan.by))
    if (plan.group != null) {
      direct["open"] = TallyValue.Flag(true)
      fields["group"] = TallyValue.Text(plan.group)
    }
    fields["direct"] = TallyValue.Fields(direct)
    return TallyWrite(plan.counter, fields, true)
  }

  private fun marked(plan: TallyPlan, removesMarks: Boolean): TallyValue {
    val mark =
      TallyValue.Fields(mapOf("at" to TallyValue.ServerTime, "nonces" to TallyValue.Append(plan.nonce)))
    val marks = mutableMapOf<String, TallyValue>(plan.slot to mark)
    if (removesMarks) {
      marks[plan.expired] = TallyValue.Delete
    }
    return TallyValue.Fields(marks)
  }

  /**
   * What a refused commit means.
   *
   * @param hasMark whether the document has the nonce of the plan
   * @param countedBy the amount of the entry, if the plan creates one and there is one
   * @param isDirect whether it is the counter document, which refuses for ever what its generation has refused
   * @return "committed", "counted" (by an earlier call with the `once`), "retry" (elsewhere) or "refused"
   */
  fun judgeRefusal(isAborted: Boolean, hasMark: Boolean, countedBy: Long?, by: Long, isDirect: Boolean): String {
    if (hasMark) {
      return "committed"
    }
    if (isAborted) {
      return "retry"
    }
    if (countedBy == by) {
      return "counted"
    }
    return if (isDirect) "retry" else "refused"
  }

  /**
   * Whether an increment on a shard is first tried in a transaction. If that is refused as contended, it goes to another shard. Direct
   * increments never are, nor is any increment while the device is offline: the caller checks both.
   *
   * @param sinceAnswerMillis the time since the last answer of the server
   */
  fun usesTransaction(hasOnce: Boolean, isWatched: Boolean, isContended: Boolean, sinceAnswerMillis: Long): Boolean {
    val isOnline = sinceAnswerMillis < ONLINE_MILLIS
    return !hasOnce && isOnline && (isContended || !isWatched)
  }

  /** A server's timestamp in whole microseconds. */
  fun micros(seconds: Long, nanoseconds: Long): Long {
    return seconds * 1_000_000 + nanoseconds / 1_000
  }

  /** The latest commit time of a write: its timestamp is from the start of the commit, whose end is within the round trip. */
  fun latestCommit(at: Long, roundTripMillis: Long): Long {
    return at + min(abs(roundTripMillis), MAX_COMMIT_MILLIS) * 1_000
  }
}

/** A write that was sent, in milliseconds since the epoch. */
class TallySentWrite(val at: Long)

/**
 * How many shards this client chooses from for its next write. docs/data-model.md (Which shard) has the rules;
 * docs/vectors.json tests them.
 *
 * @param clock milliseconds since the epoch
 */
class TallyShardCount(private val clock: () -> Long) {
  private var shardCount = 1.0
  private var knownAt = 0L
  private var ttl = 0L
  private var writes = 0

  /** Whether a watch or a read, even one that failed, has updated the count. */
  private var hasCount = false

  /** The writes without an answer, in their order. */
  private val unanswered = mutableListOf<TallySentWrite>()

  /** When a write was answered last. */
  private var answeredAt = 0L

  /** The wait that the last answer ended; none if it has no length. */
  private var lastWaitSince = 0L
  private var lastWaitUntil = 0L

  /** When the last read was answered, and how long it took. */
  private var readAt = 0L
  private var roundTrip = 0L

  /** The multiple that refusals have built up. */
  private var factor = 1.0

  /** Since when the writes without an answer wait. */
  private fun waitingSince(): Long {
    return max(answeredAt, unanswered[0].at)
  }

  private fun slownessOf(since: Long, until: Long, mustBeProven: Boolean): Long {
    val isProven = readAt > since
    if (until - since >= TallyPlanner.OFFLINE_AFTER_MILLIS || (mustBeProven && !isProven)) {
      return 0L
    }
    val reads = if (isProven) TallyPlanner.SLOW_WRITE_READS * roundTrip else 0L
    return (until - since) / max(TallyPlanner.SLOW_WRITE_MILLIS, reads)
  }

  /**
   * How many times the expected duration the current or the last wait has lasted, rounded down.
   *
   * @param mustBeProven whether waits that no read was answered since are left out
   */
  private fun slowness(mustBeProven: Boolean): Long {
    val now = clock()
    val current = if (unanswered.size > 0) slownessOf(waitingSince(), now, mustBeProven) else 0L
    val isRemembered = now - lastWaitUntil < TallyPlanner.SLOW_ANSWER_TTL_MILLIS
    val last = if (isRemembered) slownessOf(lastWaitSince, lastWaitUntil, mustBeProven) else 0L
    return max(current, last)
  }

  private fun multiple(): Double {
    return max(factor, slowness(true) * max(TallyPlanner.SLOW_FACTOR, TallyPlanner.SLOW_MIN_SHARDS / shardCount))
  }

  /** Whether the client chooses from more than the shard count. */
  fun isContended(): Boolean {
    return multiple() > 1
  }

  /**
   * Whether to read the shard count before the next write.
   *
   * @param isLive whether a watch keeps the document up to date
   */
  fun isStale(isLive: Boolean): Boolean {
    val isSuspected = factor > 1 || slowness(false) > 0
    if (isLive && !isSuspected) {
      return false
    }
    val limit = if (isSuspected) TallyPlanner.SHORT_SHARD_COUNT_TTL_MILLIS else ttl
    return writes >= TallyPlanner.SHARD_COUNT_TTL_WRITES || clock() - knownAt >= limit
  }

  /** How long a write waits for a read of the shard count at most, in milliseconds. */
  fun countTimeout(): Long {
    return if (hasCount) TallyPlanner.LATER_COUNT_TIMEOUT_MILLIS else TallyPlanner.FIRST_COUNT_TIMEOUT_MILLIS
  }

  /**
   * The client has read the counter document.
   *
   * @param seen its shard count; less than 1 becomes 1. Without it, because the read failed or there is no counter, the known
   *   count stays
   * @param growing whether the count has just grown. A watch passes `false`, because it learns of further growth
   * @param readMillis how long the read took, in milliseconds. A failed read and a watch pass none
   */
  fun update(seen: Double?, growing: Boolean, readMillis: Long?) {
    val read = seen ?: shardCount
    val known = if (read >= 1) read else 1.0
    if (known > shardCount) {
      // The backend grew the count because of the contention.
      factor = 1.0
      lastWaitUntil = lastWaitSince
    }
    shardCount = known
    knownAt = clock()
    val isSettled = seen != null && !growing
    ttl = if (isSettled) TallyPlanner.SHARD_COUNT_TTL_MILLIS else TallyPlanner.SHORT_SHARD_COUNT_TTL_MILLIS
    hasCount = true
    if (readMillis != null) {
      readAt = knownAt
    }
    roundTrip = readMillis ?: roundTrip
    writes = 0
  }

  fun writeSent(): TallySentWrite {
    writes += 1
    val sent = TallySentWrite(clock())
    unanswered.add(sent)
    return sent
  }

  /**
   * The write has an answer.
   *
   * @param isRefused whether it was refused as contended
   */
  fun writeAnswered(sent: TallySentWrite, isRefused: Boolean) {
    val before = multiple()
    val now = clock()
    val hasNoWait = isRefused || unanswered.size == 0
    lastWaitSince = if (hasNoWait) now else waitingSince()
    lastWaitUntil = now
    answeredAt = now
    // Those that the server has answered others after so long may be of a user who has signed out.
    unanswered.removeAll { one -> one === sent || now - one.at >= TallyPlanner.OFFLINE_AFTER_MILLIS }
    if (isRefused) {
      factor = min(before * TallyPlanner.REFUSED_FACTOR, TallyPlanner.MAX_FACTOR)
    } else {
      factor = max(factor / 2, 1.0)
    }
  }

  /** How many shards to choose from for the next write. */
  fun shardsToChooseFrom(): Double {
    return min(multiple() * shardCount, TallyPlanner.MAX_SHARDS.toDouble())
  }
}

/**
 * One increment of this client. On a shard, `earliest` and `latest` are bounds of its commit time in microseconds. In the counter document, its
 * mark tells whether a total includes it, and `latest` only whether it is acknowledged.
 */
class TallyOwnIncrement(val by: Long, var earliest: Long, var latest: Long) {
  var plan: TallyPlan? = null
  var isMarked = false

  fun isDirect(): Boolean {
    return plan?.generation != null
  }
}

/**
 * The total that a watch shows: the published one, and this client's increments that it does not include yet. A published
 * total includes what was committed up to its `asOf`; while that is unknown of an increment, the shown total stays as near
 * as possible to what it was.
 */
class TallyTotal {
  private val own = mutableListOf<TallyOwnIncrement>()
  private var published = 0.0
  private var publishedAt = 0L
  private var isFirst = true
  private var shown = 0.0

  fun total(): Double {
    return shown
  }

  /** Whether an increment has no answer yet. */
  fun isPending(): Boolean {
    return own.any { one -> one.latest == TallyPlanner.NEVER }
  }

  fun incrementMade(by: Long): TallyOwnIncrement {
    val made = TallyOwnIncrement(by, publishedAt + 1, TallyPlanner.NEVER)
    own.add(made)
    shown += by
    return made
  }

  /** The increment has a plan. If it had one before, that one was refused, so the published total no longer includes the increment. */
  fun incrementPlanned(made: TallyOwnIncrement, plan: TallyPlan) {
    if (made.isMarked) {
      published -= made.by
    }
    made.isMarked = false
    made.plan = plan
    settle()
  }

  /** Committed at `latest` or before. */
  fun incrementCommitted(made: TallyOwnIncrement, latest: Long) {
    made.latest = latest
    settle()
  }

  fun incrementRefused(made: TallyOwnIncrement) {
    val before = own.size
    own.removeAll { one -> one === made }
    if (own.size < before) {
      shown -= made.by
      published -= if (made.isMarked) made.by else 0L
    }
    settle()
  }

  /**
   * The counter document was read, as the SDK shows it: with this client's direct increments, also those without an answer.
   *
   * @param asOf in microseconds; 0 without a published total
   * @param hasMark whether it has the nonce of a direct increment; null if that was removed
   */
  fun totalRead(total: Double, asOf: Long, fromCache: Boolean, hasMark: (TallyPlan) -> Boolean?) {
    if (asOf == 0L && publishedAt > 0 && !fromCache) {
      // The counter was deleted, and with it all committed increments.
      own.removeAll { one -> one.latest < TallyPlanner.NEVER }
    } else if (asOf < publishedAt) {
      return
    }
    if (isFirst) {
      shown = total
      if (fromCache) {
        own.forEach { one -> one.earliest = max(one.earliest, asOf + 1) }
      }
    }
    isFirst = false
    published = total
    publishedAt = asOf
    own.forEach { one -> one.isMarked = one.isDirect() && isMarkedBy(one, hasMark) }
    settle()
  }

  /** Marks that are gone were those of acknowledged increments. */
  private fun isMarkedBy(one: TallyOwnIncrement, hasMark: (TallyPlan) -> Boolean?): Boolean {
    val plan = one.plan
    val found = if (plan == null) false else hasMark(plan)
    return found ?: (one.latest < TallyPlanner.NEVER)
  }

  private fun isIncluded(one: TallyOwnIncrement): Boolean {
    if (one.isDirect()) {
      return one.isMarked && one.latest < TallyPlanner.NEVER
    }
    return one.latest <= publishedAt
  }

  private fun settle() {
    own.removeAll { one -> isIncluded(one) }
    var low = published
    var high = published
    own.forEach { one ->
      val isMissing = if (one.isDirect()) !one.isMarked else one.earliest > publishedAt
      val isUnknown = !one.isDirect() && !isMissing
      if (isMissing || (isUnknown && one.by < 0)) {
        low += one.by
      }
      if (isMissing || (isUnknown && one.by > 0)) {
        high += one.by
      }
    }
    shown = min(max(shown, low), high)
  }
}

// --- Firestore ---

/** Why a call failed. Firestore's own errors are passed on unchanged. */
class TallyException(val code: String, message: String, cause: Throwable? = null) : Exception("$code: $message", cause)

/** A total. Its shards are summed up to `asOf`. */
data class TallySnapshot(
  /** The sum of the shards up to `asOf`, plus all direct increments. In a watch also this client's unsent and unpublished increments. */
  val total: Double,
  /** `null` without a published total. */
  val asOf: Timestamp?,
  /** Whether `total` includes increments of this client that the server has not acknowledged. */
  val pending: Boolean,
  /** Whether the published total is from this device's cache. */
  val fromCache: Boolean,
  /** Writes per second, averaged over some seconds. */
  val rate: Double
) {
  /** The total, rounded. It is whole unless a server writes fractions. NaN is 0; a total that is too large is the nearest `Long`. */
  val wholeTotal: Long
    get() = Math.round(total)
}

/**
 * One counter. Calls of [of] for the same counter return the same object, which is kept as long as the process. Call it on the main thread,
 * where it also calls back.
 *
 * Await all increments and remove all watches before `terminate`: an increment that is still open never ends. A later call fails.
 */
class TallyCounter private constructor(private val firestore: FirebaseFirestore, val id: String, val path: String) {
  private val clock = { System.currentTimeMillis() }
  private val random = { Math.random() }
  private val mainThread = Handler(Looper.getMainLooper())
  private val shardCount = TallyShardCount(clock)
  private val total = TallyTotal()
  private val views = mutableListOf<() -> Unit>()
  private var wasWatched = false
  private var viewEndedAt = 0L
  private var answeredAt = 0L
  private var keepsMarks = false
  private var reading: Task<Void>? = null

  /** Whether the last document is one that the server has sent to a watch. */
  private var isLive = false

  /** The target of the next increment, as of the last read of the document; `null` before the first read and after one that failed. */
  private var target: TallyTarget? = null

  /** `room` of that target, minus this client's increments since. */
  private var room = 0L

  /** Whether that document is missing, so that an increment creates it. */
  private var isMissing = false

  /** The last call with each `once`. */
  private val calls = mutableMapOf<String, OrderedCall>()

  /** What [onIncremented] shows, made anew when a call begins, is refused or ends. */
  private val entryViews = mutableListOf<() -> Unit>()

  /** A call with `once`. The next one begins when this one is in the SDK's queue, which keeps the order, or has an outcome. */
  private class OrderedCall(val once: String, val counts: Boolean) {
    val nextAllowed = TaskCompletionSource<Void>()

    /** Whether its writes have been in the SDK's queue, so that later calls do not wait. */
    var isQueued = false

    /**
     * Whether a listener has shown this call's writes. From then on the listener's state is shown: after a sign-out it is that of the next
     * user.
     */
    var isSeen = false

    /** Whether watches of the total show its increment. */
    var isInTotal = false

    /** Until it has an outcome. */
    var pending: Pending? = null

    fun allowNext() {
      nextAllowed.trySetResult(null)
    }
  }

  /** @param by the amount; 0 for an undo */
  private class Pending(val by: Long, val outcome: Task<Void>)

  /**
   * One increment, from its first step to its outcome.
   *
   * @param undoneShard for an undo, the shard that the entry names; else `null`
   * @param isShown whether watches show it before a total includes it
   */
  private class Call(val by: Long, val ordered: OrderedCall?, val undoneShard: String?, val isShown: Boolean = true) {
    /** A generation that has refused it. */
    var refusedBy: Long? = null

    /** As watches show it. */
    var own: TallyOwnIncrement? = null
  }

  /** The counter document has refused an increment for ever, so another one elsewhere is safe. */
  private class RefusedThere : RuntimeException()

  /** A committed increment: the server's time of the write or of a later one, if it was read with the outcome. */
  private class Committed(val plan: TallyPlan, val countedBefore: Boolean, val at: Timestamp?)

  /** Ends a transaction that only reads. */
  private class NothingToCommit : RuntimeException()

  companion object {
    /** An undo that the rules refuse is made again if the server's entry differs from what the client knew. */
    private const val MAX_UNDO_ATTEMPTS = 3
    private const val MAX_UNAUTHENTICATED = 3
    private val counters = mutableMapOf<FirebaseFirestore, MutableMap<String, TallyCounter>>()

    /**
     * Refers to a counter. No I/O; the first increment creates it.
     *
     * @throws TallyException `counter/invalid-id` or `counter/invalid-collection`
     */
    fun of(firestore: FirebaseFirestore, id: String, collection: String = "counters"): TallyCounter {
      requireMainThread()
      requireName("collection", collection)
      requireName("id", id)
      val path = "$collection/$id"
      return counters.getOrPut(firestore) { mutableMapOf() }.getOrPut(path) { TallyCounter(firestore, id, path) }
    }

    private fun requireName(what: String, name: String) {
      if (TallyPlanner.isValidName(name.map { it.code })) return
      throw TallyException("counter/invalid-$what", "$what is \"${name.take(60)}\"; pass 1-1500 bytes, no \"/\" or control character, not \".\", \"..\", \"__x__\"")
    }

    /** Plain fields hold what a counter knows, so another thread would lose increments without a word. */
    private fun requireMainThread() {
      check(Looper.getMainLooper().isCurrentThread) { "Tally is called on the main thread" }
    }

    private fun groupOf(id: String): String = id.substringBefore(":", "")

    private fun codeOf(error: Exception?): Code? = (error as? FirebaseFirestoreException)?.code

    private fun micros(at: Timestamp?): Long =
      if (at == null) 0 else TallyPlanner.micros(at.seconds, at.nanoseconds.toLong())
  }

  /**
   * Adds `by`. The task ends when the server has acknowledged the increment; offline, when the device is online again. With a `once`, the
   * user's uid, the counter counts it once, and the call succeeds if it counts already.
   *
   * While the counter is calm, the increment is a write of the counter document, which then has it in its total. Otherwise it is a write of a
   * shard, which the functions publish. While neither a watch is live nor the server has answered this client about this counter within 10
   * seconds, an increment goes to a shard, which accepts a late write.
   *
   * Calls with the same `once` take effect in the order of the calls.
   *
   * Cost: 1 write; with `once` 2 writes, and 2 reads by the rules. The first increment reads the counter document (1 read, awaited for eight
   * seconds at most). So do the first after two minutes and one in 20 (1 read, awaited for a second at most), unless a watch is up to date.
   * Without a network none is awaited. A write that is refused or contended costs 1 read more, 2 with `once`. In a watched counter, an
   * increment that is sent while others contend costs 1 read more.
   *
   * An increment first awaits the read of the counter document, if it makes one.
   *
   * The SDK's queue sends direct increments, those with `once`, those of a watched counter that is not contended, and all while the device is
   * offline or the server has not answered for 10 seconds: the queue keeps them on disk, so an app that is killed does not lose them, and
   * repeats a contended write on the same document. The others are tried in a transaction first. If that is refused as contended, they go to
   * another shard; if it ends without an answer, to the queue.
   *
   * @throws TallyException `counter/invalid-amount`, `counter/invalid-once`; the task fails with `counter/permission-denied`, and with
   *   `counter/unauthenticated` if a look-up finds no valid sign-in; then it is open whether the increment counts
   */
  fun increment(by: Long = 1, once: String? = null): Task<Void> {
    requireMainThread()
    requireAmount(by)
    if (once == null) return withoutResult(commit(Call(by, null, null)))
    requireName("once", once)
    return ordered(once, by) { call, _ -> withoutResult(commit(Call(by, call, null))) }
  }

  /**
   * Undoes an increment with `once`. Succeeds if it does not count.
   *
   * Cost: 1 read unless the entry is in the cache; if it does not count, 1 more; if it does, 1 write and 1 delete, and 2 reads by the rules.
   * If the rules refuse it, 3 reads more for each of up to two other attempts.
   *
   * @throws TallyException `counter/invalid-once`; the task fails with `counter/permission-denied`, and with Firestore's `unavailable` if the
   *   device is offline and the entry is not in its cache
   */
  fun undo(once: String): Task<Void> {
    requireMainThread()
    requireName("once", once)
    return ordered(once, 0) { call, before ->
      val entry = entryOf(once)
      entry
        .get(Source.CACHE)
        .continueWithTask { cached -> if (cached.isSuccessful && cached.result.exists()) cached else entry.get() }
        .onSuccessTask { found ->
          if (found.exists()) undoEntry(call, found, before?.isInTotal == true, 1) else undoOnServer(call, 1)
        }
    }
  }

  /** The cache was out of date: another device has undone the increment or made it again. */
  private fun undoOnServer(call: OrderedCall, attempt: Int): Task<Void> {
    // Before a read that may last until the device is online.
    call.allowNext()
    return readFromServer(entryOf(call.once), Int.MAX_VALUE).onSuccessTask { read ->
      val entry = read.get()
      if (entry != null && entry.exists() && !isSuperseded(call)) undoEntry(call, entry, true, attempt + 1)
      else Tasks.forResult<Void>(null)
    }
  }

  /** @param isInTotal whether watches show the increment that it undoes, if that is in the queue for a shard */
  private fun undoEntry(call: OrderedCall, entry: DocumentSnapshot, isInTotal: Boolean, attempt: Int): Task<Void> {
    val by = wholeOf(entry.get("by")) ?: 0
    val shard = entry.get("shard") as? String ?: TallyPlanner.DIRECT
    // An increment of before the watch began, or before the app did: without the server's time, it is still in the queue.
    val isShown = isInTotal || shard == TallyPlanner.DIRECT || entry.get("at") != null
    return withoutResult(commit(Call(-by, call, shard, isShown))).continueWithTask { done ->
      if (isDenied(done.exception) && attempt < MAX_UNDO_ATTEMPTS) undoOnServer(call, attempt) else done
    }
  }

  /**
   * Makes a call with `once` when the one before allows it. One that repeats the last one shares its outcome, because the cache would show
   * both.
   *
   * @param by 0 for an undo
   */
  private fun ordered(once: String, by: Long, make: (OrderedCall, before: OrderedCall?) -> Task<Void>): Task<Void> {
    val before = calls[once]
    val pending = before?.pending
    if (pending != null && pending.by == by) return pending.outcome
    val call = OrderedCall(once, by != 0L)
    calls[once] = call
    val made =
      if (before == null || before.nextAllowed.task.isComplete) taskOf { make(call, before) }
      else before.nextAllowed.task.continueWithTask { taskOf { make(call, before) } }
    val outcome =
      made.continueWithTask { done ->
        call.pending = null
        call.allowNext()
        showEntries()
        done
      }
    call.pending = Pending(by, outcome)
    showEntries()
    return outcome
  }

  /** The SDK throws some errors at once, as after `terminate`. */
  private fun <T> taskOf(make: () -> Task<T>): Task<T> =
    try {
      make()
    } catch (error: RuntimeException) {
      Tasks.forException(error)
    }

  private fun isDenied(error: Exception?): Boolean = (error as? TallyException)?.code == "counter/permission-denied"

  /** Whether there is a later call with this `once`, which decides. */
  private fun isSuperseded(call: OrderedCall?): Boolean = call != null && calls[call.once] !== call

  private fun withoutResult(outcome: Task<Committed>): Task<Void> = outcome.onSuccessTask { Tasks.forResult<Void>(null) }

  /**
   * Adds an increment to your own batch: both are committed or neither. At most one per counter and batch. Watches show it when
   * it is published. After a cut connection, `commit` may fail with `permission-denied` although the batch was committed.
   *
   * Cost: 1 write of the batch; with `once` 2, and 2 reads by the rules; now and then the reads of [increment].
   *
   * @throws TallyException `counter/invalid-amount`, `counter/invalid-once`
   */
  fun incrementIn(batch: WriteBatch, by: Long = 1, once: String? = null) {
    requireMainThread()
    requireAmount(by)
    if (once != null) requireName("once", once)
    refreshShardCount()
    val shard = TallyPlanner.randomShard(shardCount.shardsToChooseFrom(), random)
    addWrites(batch, TallyPlanner.planIncrement(path, shard, by, clock(), random, once, false))
  }

  /** Whether an increment with this `once` counts. Cost: 1 read. Offline it needs the entry in the cache. */
  fun getIncremented(once: String): Task<Boolean> {
    requireMainThread()
    requireName("once", once)
    return entryOf(once).get().onSuccessTask { entry -> Tasks.forResult(entry.exists()) }
  }

  /**
   * Watches whether an increment with this `once` counts, once that is known, with this client's own changes at once. Cost: 1 read, and 1 per
   * change. The watch ends with `remove()`.
   */
  fun onIncremented(
    once: String,
    onError: (FirebaseFirestoreException) -> Unit = {},
    next: (Boolean) -> Unit
  ): ListenerRegistration {
    requireMainThread()
    requireName("once", once)
    val entry = entryOf(once)
    var stored: Boolean? = null
    var shown: Boolean? = null
    val view = {
      // Before a call is in the queue, and while it is refused and made again, the SDK shows what was before.
      val last = calls[once]
      val counts = if (last?.pending == null || last.isSeen) stored else last.counts
      if (counts != null && counts != shown) {
        shown = counts
        next(counts)
      }
    }
    fun entryRead(exists: Boolean) {
      stored = exists
      val last = calls[once]
      if (last != null && last.isQueued && last.counts == exists) last.isSeen = true
      view()
    }
    entryViews.add(view)
    val listener =
      entry.addSnapshotListener(MetadataChanges.INCLUDE) { read, error ->
        if (error != null) {
          entryViews.remove(view)
          onError(error)
        } else if (read != null && view in entryViews) {
          // An empty cache does not know the entry; one that persists may know that there is none.
          if (read.exists() || !read.metadata.isFromCache || stored != null) entryRead(read.exists())
          else
            entry.get(Source.CACHE).addOnSuccessListener { cached ->
              if (stored == null && view in entryViews) entryRead(cached.exists())
            }
        }
      }
    return ListenerRegistration {
      entryViews.remove(view)
      listener.remove()
    }
  }

  private fun showEntries() {
    // A view may remove others.
    entryViews.toList().forEach { view -> if (view in entryViews) view() }
  }

  /** Reads the published total. Cost: 1 read; 2 while this client's increments of the document are unsent. */
  fun get(): Task<TallySnapshot> {
    requireMainThread()
    return firestore.document(path).get().onSuccessTask { document ->
      if (!document.metadata.isFromCache) answeredAt = clock()
      // The SDK's view is that of the time when they were made, perhaps without the document.
      if (document.metadata.hasPendingWrites())
        readFromServer(firestore.document(path), 1).continueWithTask { read ->
          Tasks.forResult(snapshotOf((if (read.isSuccessful) read.result.get() else null) ?: document))
        }
      else {
        documentRead(document, document.get("growing") == true)
        Tasks.forResult(snapshotOf(document))
      }
    }
  }

  /**
   * Watches the total: calls `next` when it changes, and at once for increments of this client, which every total includes exactly once.
   * Others' direct increments show when they are made. Those on shards are published about once a second at most, as are increments of your
   * own batches and from before the app was restarted. The watch ends with `remove()`. One that fails calls `onError` and has then ended.
   *
   * Cost: 1 read per change of the counter document, and 1 at the start. A published total is a change, and so is a direct increment of any
   * client, which costs each watcher a read. The time of an increment on a shard is read from the cache, and from the server (1 read) if the
   * cache has lost it or was never given it: where persistence is disabled, and after a transaction.
   */
  fun watch(onError: (FirebaseFirestoreException) -> Unit = {}, next: (TallySnapshot) -> Unit): ListenerRegistration {
    requireMainThread()
    var published: TallySnapshot? = null
    var last: TallySnapshot? = null
    val view = {
      val read = published
      val shown = read?.copy(total = total.total(), pending = read.pending || total.isPending())
      if (shown != null && shown != last) {
        last = shown
        next(shown)
      }
    }
    wasWatched = true
    views.add(view)
    val listener =
      firestore.document(path).addSnapshotListener(MetadataChanges.INCLUDE) { document, error ->
        if (error != null) {
          remove(view)
          onError(error)
        } else if (document != null && isWhole(document)) {
          val fromCache = document.metadata.isFromCache
          isLive = !fromCache
          documentRead(document, false)
          val read = snapshotOf(document)
          // While writes of this client have no answer, the SDK shows the document as it was when they were made. Then the total is the last
          // one, with these increments.
          if (published == null || !read.pending) {
            published = read
            total.totalRead(read.total, micros(read.asOf), fromCache) { plan -> markIn(document, plan) }
          }
          showAll()
        }
      }
    return ListenerRegistration {
      listener.remove()
      remove(view)
    }
  }

  /** Whether the SDK knows the whole document. If not, it shows only this client's unsent fields. */
  private fun isWhole(document: DocumentSnapshot): Boolean {
    val direct = document.get("direct") as? Map<*, *>
    return direct == null || direct["open"] != null
  }

  private fun remove(view: () -> Unit) {
    if (views.remove(view)) viewEndedAt = clock()
    if (views.isEmpty()) isLive = false
  }

  /** Whether there is a view, or has just been one: a view that is created again soon still finds the increments. */
  private fun isWatched(): Boolean = views.isNotEmpty() || clock() - viewEndedAt < TallyPlanner.MAX_PUBLISH_DELAY_MILLIS

  private fun showAll() {
    // A view may remove others.
    views.toList().forEach { view -> if (view in views) view() }
  }

  private fun requireAmount(by: Long) {
    if (by == 0L) throw TallyException("counter/invalid-amount", "amount is 0; pass another number")
  }

  private fun entryOf(once: String): DocumentReference = firestore.document(TallyPlanner.entryPath(path, once))

  private fun documentOf(plan: TallyPlan): DocumentReference =
    firestore.document(if (plan.generation != null) path else TallyPlanner.shardPath(path, plan.shard))

  /** Servers may have written anything. */
  private fun snapshotOf(document: DocumentSnapshot): TallySnapshot =
    TallySnapshot(
      numberOf(document.get("total")) ?: 0.0,
      document.get("asOf") as? Timestamp,
      document.metadata.hasPendingWrites(),
      document.metadata.isFromCache,
      numberOf(document.get("rate")) ?: 0.0
    )

  private fun numberOf(value: Any?): Double? = (value as? Number)?.toDouble()

  private fun wholeOf(value: Any?): Long? = (value as? Number)?.toLong()

  /** Keeps what a watch or a read has found, perhaps in the cache. A cache without the document tells nothing. */
  private fun documentRead(document: DocumentSnapshot, growing: Boolean) {
    if (!document.exists() && document.metadata.isFromCache) return
    val before = target
    val left = room
    learn(document, growing, null)
    // It may lack the last writes of this client.
    if (before != null && before.generation == target?.generation) room = min(left, room)
  }

  /** Keeps what a read of the server has found; `null` for a read that failed. */
  private fun learn(document: DocumentSnapshot?, growing: Boolean, readMillis: Long?) {
    val found = if (document == null) null else targetIn(document)
    target = found
    room = found?.room ?: 0
    isMissing = document != null && !document.exists()
    val isOpen = (document?.get("direct") as? Map<*, *>)?.get("open") == true
    val published = numberOf(document?.get("shardCount")) ?: if (isOpen) 1.0 else null
    // A crowd that the functions have not seen yet needs more.
    shardCount.update(published?.let { max(it, found?.shards ?: 1.0) }, growing, readMillis)
  }

  private fun targetIn(document: DocumentSnapshot): TallyTarget {
    if (!document.exists()) return TallyPlanner.directTarget(true, 0, 0, 0)
    val direct = document.get("direct") as? Map<*, *>
    val generation = wholeOf(direct?.get("generation")) ?: 0
    val marks = direct?.get("marks") as? Map<*, *>
    val now = marks?.get("${generation % TallyPlanner.DIRECT_SLOTS}") as? Map<*, *>
    val before = marks?.get("${(generation + TallyPlanner.DIRECT_SLOTS - 1) % TallyPlanner.DIRECT_SLOTS}") as? Map<*, *>
    val size = (now?.get("nonces") as? List<*>)?.size ?: 0
    val until = now?.get("at") as? Timestamp
    val since = before?.get("at") as? Timestamp
    val millis = if (until == null || (before != null && since == null)) -1 else (micros(until) - micros(since)) / 1_000
    return TallyPlanner.directTarget(direct?.get("open") == true, generation, size.toLong(), millis)
  }

  /** Whether a document has the mark of an increment; `null` if its generation is so old that marks were removed. */
  private fun markIn(document: DocumentSnapshot?, plan: TallyPlan): Boolean? {
    val direct = document?.get("direct") as? Map<*, *>
    val marks = if (plan.generation == null) document?.get("marks") else direct?.get("marks")
    val slot = (marks as? Map<*, *>)?.get(plan.slot) as? Map<*, *>
    if ((slot?.get("nonces") as? List<*>)?.contains(blobOf(plan.nonce)) == true) return true
    val oldest = (wholeOf(direct?.get("generation")) ?: 0) - TallyPlanner.DIRECT_SLOTS + 1
    return if (plan.generation != null && plan.generation <= oldest) null else false
  }

  /** Commits an increment, and shows it in watches from now on until a total includes it. */
  private fun commit(call: Call): Task<Committed> {
    val own = if (wasWatched && call.isShown) total.incrementMade(call.by) else null
    call.own = own
    call.ordered?.isInTotal = own != null
    if (own != null) showAll()
    val sentAt = clock()
    val outcome = commitWithRetries(call)
    if (own != null) showUntilIncluded(own, outcome, sentAt)
    return outcome
  }

  private fun commitWithRetries(call: Call): Task<Committed> {
    // Without a wait, the increment is in the SDK's queue when this call returns.
    val read = refreshShardCount()
    return if (read != null && dependsOnCount(call)) read.continueWithTask { attempt(call) } else attempt(call)
  }

  /**
   * Whether the plan depends on the shard count. An undo with a known shard does not. A call with `once` that is made again does not wait
   * either: later calls would not wait for it.
   */
  private fun dependsOnCount(call: Call): Boolean =
    call.ordered == null || (call.refusedBy == null && (call.undoneShard ?: TallyPlanner.DIRECT) == TallyPlanner.DIRECT)

  private fun attempt(call: Call): Task<Committed> {
    val plan = planFor(call)
    call.own?.let { total.incrementPlanned(it, plan) }
    val written = shardCount.writeSent()
    return taskOf { send(call, plan) }
      .continueWithTask { sent ->
        val error = sent.exception
        if (error == null) Tasks.forResult(Committed(plan, false, sent.result)) else confirm(plan, error)
      }
      .continueWithTask { done ->
        val isContended = codeOf(done.exception) == Code.ABORTED
        val isRefused = isContended || done.exception is RefusedThere
        shardCount.writeAnswered(written, isContended)
        if (done.isSuccessful || isRefused) answeredAt = clock()
        when {
          !isRefused && !isDenied(done.exception) -> done
          // A later call with this `once` has not waited, and decides. So this one must not be repeated; and it may be refused because the later
          // one was committed before the look-up.
          isSuperseded(call.ordered) -> Tasks.forResult(Committed(plan, true, null))
          isRefused -> again(call, plan)
          else -> done
        }
      }
  }

  /** A refused write can no longer be committed, so another increment elsewhere is safe. */
  private fun again(call: Call, plan: TallyPlan): Task<Committed> {
    if (plan.generation != null) call.refusedBy = plan.generation
    return commitWithRetries(call)
  }

  /**
   * A transaction first, or the queue. What the transaction leaves without an answer goes to the queue, too: both count once.
   *
   * A transaction also removes the marks that have expired by this device's clock. If the rules refuse that, the clock may be wrong: the
   * same plan is sent again without the removal, and if it is accepted, this client removes none from then on. Writes in the queue may
   * be sent hours later, so they remove none.
   */
  private fun send(call: Call, plan: TallyPlan): Task<Timestamp> {
    val sinceAnswer = clock() - answeredAt
    val usesTransaction = TallyPlanner.usesTransaction(plan.entry != null, isWatched(), shardCount.isContended(), sinceAnswer)
    if (plan.generation != null || isOffline() || !usesTransaction) return queue(call, plan)
    val removesMarks = !keepsMarks
    return transact(plan, removesMarks)
      .continueWithTask { sent ->
        if (!removesMarks || codeOf(sent.exception) != Code.PERMISSION_DENIED) sent
        else
          transact(plan, false).continueWithTask { again ->
            if (again.isSuccessful) keepsMarks = true
            again
          }
      }
      .continueWithTask { sent ->
        val error = sent.exception
        when {
          // The cache does not have the server's timestamp.
          error == null && isWatched() ->
            readFromServer(documentOf(plan), Int.MAX_VALUE).continueWithTask { read ->
              // Without the timestamp, too, the increment is committed.
              Tasks.forResult<Timestamp>(if (read.isSuccessful) read.result.get()?.get("at") as? Timestamp else null)
            }
          error == null -> Tasks.forResult<Timestamp>(null)
          codeOf(error) == Code.ABORTED || codeOf(error) == Code.PERMISSION_DENIED -> Tasks.forException(error)
          else -> queue(call, plan)
        }
      }
  }

  private fun transact(plan: TallyPlan, removesMarks: Boolean): Task<Void> =
    firestore.runTransaction(attempts(1), Transaction.Function<Void> { own -> addWrites(own, plan, removesMarks) })

  private fun queue(call: Call, plan: TallyPlan): Task<Timestamp> {
    val batch = firestore.batch()
    addWrites(batch, plan)
    val committed = batch.commit()
    call.ordered?.isQueued = true
    call.ordered?.allowNext()
    return committed.continueWithTask { sent ->
      val error = sent.exception
      if (error == null) Tasks.forResult<Timestamp>(null)
      else {
        // The SDK no longer shows it.
        call.ordered?.isSeen = false
        Tasks.forException(error)
      }
    }
  }

  private fun planFor(call: Call): TallyPlan {
    val generation = generationFor(call)
    val once = call.ordered?.once
    val isUndo = call.undoneShard != null
    if (generation != null) {
      room -= 1
      val group = if (isMissing) groupOf(id) else null
      return TallyPlanner.planDirect(path, generation, group, call.by, random, once, isUndo)
    }
    val shard = call.undoneShard ?: TallyPlanner.randomShard(shardCount.shardsToChooseFrom(), random)
    return TallyPlanner.planIncrement(path, shard, call.by, clock(), random, once, isUndo)
  }

  /**
   * The generation of the counter document that an increment joins, `null` for a shard. A write in the queue of a device that is offline may
   * be sent when its generation is over, and nothing would make it again if the app has ended meanwhile: so it goes to a shard.
   */
  private fun generationFor(call: Call): Long? {
    val isOnline = isLive || clock() - answeredAt < TallyPlanner.ONLINE_MILLIS
    val isCalm = !shardCount.isStale(isLive) && !shardCount.isContended()
    val mayBeDirect = isOnline && isCalm && !isOffline() && (call.undoneShard ?: TallyPlanner.DIRECT) == TallyPlanner.DIRECT
    val found = if (mayBeDirect && room > 0) target?.generation else null
    // If a generation that has refused this increment still takes others, the policy refuses direct increments.
    return if (found == call.refusedBy) null else found
  }

  private fun addWrites(batch: WriteBatch, plan: TallyPlan) {
    for (write in TallyPlanner.writes(plan, false)) {
      val document = firestore.document(write.path)
      val fields = write.fields
      if (fields == null) batch.delete(document)
      else if (write.merge) batch.set(document, valuesOf(fields), SetOptions.merge())
      else batch.set(document, valuesOf(fields))
    }
  }

  private fun addWrites(transaction: Transaction, plan: TallyPlan, removesMarks: Boolean): Void? {
    for (write in TallyPlanner.writes(plan, removesMarks)) {
      val document = firestore.document(write.path)
      val fields = write.fields
      if (fields == null) transaction.delete(document)
      else if (write.merge) transaction.set(document, valuesOf(fields), SetOptions.merge())
      else transaction.set(document, valuesOf(fields))
    }
    return null
  }

  private fun valuesOf(fields: Map<String, TallyValue>): Map<String, Any> =
    fields.mapValues { (_, value) ->
      when (value) {
        is TallyValue.Text -> value.text
        is TallyValue.Whole -> value.number
        is TallyValue.Flag -> value.isTrue
        is TallyValue.Increment -> FieldValue.increment(value.by)
        is TallyValue.ServerTime -> FieldValue.serverTimestamp()
        is TallyValue.Append -> FieldValue.arrayUnion(blobOf(value.bytes))
        is TallyValue.Fields -> valuesOf(value.fields)
        is TallyValue.Delete -> FieldValue.delete()
      }
    }

  private fun blobOf(bytes: List<Int>): Blob = Blob.fromBytes(ByteArray(bytes.size) { bytes[it].toByte() })

  /** Looks up whether a refused write counts. Cost: 1 read, 2 with `once`. */
  private fun confirm(plan: TallyPlan, cause: Exception): Task<Committed> {
    val isAborted = codeOf(cause) == Code.ABORTED
    val isDirect = plan.generation != null
    if (!isAborted && codeOf(cause) != Code.PERMISSION_DENIED) return Tasks.forException(cause)
    return readFromServer(documentOf(plan), Int.MAX_VALUE).onSuccessTask { written ->
      val document = written.get()
      val hasMark = markIn(document, plan) == true
      if (isDirect) learn(document, document?.get("growing") == true, null)
      val entry = plan.entry
      val looked =
        if (hasMark || isAborted || entry == null || plan.isUndo) Tasks.forResult(Read(null))
        else readFromServer(firestore.document(entry), Int.MAX_VALUE)
      looked.onSuccessTask { read ->
        val countedBy = wholeOf(read.get()?.get("by"))
        when (TallyPlanner.judgeRefusal(isAborted, hasMark, countedBy, plan.by, isDirect)) {
          "committed" -> Tasks.forResult(Committed(plan, false, document?.get("at") as? Timestamp))
          "counted" -> Tasks.forResult(Committed(plan, true, null))
          "retry" -> Tasks.forException(if (isAborted) cause else RefusedThere())
          else -> Tasks.forException(refusal(plan, countedBy, cause))
        }
      }
    }
  }

  private fun refusal(plan: TallyPlan, countedBy: Long?, cause: Exception): TallyException {
    val advice =
      when {
        countedBy != null -> "it counts $countedBy, undo that first"
        plan.entry != null -> "once must be the user's uid, and countsOncePerUser must name the group"
        else ->
          "isOpen in firestore.rules must name the group and isAllowedAmount allow the amount; " +
            "or the counter counts once per user: pass once"
      }
    return TallyException("counter/permission-denied", "firestore.rules refuse ${plan.by} for \"$id\"; $advice", cause)
  }

  /** A document that was read; none if the rules do not let this user read it. */
  private class Read(private val snapshot: DocumentSnapshot?) {
    fun get(): DocumentSnapshot? = snapshot
  }

  private fun attempts(most: Int): TransactionOptions = TransactionOptions.Builder().setMaxAttempts(most).build()

  /** In a transaction that commits nothing: any other read would show this client's unsent writes. Cost: 1 read. */
  private fun readFromServer(document: DocumentReference, most: Int): Task<Read> {
    var snapshot: DocumentSnapshot? = null
    var unauthenticated = 0
    val read =
      Transaction.Function<Void> { own ->
        try {
          snapshot = own.get(document)
        } catch (error: FirebaseFirestoreException) {
          // The SDK repeats this one without end, each time with a new token.
          unauthenticated += if (error.code == Code.UNAUTHENTICATED) 1 else 0
          if (unauthenticated < MAX_UNAUTHENTICATED) throw error
          throw TallyException("counter/unauthenticated", "the user's sign-in is not valid; sign in again", error)
        }
        throw NothingToCommit()
      }
    return firestore.runTransaction(attempts(most), read).continueWithTask { done ->
      val error = done.exception
      if (error is NothingToCommit || codeOf(error) == Code.PERMISSION_DENIED) Tasks.forResult(Read(snapshot))
      else Tasks.forException(error!!)
    }
  }

  /**
   * Reads the counter document if the known shard count is stale. Never fails.
   *
   * @return what an increment waits for, eight seconds at most for the first read, one for later ones; `null` if it need not wait, because the
   *   count is fresh or the device is offline
   */
  private fun refreshShardCount(): Task<Void>? {
    if (!shardCount.isStale(isLive)) return null
    val read = reading ?: readShardCount()
    return if (isOffline()) null else read
  }

  private fun readShardCount(): Task<Void> {
    val known = TaskCompletionSource<Void>()
    reading = known.task
    mainThread.postDelayed({ known.trySetResult(null) }, shardCount.countTimeout())
    val sentAt = clock()
    taskOf { readFromServer(firestore.document(path), 1) }.addOnCompleteListener { done ->
      val document = if (done.isSuccessful) done.result.get() else null
      val readMillis = if (done.isSuccessful) clock() - sentAt else null
      if (done.isSuccessful) answeredAt = clock()
      learn(document, document?.get("growing") == true, readMillis)
      reading = null
      known.trySetResult(null)
    }
    return known.task
  }

  /** Whether the device has no network. The manifest of the SDK asks for the permission. */
  private fun isOffline(): Boolean {
    val network = firestore.app.applicationContext.getSystemService(Context.CONNECTIVITY_SERVICE) as? ConnectivityManager
    return network != null && network.activeNetwork == null
  }

  /** Shows an increment in the watches until a total includes it. */
  private fun showUntilIncluded(own: TallyOwnIncrement, outcome: Task<Committed>, sentAt: Long) {
    outcome
      .onSuccessTask<Timestamp> { committed ->
        when {
          // It had counted before; or no view is left that could show the increment.
          committed.countedBefore || !isWatched() -> Tasks.forResult(null)
          // Its mark tells which totals include it.
          committed.plan.generation != null -> Tasks.forResult(Timestamp(0, 1_000))
          committed.at != null -> Tasks.forResult(committed.at)
          else -> timestampOf(documentOf(committed.plan))
        }
      }
      .addOnCompleteListener { done ->
        val at = if (done.isSuccessful) micros(done.result) else 0
        if (at == 0L) total.incrementRefused(own)
        else {
          total.incrementCommitted(own, TallyPlanner.latestCommit(at, clock() - sentAt))
          // A total between both bounds may include the increment or not. It does if no other total has followed by then.
          mainThread.postDelayed(
            {
              total.incrementCommitted(own, at)
              showAll()
            },
            TallyPlanner.MAX_PUBLISH_DELAY_MILLIS
          )
        }
        showAll()
      }
  }

  /** The server's time of this client's last write on a shard that went through the queue. */
  private fun timestampOf(shard: DocumentReference): Task<Timestamp> =
    shard
      .get(Source.CACHE)
      .continueWithTask { cached -> if (cached.isSuccessful) cached else shard.get() }
      .onSuccessTask<Timestamp> { Tasks.forResult(it.get("at", ServerTimestampBehavior.PREVIOUS) as? Timestamp) }
}
