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
 * One increment: which shard, which slot, which nonce. A retry sends the same plan. The marks of the slot `expired` may be
 * removed, if the clock of this device is right.
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
  val isUndo: Boolean
)

/** What a client writes, as functions without I/O. */
object TallyPlanner {
  const val MAX_ID_BYTES = 1_500
  const val MAX_SHARDS = 10_000
  const val MARK_SLOTS = 5L
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

  /** What the entry of an increment names for a shard if the web client has counted it in the counter document. */
  const val DIRECT = "direct"

  /** Later than every instant in microseconds. */
  const val NEVER = 9_007_199_254_740_991L

  /** Whether a string is valid as an id. Firestore also takes control characters, but its events do not arrive. */
  fun isValidName(name: String): Boolean {
    val size = name.toByteArray().size
    val isReserved = size >= 4 && name.startsWith("__") && name.endsWith("__")
    return size >= 1 && size <= MAX_ID_BYTES && !name.contains("/") && name != "." && name != ".." && !isReserved && !hasControl(name)
  }

  private fun hasControl(name: String): Boolean {
    return name.codePoints().toArray().any { one -> isControl(one) }
  }

  /** Control characters, and halves of a surrogate pair, which the SDK would replace by another character. */
  private fun isControl(one: Int): Boolean {
    return one < 32 || (one >= 127 && one < 160) || (one >= 55_296 && one < 57_344)
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
    return TallyPlan(counter, place, by, markSlot(now, 0), expired, newNonce(random), entry, once, isUndo)
  }

  /**
   * The writes of a plan, for one commit.
   *
   * @param removesMarks whether they also remove the slot that has expired
   */
  fun writes(plan: TallyPlan, removesMarks: Boolean): List<TallyWrite> {
    val mark =
      TallyValue.Fields(mapOf("at" to TallyValue.ServerTime, "nonces" to TallyValue.Append(plan.nonce)))
    val marks = mutableMapOf<String, TallyValue>(plan.slot to mark)
    if (removesMarks) {
      marks[plan.expired] = TallyValue.Delete
    }
    val fields =
      mapOf(
        "shard" to TallyValue.Text(plan.shard),
        "count" to TallyValue.Increment(plan.by),
        "writes" to TallyValue.Increment(1),
        "at" to TallyValue.ServerTime,
        "marks" to TallyValue.Fields(marks)
      )
    val shardWrite = TallyWrite(shardPath(plan.counter, plan.shard), fields, true)
    if (plan.entry == null || plan.once == null) {
      return listOf(shardWrite)
    }
    if (plan.isUndo) {
      return listOf(TallyWrite(plan.entry, null, false), shardWrite)
    }
    val entry =
      mapOf(
        "once" to TallyValue.Text(plan.once),
        "by" to TallyValue.Whole(plan.by),
        "shard" to TallyValue.Text(plan.shard),
        "at" to TallyValue.ServerTime
      )
    return listOf(TallyWrite(plan.entry, entry, false), shardWrite)
  }

  /**
   * What a refused commit means.
   *
   * @param hasMark whether the shard has the nonce of the plan
   * @param countedBy the amount of the entry, if the plan creates one and there is one
   * @return "committed", "counted" (by an earlier call with the `once`), "retry" (on another shard) or "refused"
   */
  fun judgeRefusal(isAborted: Boolean, hasMark: Boolean, countedBy: Long?, by: Long): String {
    if (hasMark) {
      return "committed"
    }
    if (isAborted) {
      return "retry"
    }
    return if (countedBy == by) "counted" else "refused"
  }

  /**
   * Whether an increment first goes into a transaction: if that is refused as contended, another shard is next. All others go
   * only to the SDK's queue, which keeps them on disk: every increment while the server has not answered for ten seconds,
   * increments with `once`, and increments of a watched counter that is not contended.
   *
   * @param sinceAnswerMillis since the last answer of the server
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
  private var pending = 0

  /** Whether a watch or a read, even one that failed, has updated the count. */
  private var hasCount = false

  /** Since when no write has been answered, while some are pending. */
  private var pendingSince = 0L

  /** The wait that the last answer ended; none if it has no length. */
  private var lastWaitSince = 0L
  private var lastWaitUntil = 0L

  /** When the last read was answered, and how long it took. */
  private var readAt = 0L
  private var roundTrip = 0L

  /** The multiple that refusals have built up. */
  private var factor = 1.0

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
    val current = if (pending > 0) slownessOf(pendingSince, now, mustBeProven) else 0L
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

