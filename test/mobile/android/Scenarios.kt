/* What Tally.kt does with the answers of Firestore: a line for each scenario, `ok` or what was seen instead. */
import android.os.Handler
import com.google.firebase.Timestamp
import com.google.firebase.firestore.Blob
import com.google.firebase.firestore.Fault
import com.google.firebase.firestore.FirebaseFirestore
import tally.TallyCounter
import tally.TallyException
import tally.TallySnapshot

private var sequence = 0

private class World(id: String, vararg faults: Fault) {
  val firestore = FirebaseFirestore()
  val path = "counters/$id"
  val counter = TallyCounter.of(firestore, id)

  init {
    firestore.documents[path] = mapOf("shardCount" to 4L)
    // The counter's shard count is known, so that no fault hits its read.
    counter.get()
    firestore.faults.addAll(faults)
  }

  fun shards() = firestore.documents.filterKeys { it.startsWith("$path/shards/") }

  fun sum() = shards().values.map { it["count"] as Long }.sum()

  fun writes() = shards().values.map { it["writes"] as Long }.sum()

  /** A watched counter, one acknowledged write, and one without an answer for over two seconds: if a read has one, a sign of contention. */
  fun contend() {
    counter.watch {}
    counter.increment()
    firestore.faults.add(Fault.HANG)
    counter.increment()
    Thread.sleep(2_050)
  }
}

private fun scenario(name: String, expected: Any, seen: Any) {
  println(if (expected == seen) "ok\t$name" else "expected $expected, saw $seen\t$name")
}