  /** Whether to read the shard count before the next write. */
  fun isStale(): Boolean {
    val isSuspected = factor > 1 || slowness(false) > 0
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

  fun writeSent() {
    writes += 1
    if (pending == 0) {
      pendingSince = clock()
    }
    pending += 1
  }

  /**
   * The write has an answer.
   *
   * @param isRefused whether it was refused as contended
   */
  fun writeAnswered(isRefused: Boolean) {
    val before = multiple()
    pending -= 1
    val now = clock()
    lastWaitSince = if (isRefused) now else pendingSince
    lastWaitUntil = now
    pendingSince = now
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

/** One increment of this client, with bounds of its commit time in microseconds. */
class TallyOwnIncrement(val by: Long, var earliest: Long, var latest: Long)

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
    }
    settle()
  }

  /**
   * The counter document was read.
   *
   * @param asOf in microseconds; 0 without a published total
   */
  fun totalRead(total: Double, asOf: Long, fromCache: Boolean) {
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
    settle()
  }

  private fun settle() {
    own.removeAll { one -> one.latest <= publishedAt }
    var low = published
    var high = published
    own.forEach { one ->
      val isMissing = one.earliest > publishedAt
      if (isMissing || one.by < 0) {
        low += one.by
      }
      if (isMissing || one.by > 0) {
        high += one.by
      }
    }
    shown = min(max(shown, low), high)
  }
}

// --- Firestore ---

/** Why a call failed. Firestore's own errors are passed on unchanged. */
class TallyException(val code: String, message: String, cause: Throwable? = null) : Exception("$code: $message", cause)

/** A total and the instant for which it is exact. */
data class TallySnapshot(
  /** The sum of all increments committed at or before `asOf`; a watch adds this client's own. */
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
  /** The total, rounded. It is whole unless a server writes fractions. */
  val wholeTotal: Long
    get() = Math.round(total)
}

/** One counter. Calls of [of] for the same counter return the same object, which is kept as long as the process. */
class TallyCounter private constructor(private val firestore: FirebaseFirestore, val id: String, val path: String) {
  private val clock = { System.currentTimeMillis() }
  private val random = { Math.random() }
  private val mainThread = Handler(Looper.getMainLooper())
  private val shardCount = TallyShardCount(clock)
  private val total = TallyTotal()
  private val views = mutableListOf<() -> Unit>()
  private val ownByOnce = mutableMapOf<String, TallyOwnIncrement>()
  private var wasWatched = false
  private var viewEndedAt = 0L
  private var answeredAt = 0L
  private var keepsMarks = false
  private var reading: Task<Void>? = null

  /** A committed increment: the server's time of the write or of a later one, if it was read with the outcome. */
  private class Committed(val plan: TallyPlan, val countedBefore: Boolean, val at: Timestamp?)

  /** Ends a transaction that only reads. */
  private class NothingToCommit : RuntimeException()

  companion object {
    private val counters = mutableMapOf<FirebaseFirestore, MutableMap<String, TallyCounter>>()

    /**
     * Refers to a counter. No I/O; the first increment creates it.
     *
     * @throws TallyException `counter/invalid-id` or `counter/invalid-collection`
     */
    fun of(firestore: FirebaseFirestore, id: String, collection: String = "counters"): TallyCounter {
      requireName("collection", collection)
      requireName("id", id)
      val path = "$collection/$id"
      return counters.getOrPut(firestore) { mutableMapOf() }.getOrPut(path) { TallyCounter(firestore, id, path) }
    }

    private fun requireName(what: String, name: String) {
      if (TallyPlanner.isValidName(name)) return
      throw TallyException("counter/invalid-$what", "$what is \"${name.take(60)}\"; pass 1-1500 bytes, no \"/\" or control character, not \".\", \"..\", \"__x__\"")
    }

    private fun codeOf(error: Exception?): Code? = (error as? FirebaseFirestoreException)?.code

    private fun micros(at: Timestamp?): Long =
      if (at == null) 0 else TallyPlanner.micros(at.seconds, at.nanoseconds.toLong())
  }

  /**
   * Adds `by`. The task ends when the server has acknowledged the increment; offline, when the device is online again. With a
   * `once`, the user's uid, the counter counts it once, and the call succeeds if it counts already.
   *
   * Cost: 1 write; with `once` 2 writes, and 2 reads by the rules. The first increment reads the counter document (1 read,
   * awaited for eight seconds at most). So do the first after two minutes and one in 20 (1 read, awaited for a second at most),
   * unless a watch has delivered a total. A write that is refused or contended costs 1 read more, 2 with `once`. In a watched
   * counter, an increment that is sent while others contend costs 1 read more.
   *
   * An increment first awaits the read of the counter document, if it makes one. Then, unlike on the web, it goes to the SDK's
   * queue if the server has not answered anything for 10 seconds: the queue keeps it on disk, so an app that is offline or
   * killed does not lose it. Else it goes into a transaction, and if that is refused as contended, to another shard. Increments
   * with `once`, and those of a watched counter that is not contended, always go to the queue, which repeats a contended write on
   * the same shard.
   *
   * @throws TallyException `counter/invalid-amount`, `counter/invalid-once`; the task fails with `counter/permission-denied`
   */
  fun increment(by: Long = 1, once: String? = null): Task<Void> {
    requireAmount(by)
    if (once != null) requireName("once", once)
    return commit(by, once, null)
  }

  /**
   * Undoes an increment with `once`. Succeeds if it does not count.
   *
   * Cost: 1 read; if it counts, 1 write and 1 delete more, and 2 reads by the rules.
   *
   * @throws TallyException `counter/invalid-once`; the task fails with `counter/permission-denied`, and with Firestore's
   *   `unavailable` if the device is offline and the entry is not in its cache
   */
  fun undo(once: String): Task<Void> {
    requireName("once", once)
    return refreshShardCount()
      .continueWithTask { entryOf(once).get() }
      .onSuccessTask { cached ->
        if (!cached.exists()) undoOnServer(once)
        else
          undoEntry(once, cached).continueWithTask { done ->
            if ((done.exception as? TallyException)?.code == "counter/permission-denied") undoOnServer(once) else done
          }
      }
  }

  /** The cache was out of date: another device has undone the increment or made it again. */
  private fun undoOnServer(once: String): Task<Void> =
    readFromServer(entryOf(once), Int.MAX_VALUE).onSuccessTask { read ->
      val entry = read.get()
      if (entry != null && entry.exists()) undoEntry(once, entry) else Tasks.forResult<Void>(null)
    }

  private fun undoEntry(once: String, entry: DocumentSnapshot): Task<Void> =
    commit(-(entry.getLong("by") ?: 0), once, entry.getString("shard"))

  /**
   * Adds an increment to your own batch: both are committed or neither. At most one per counter and batch. Watches show it when
   * it is published. After a cut connection, `commit` may fail with `permission-denied` although the batch was committed.
   *
   * Cost: 1 write of the batch; with `once` 2, and 2 reads by the rules; now and then the reads of [increment].
   *
   * @throws TallyException `counter/invalid-amount`, `counter/invalid-once`
   */
  fun incrementIn(batch: WriteBatch, by: Long = 1, once: String? = null) {
    requireAmount(by)
    if (once != null) requireName("once", once)
    refreshShardCount()
    addWrites(batch, planFor(by, once, null))
  }

  /** Whether an increment with this `once` counts. Cost: 1 read. Offline it needs the entry in the cache. */
  fun getIncremented(once: String): Task<Boolean> {
    requireName("once", once)
    return entryOf(once).get().onSuccessTask { entry -> Tasks.forResult(entry.exists()) }
  }

  /**
   * Watches whether an increment with this `once` counts, once that is known, with this client's own changes at once. Cost: 1 read, and 1
   * per change.
   */
  fun onIncremented(
    once: String,
    onError: (FirebaseFirestoreException) -> Unit = {},
    next: (Boolean) -> Unit
  ): ListenerRegistration {
    requireName("once", once)
    val entry = entryOf(once)
    var shown: Boolean? = null
    var isRemoved = false
    fun show(counts: Boolean) {
      if (isRemoved || counts == shown) return
      shown = counts
      next(counts)
    }
    val listener =
      entry.addSnapshotListener(MetadataChanges.INCLUDE) { read, error ->
        if (error != null) {
          onError(error)
        } else if (read != null) {
          // An empty cache does not know the entry; one that persists may know that there is none.
          if (read.exists() || !read.metadata.isFromCache || shown != null) show(read.exists())
          else entry.get(Source.CACHE).addOnSuccessListener { cached -> if (shown == null) show(cached.exists()) }
        }
      }
    return ListenerRegistration {
      isRemoved = true
      listener.remove()
    }
  }