fun main() {
  val plain = World("views:a")
  repeat(100) { plain.counter.increment() }
  scenario("100 increments count, over the known shards", listOf(100L, 100L, true), listOf(plain.sum(), plain.writes(), plain.shards().size in 2..4))

  val online = World("views:i")
  online.counter.increment()
  scenario("without an answer before, a write goes to the queue", listOf<Any>(0, 1L), listOf(online.firestore.transactions, online.sum()))
  online.firestore.faults.add(Fault.ABORT)
  val moved = online.counter.increment()
  scenario("after one, into a transaction, and when it is refused into another", listOf(true, 2, 2L), listOf(moved.isSuccessful, online.firestore.transactions, online.sum()))
  online.firestore.faults.add(Fault.ABORT)
  online.counter.increment(1, "alice")
  scenario("with `once`, it goes to the queue", listOf<Any>(2, 3L), listOf(online.firestore.transactions, online.sum()))

  val fresh = FirebaseFirestore()
  fresh.readFault = Fault.HANG
  val first = TallyCounter.of(fresh, "views:n").increment()
  Handler.runPosted(7_999)
  scenario("the first read of the count: the write waits at 7,999 ms", listOf(false, 0), listOf(first.isComplete, fresh.documents.size))
  Handler.runPosted(8_000)
  scenario("the first read of the count: the write is sent at 8,000 ms", listOf(true, 1), listOf(first.isComplete, fresh.documents.size))

  val later = World("views:o")
  later.firestore.documents.remove(later.path)
  later.counter.get()
  Thread.sleep(1_050)
  later.firestore.readFault = Fault.HANG
  val second = later.counter.increment()
  Handler.runPosted(999)
  scenario("a later read of the count: the write waits at 999 ms", listOf(false, 0), listOf(second.isComplete, later.firestore.documents.size))
  Handler.runPosted(1_000)
  scenario("a later read of the count: the write is sent at 1,000 ms", listOf(true, 1L), listOf(second.isComplete, later.sum()))

  val marked = World("views:m")
  val slots = listOf("0", "1", "2", "3", "4")
  fun mark() {
    val slot = mapOf("at" to Timestamp(0, 0), "nonces" to listOf(Blob.fromBytes(byteArrayOf(1, 2, 3, 4, 5))))
    marked.firestore.documents["${marked.path}/shards/0"] = mapOf("count" to 0L, "writes" to 0L, "marks" to slots.associateWith { slot })
  }
  /** The transactions of an increment, the sum and how many slots of marks are left. */
  fun increment(): List<Any> {
    val before = marked.firestore.transactions
    mark()
    marked.counter.increment()
    val marks = marked.shards().getValue("${marked.path}/shards/0")["marks"] as Map<*, *>
    return listOf(marked.firestore.transactions - before, marked.sum(), marks.size)
  }
  marked.firestore.documents[marked.path] = mapOf("shardCount" to 1L)
  marked.counter.get()
  scenario("a write in the queue removes no marks", listOf<Any>(0, 1L, 5), increment())
  scenario("one in a transaction removes those that have expired", listOf<Any>(1, 1L, 4), increment())
  marked.firestore.faults.addAll(listOf(Fault.DENY, Fault.DENY))
  scenario("refused with the removal and without, it does not count", listOf<Any>(2, 0L, 5), increment())
  scenario("which says nothing of the removal", listOf<Any>(1, 1L, 4), increment())
  marked.firestore.faults.add(Fault.DENY)
  scenario("refused with the removal alone, it counts without", listOf<Any>(2, 1L, 5), increment())
  scenario("and no later one removes any", listOf<Any>(1, 1L, 5), increment())

  val cut = World("views:b", Fault.LOSE_ANSWER)
  val replayed = cut.counter.increment()
  scenario("a replay counts once, and the call succeeds", listOf(true, 1L), listOf(replayed.isSuccessful, cut.sum()))

  val denied = World("views:c", Fault.DENY)
  val refused = denied.counter.increment(2)
  scenario("what the rules refuse fails", listOf("counter/permission-denied", 0L), listOf((refused.exception as? TallyException)?.code, denied.sum()))

  val crowd = World("views:d")
  crowd.contend()
  scenario("a watched counter that is not contended uses the queue", 0, crowd.firestore.transactions)
  crowd.firestore.faults.addAll(listOf(Fault.ABORT, Fault.ABORT))
  val retried = crowd.counter.increment()
  scenario("contention is tried again on another shard", listOf(true, 2L, 3), listOf(retried.isSuccessful, crowd.sum(), crowd.firestore.transactions))
  crowd.firestore.release()
  scenario("and the write without an answer counts, too", 3L, crowd.sum())

  val offline = World("views:p")
  offline.contend()
  offline.firestore.readFault = Fault.FAIL
  val kept = offline.counter.increment()
  scenario("while no read succeeds, a write without an answer is no contention", listOf(true, 0, 2L), listOf(kept.isSuccessful, offline.firestore.transactions, offline.sum()))

  val silent = World("views:e")
  silent.contend()
  silent.firestore.faults.add(Fault.FAIL)
  val queued = silent.counter.increment()
  scenario("what has no answer goes to the queue", listOf(true, 2L), listOf(queued.isSuccessful, silent.sum()))
  silent.firestore.faults.add(Fault.LOSE_ANSWER)
  silent.counter.increment()
  scenario("and counts once if the transaction was committed", 3L, silent.sum())

  val likes = World("likes:f")
  likes.counter.increment(1, "alice")
  val again = likes.counter.getIncremented("alice").result
  scenario("a like has an entry", listOf(true, 1L), listOf(again, likes.sum()))
  likes.firestore.faults.add(Fault.DENY)
  val twice = likes.counter.increment(1, "alice")
  scenario("a second like succeeds and does not count", listOf(true, 1L), listOf(twice.isSuccessful, likes.sum()))
  likes.counter.undo("alice")
  scenario("an unlike takes it back, on its shard", listOf(0L, false, 1), listOf(likes.sum(), likes.counter.getIncremented("alice").result, likes.shards().size))
  scenario("a second unlike succeeds", listOf(true, 0L), listOf(likes.counter.undo("alice").isSuccessful, likes.sum()))

  val watched = World("views:g")
  watched.firestore.publish(watched.path, mapOf("shardCount" to 4L))
  val seen = mutableListOf<TallySnapshot>()
  val watch = watched.counter.watch { seen.add(it) }
  watched.firestore.faults.add(Fault.HANG)
  watched.counter.increment()
  scenario("a watch shows an increment at once", listOf(1L, true), listOf(seen.last().wholeTotal, seen.last().pending))
  watched.firestore.release()
  watched.firestore.publish(watched.path, mapOf("shardCount" to 4L))
  Handler.runPosted(15_000)
  scenario("and once after it is published", listOf(1L, false), listOf(seen.last().wholeTotal, seen.last().pending))
  watched.firestore.faults.add(Fault.DENY)
  watched.counter.increment(5)
  scenario("a refused one goes again", 1L, seen.last().wholeTotal)
  watch.remove()
  val before = seen.size
  watched.firestore.publish(watched.path)
  scenario("a watch that was removed is silent", before, seen.size)

  val rotated = World("views:j")
  rotated.firestore.publish(rotated.path, mapOf("shardCount" to 4L))
  val left = rotated.counter.watch {}
  rotated.firestore.faults.add(Fault.HANG)
  rotated.counter.increment()
  left.remove()
  rotated.firestore.release()
  val totals = mutableListOf<Long>()
  rotated.counter.watch { totals.add(it.wholeTotal) }
  rotated.firestore.publish(rotated.path, mapOf("shardCount" to 4L))
  scenario("an increment acknowledged between two watches shows in the second", listOf(1L, 1L), totals)

  val unreachable = World("likes:k")
  unreachable.firestore.isOffline = true
  val states = mutableListOf<Boolean>()
  unreachable.counter.onIncremented("alice") { states.add(it) }
  scenario("an empty cache does not say that an increment does not count", listOf<Boolean>(), states)
  unreachable.firestore.connect()
  unreachable.counter.increment(1, "alice")
  scenario("the server does, and each change shows", listOf(false, true), states)

  val remembered = World("likes:l")
  remembered.firestore.isOffline = true
  remembered.firestore.cached.add("${remembered.path}/tallyEntries/alice")
  val cachedStates = mutableListOf<Boolean>()
  val entryWatch = remembered.counter.onIncremented("alice") { cachedStates.add(it) }
  scenario("a cache that knows of no entry says that an increment does not count", listOf(false), cachedStates)
  entryWatch.remove()
  remembered.firestore.connect()
  remembered.counter.increment(1, "alice")
  scenario("and a watch that was removed is silent", listOf(false), cachedStates)

  val batched = World("comments:h")
  val batch = batched.firestore.batch()
  batched.counter.incrementIn(batch)
  scenario("an increment in a batch waits for its commit", 0L, batched.sum())
  batch.commit()
  scenario("and counts with it", 1L, batched.sum())

  val bad =
    listOf({ TallyCounter.of(plain.firestore, "a/b") }, { plain.counter.increment(0) }, { plain.counter.undo("") }).map {
      try {
        it()
        "accepted"
      } catch (error: TallyException) {
        error.code
      }
    }
  scenario("bad arguments are refused", listOf("counter/invalid-id", "counter/invalid-amount", "counter/invalid-once"), bad)
}