  /** Reads the published total. Cost: 1 read. */
  fun get(): Task<TallySnapshot> =
    firestore.document(path).get().onSuccessTask { document ->
      shardCount.update(shardsOf(document), document.getBoolean("growing") == true, null)
      Tasks.forResult(snapshotOf(document))
    }

  /**
   * Watches the total: calls `next` with each published one, about once a second at most, and at once for increments of this
   * client, which every total includes exactly once. Increments of your own batches, of other devices and from before the app
   * was restarted show when they are published. A watch that fails calls `onError` and has then ended.
   *
   * Cost: 1 read per published total. An increment's time is read from the cache, and from the server (1 read) if the cache has
   * lost it or was never given it: where persistence is disabled, and after a transaction.
   */
  fun watch(onError: (FirebaseFirestoreException) -> Unit = {}, next: (TallySnapshot) -> Unit): ListenerRegistration {
    var published: TallySnapshot? = null
    var last: TallySnapshot? = null
    val view = {
      val shown = published?.copy(total = total.total(), pending = total.isPending())
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
        } else if (document != null) {
          val fromCache = document.metadata.isFromCache
          // A cache without the document does not tell the shard count.
          if (document.exists() || !fromCache) shardCount.update(shardsOf(document), false, null)
          val read = snapshotOf(document)
          published = read
          total.totalRead(read.total, micros(read.asOf), fromCache)
          showAll()
        }
      }
    return ListenerRegistration {
      listener.remove()
      remove(view)
    }
  }

  private fun remove(view: () -> Unit) {
    if (views.remove(view)) viewEndedAt = clock()
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

  private fun shardOf(plan: TallyPlan): DocumentReference = firestore.document(TallyPlanner.shardPath(path, plan.shard))

  private fun snapshotOf(document: DocumentSnapshot): TallySnapshot =
    TallySnapshot(
      document.getDouble("total") ?: 0.0,
      document.getTimestamp("asOf"),
      false,
      document.metadata.isFromCache,
      document.getDouble("rate") ?: 0.0
    )

  private fun shardsOf(document: DocumentSnapshot): Double? = (document.get("shardCount") as? Number)?.toDouble()

  private fun commit(by: Long, once: String?, undoneShard: String?): Task<Void> {
    val outcome = commitWithRetries(by, once, undoneShard)
    if (wasWatched) track(by, outcome, once)
    return outcome.onSuccessTask { Tasks.forResult<Void>(null) }
  }

  private fun commitWithRetries(by: Long, once: String?, undoneShard: String?): Task<Committed> =
    refreshShardCount().continueWithTask {
      val plan = planFor(by, once, undoneShard)
      shardCount.writeSent()
      send(plan)
        .continueWithTask { sent ->
          val error = sent.exception
          if (error == null) Tasks.forResult(Committed(plan, false, sent.result)) else confirm(plan, error)
        }
        .continueWithTask { done ->
          val isRefused = codeOf(done.exception) == Code.ABORTED
          shardCount.writeAnswered(isRefused)
          if (done.isSuccessful || isRefused) answeredAt = clock()
          // A refused write can no longer be committed, so another increment on another shard is safe.
          if (isRefused) commitWithRetries(by, once, undoneShard) else done
        }
    }

  /**
   * A transaction first, or the queue. What the transaction leaves without an answer goes to the queue, too: both count once.
   *
   * A transaction also removes the marks that have expired by this device's clock. If the rules refuse that, the clock may be wrong: the
   * same plan is sent again without the removal, and if it is accepted, this client removes none from then on. Writes in the queue may
   * be sent hours later, so they remove none.
   */
  private fun send(plan: TallyPlan): Task<Timestamp> {
    val sinceAnswer = clock() - answeredAt
    if (!TallyPlanner.usesTransaction(plan.entry != null, isWatched(), shardCount.isContended(), sinceAnswer))
      return queue(plan)
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
            readFromServer(shardOf(plan), Int.MAX_VALUE).onSuccessTask { Tasks.forResult(it.get()?.getTimestamp("at")) }
          error == null -> Tasks.forResult<Timestamp>(null)
          codeOf(error) == Code.ABORTED || codeOf(error) == Code.PERMISSION_DENIED -> Tasks.forException(error)
          else -> queue(plan)
        }
      }
  }

  private fun transact(plan: TallyPlan, removesMarks: Boolean): Task<Void> =
    firestore.runTransaction(attempts(1), Transaction.Function<Void> { own -> addWrites(own, plan, removesMarks) })

  private fun queue(plan: TallyPlan): Task<Timestamp> {
    val batch = firestore.batch()
    addWrites(batch, plan)
    return batch.commit().continueWithTask { sent ->
      val error = sent.exception
      if (error == null) Tasks.forResult<Timestamp>(null) else Tasks.forException(error)
    }
  }

  private fun planFor(by: Long, once: String?, undoneShard: String?): TallyPlan {
    val shard = undoneShard ?: TallyPlanner.randomShard(shardCount.shardsToChooseFrom(), random)
    return TallyPlanner.planIncrement(path, shard, by, clock(), random, once, undoneShard != null)
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
    if (!isAborted && codeOf(cause) != Code.PERMISSION_DENIED) return Tasks.forException(cause)
    return readFromServer(shardOf(plan), Int.MAX_VALUE).onSuccessTask { shard ->
      val slot = ((shard.get()?.get("marks") as? Map<*, *>)?.get(plan.slot) as? Map<*, *>)?.get("nonces") as? List<*>
      val hasMark = slot?.contains(blobOf(plan.nonce)) == true
      val entry = plan.entry
      val lookUpEntry = !hasMark && !isAborted && entry != null && !plan.isUndo
      val looked =
        if (lookUpEntry) readFromServer(firestore.document(entry!!), Int.MAX_VALUE)
        else Tasks.forResult(Read(null))
      looked.onSuccessTask { read ->
        val countedBy = read.get()?.getLong("by")
        when (TallyPlanner.judgeRefusal(isAborted, hasMark, countedBy, plan.by)) {
          "committed" -> Tasks.forResult(Committed(plan, false, shard.get()?.getTimestamp("at")))
          "counted" -> Tasks.forResult(Committed(plan, true, null))
          "retry" -> Tasks.forException(cause)
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
    val read =
      Transaction.Function<Void> { own ->
        snapshot = own.get(document)
        throw NothingToCommit()
      }
    return firestore.runTransaction(attempts(most), read).continueWithTask { done ->
      val error = done.exception
      if (error is NothingToCommit || codeOf(error) == Code.PERMISSION_DENIED) Tasks.forResult(Read(snapshot))
      else Tasks.forException(error!!)
    }
  }

  /**
   * Reads the shard count if the known one is stale. Never fails. Ends after eight seconds at the latest for the first read,
   * and after one second for later reads.
   */
  private fun refreshShardCount(): Task<Void> {
    if (!shardCount.isStale()) return Tasks.forResult(null)
    reading?.let {
      return it
    }
    val known = TaskCompletionSource<Void>()
    reading = known.task
    mainThread.postDelayed({ known.trySetResult(null) }, shardCount.countTimeout())
    val sentAt = clock()
    readFromServer(firestore.document(path), 1).addOnCompleteListener { done ->
      val document = if (done.isSuccessful) done.result.get() else null
      val readMillis = if (done.isSuccessful) clock() - sentAt else null
      if (done.isSuccessful) answeredAt = clock()
      shardCount.update(document?.let { shardsOf(it) }, document?.getBoolean("growing") == true, readMillis)
      reading = null
      known.trySetResult(null)
    }
    return known.task
  }

  /** Shows an increment in the watches until a published total includes it. */
  private fun track(by: Long, outcome: Task<Committed>, once: String?) {
    // Of several concurrent attempts with the same `once`, one counts.
    if (once != null && ownByOnce[once]?.by == by) return
    val own = total.incrementMade(by)
    if (once != null) ownByOnce[once] = own
    showAll()
    val sentAt = clock()
    outcome
      .onSuccessTask { committed ->
        when {
          // It had counted before; or no view is left that could show the increment.
          committed.countedBefore || !isWatched() -> Tasks.forResult<Timestamp>(null)
          committed.at != null -> Tasks.forResult(committed.at)
          else -> timestampOf(shardOf(committed.plan))
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
        if (once != null && ownByOnce[once] === own) ownByOnce.remove(once)
        showAll()
      }
  }

  /** The server's time of this client's last write on a shard that went through the queue. */
  private fun timestampOf(shard: DocumentReference): Task<Timestamp> =
    shard
      .get(Source.CACHE)
      .continueWithTask { cached -> if (cached.isSuccessful) cached else shard.get() }
      .onSuccessTask { Tasks.forResult(it.getTimestamp("at", ServerTimestampBehavior.PREVIOUS)) }
}
