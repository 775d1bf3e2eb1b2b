/* What Tally.kt does with the answers of Firestore: a line for each scenario, `ok` or what was seen instead. */
import android.os.Looper
import com.google.android.gms.tasks.Task
import com.google.firebase.Timestamp
import com.google.firebase.firestore.Blob
import com.google.firebase.firestore.Fault
import com.google.firebase.firestore.FirebaseFirestore
import com.google.firebase.firestore.FirebaseFirestoreException
import kotlin.concurrent.thread
import kotlin.random.Random
import tally.TallyCounter
import tally.TallyException
import tally.TallySnapshot

private class World(private val id: String, document: Map<String, Any>? = mapOf("shardCount" to 4L), val firestore: FirebaseFirestore = FirebaseFirestore()) {
  val path = "counters/$id"
  val counter = TallyCounter.of(firestore, id)

  init {
    if (document != null) firestore.documents[path] = document
  }

  /** The counter's document is known, so that no call waits for a read. */
  fun cached(): World {
    // Not from the server, which has given no answer then.
    firestore.cache[path] = firestore.documents[path]
    firestore.loseServer()
    counter.get().settled()
    firestore.connect()
    return this
  }

  fun readByGet(): World {
    counter.get().settled()
    return this
  }

  fun fail(vararg faults: Fault?) {
    firestore.faults.addAll(faults)
  }

  fun shards() = firestore.documents.filterKeys { it.startsWith("$path/shards/") }

  /** What was counted in the counter document. */
  fun direct(): Long = (firestore.documents[path]?.get("direct") as? Map<*, *>)?.get("count") as Long? ?: 0

  fun sum(): Long = shards().values.sumOf { it["count"] as Long } + direct()

  fun writes() = shards().values.sumOf { it["writes"] as Long }

  fun liked(): Boolean = firestore.documents.containsKey("$path/tallyEntries/alice")

  fun otherDevice() = World(id, null, firestore.otherDevice())

  /** The same device after the end of the app. */
  fun restarted() = World(id, null, firestore.restarted())

  /** The end of all faults, and of all waits. */
  fun recover() {
    firestore.faults.removeIf { it == Fault.HANG }
    repeat(4) {
      firestore.connect()
      Looper.advance(20_000)
    }
  }

  /** Watches, then makes one acknowledged write, and one without an answer for over two seconds: with a read that has one, a sign of contention. */
  fun contend() {
    counter.watch {}
    counter.increment().settled()
    fail(Fault.HANG)
    counter.increment().settled()
    Thread.sleep(2_050)
  }
}

/** After all that is to be done now was done. */
private fun <T> T.settled(): T {
  Looper.runAll()
  return this
}

private fun codeOf(task: Task<*>): String? = (task.exception as? TallyException)?.code ?: task.exception?.toString()

private fun scenario(name: String, expected: Any, seen: Any?) {
  println(if (expected == seen) "ok\t$name" else "expected $expected, saw $seen\t$name")
}

/** An exception on the main thread ends the app. */
private fun group(name: String, scenarios: () -> Unit) {
  try {
    scenarios()
  } catch (error: Throwable) {
    println("$error, at ${error.stackTrace.firstOrNull { it.className.startsWith("tally.") }}\t$name: no exception")
    Looper.clear()
  }
}

fun main() {
  group("increments", ::increments)
  group("the read of the count", ::count)
  group("marks", ::marks)
  group("refusals and lost answers", ::refusals)
  group("contention", ::contention)
  group("likes", ::likes)
  group("watches", ::watches)
  group("the state of a like", ::states)
  group("batches and arguments", ::others)
  for (fault in listOf(Fault.LOSE_ANSWER, Fault.LOSE_LATE, Fault.LOSE_ABORTED, Fault.LOSE_DENIED))
    group("lost answers", { lostAnswers(fault) })
  group("many refusals", ::manyRefusals)
  group("fifty at once", ::fifty)
  group("in the counter document", ::direct)
  for (state in listOf("in shards", "not read before", "in the counter document")) group("quick taps", { taps(state) })
  group("repeated taps", ::repeatedTaps)
  group("likes while offline", ::likesOffline)
  group("other devices", ::otherDevices)
  group("the end of the app", ::restarts)
  group("totals with unsent writes", ::unsent)
  group("increments of the document", ::directly)
  group("repeated calls", ::repeated)
  group("what is shown of calls", ::shownOfCalls)
  group("taps in any order", ::tapsInAnyOrder)
  group("increments in any order", ::incrementsInAnyOrder)
  wrongTypes()
}

private fun increments() {
  val plain = World("views:a").cached()
  repeat(100) { plain.counter.increment() }
  Looper.runAll()
  scenario("100 increments count, over the known shards", listOf(100L, 100L, true), listOf(plain.sum(), plain.writes(), plain.shards().size in 2..4))

  val online = World("views:i").cached()
  online.counter.increment().settled()
  scenario("without an answer before, a write goes to the queue", listOf<Any>(0, 1L), listOf(online.firestore.transactions, online.sum()))
  online.fail(Fault.ABORT)
  val moved = online.counter.increment().settled()
  scenario("after one, into a transaction, and when it is refused into another", listOf(true, 2, 2L), listOf(moved.isSuccessful, online.firestore.transactions, online.sum()))
  online.fail(Fault.ABORT)
  online.counter.increment(1, "alice").settled()
  scenario("with `once`, it goes to the queue", listOf<Any>(2, 3L), listOf(online.firestore.transactions, online.sum()))
}

private fun count() {
  val fresh = FirebaseFirestore()
  fresh.readFault = Fault.HANG
  val first = TallyCounter.of(fresh, "views:n").increment()
  Looper.advance(7_999)
  scenario("the first read of the count: the write waits at 7,999 ms", listOf(false, 0), listOf(first.isComplete, fresh.documents.size))
  Looper.advance(1)
  scenario("the first read of the count: the write is sent at 8,000 ms", listOf(true, 1), listOf(first.isComplete, fresh.documents.size))

  val later = World("views:o").cached()
  later.firestore.documents.remove(later.path)
  later.counter.get().settled()
  Thread.sleep(1_050)
  later.firestore.readFault = Fault.HANG
  val second = later.counter.increment()
  Looper.advance(999)
  scenario("a later read of the count: the write waits at 999 ms", listOf(false, 0), listOf(second.isComplete, later.firestore.documents.size))
  Looper.advance(1)
  scenario("a later read of the count: the write is sent at 1,000 ms", listOf(true, 1L), listOf(second.isComplete, later.sum()))
}

private fun marks() {
  val marked = World("views:m", mapOf("shardCount" to 1L)).cached()
  val slots = listOf("0", "1", "2", "3", "4")
  fun mark() {
    val slot = mapOf("at" to Timestamp(0, 0), "nonces" to listOf(Blob.fromBytes(byteArrayOf(1, 2, 3, 4, 5))))
    marked.firestore.documents["${marked.path}/shards/0"] = mapOf("count" to 0L, "writes" to 0L, "marks" to slots.associateWith { slot })
  }
  /** The transactions of an increment, the sum and how many slots of marks are left. */
  fun increment(): List<Any> {
    val before = marked.firestore.transactions
    mark()
    marked.counter.increment().settled()
    val marks = marked.shards().getValue("${marked.path}/shards/0")["marks"] as Map<*, *>
    return listOf(marked.firestore.transactions - before, marked.sum(), marks.size)
  }
  scenario("a write in the queue removes no marks", listOf<Any>(0, 1L, 5), increment())
  scenario("one in a transaction removes those that have expired", listOf<Any>(1, 1L, 4), increment())
  marked.fail(Fault.DENY, Fault.DENY)
  scenario("refused with the removal and without, it does not count", listOf<Any>(2, 0L, 5), increment())
  scenario("which says nothing of the removal", listOf<Any>(1, 1L, 4), increment())
  marked.fail(Fault.DENY)
  scenario("refused with the removal alone, it counts without", listOf<Any>(2, 1L, 5), increment())
  scenario("and no later one removes any", listOf<Any>(1, 1L, 5), increment())
}

private fun refusals() {
  val cut = World("views:b").cached()
  cut.fail(Fault.LOSE_ANSWER)
  val replayed = cut.counter.increment().settled()
  scenario("a replay counts once, and the call succeeds", listOf(true, 1L), listOf(replayed.isSuccessful, cut.sum()))

  val denied = World("views:c").cached()
  denied.fail(Fault.DENY)
  val refused = denied.counter.increment(2).settled()
  scenario("what the rules refuse fails", listOf("counter/permission-denied", 0L), listOf(codeOf(refused), denied.sum()))
}

private fun contention() {
  val crowd = World("views:d").cached()
  crowd.contend()
  scenario("a watched counter that is not contended uses the queue", 0, crowd.firestore.transactions)
  crowd.fail(Fault.ABORT, Fault.ABORT)
  val retried = crowd.counter.increment().settled()
  scenario("contention is tried again on another shard", listOf(true, 2L, 3), listOf(retried.isSuccessful, crowd.sum(), crowd.firestore.transactions))
  crowd.firestore.release()
  Looper.runAll()
  scenario("and the write without an answer counts, too", 3L, crowd.sum())

  val offline = World("views:p").cached()
  offline.contend()
  offline.firestore.readFault = Fault.FAIL
  val kept = offline.counter.increment().settled()
  scenario("while no read succeeds, a write without an answer is no contention", listOf<Any>(false, 0), listOf(kept.isComplete, offline.firestore.transactions))
  offline.firestore.release()
  Looper.runAll()
  scenario("and the next waits for its answer in the queue", listOf(true, 3L), listOf(kept.isSuccessful, offline.sum()))

  val silent = World("views:e").cached()
  silent.contend()
  silent.fail(Fault.FAIL)
  val queued = silent.counter.increment().settled()
  scenario("what has no answer goes to the queue", listOf<Any>(false, 1, 1L), listOf(queued.isComplete, silent.firestore.transactions, silent.sum()))
  silent.fail(Fault.LOSE_ANSWER)
  val committed = silent.counter.increment().settled()
  scenario("so does what has lost its answer", listOf<Any>(false, 2, 2L), listOf(committed.isComplete, silent.firestore.transactions, silent.sum()))
  silent.firestore.release()
  Looper.runAll()
  scenario("and each counts once", listOf(true, true, 4L), listOf(queued.isSuccessful, committed.isSuccessful, silent.sum()))
}

private fun likes() {
  val likes = World("likes:f").cached()
  likes.counter.increment(1, "alice").settled()
  scenario("a like has an entry", listOf(true, 1L), listOf(likes.liked(), likes.sum()))
  likes.fail(Fault.DENY)
  val twice = likes.counter.increment(1, "alice").settled()
  scenario("a second like succeeds and does not count", listOf(true, 1L), listOf(twice.isSuccessful, likes.sum()))
  likes.counter.undo("alice").settled()
  scenario("an unlike takes it back, on its shard", listOf(0L, false, 1), listOf(likes.sum(), likes.liked(), likes.shards().size))
  val gone = likes.counter.undo("alice").settled()
  scenario("a second unlike succeeds", listOf(true, 0L), listOf(gone.isSuccessful, likes.sum()))
  val both = listOf(likes.counter.increment(1, "alice"), likes.counter.increment(1, "alice")).settled()
  scenario("two likes at once succeed and count once", listOf(true, true, 1L), both.map { it.isSuccessful } + likes.sum())
}

private fun watches() {
  val watched = World("views:g").cached()
  watched.firestore.publish(watched.path, mapOf("shardCount" to 4L))
  val seen = mutableListOf<TallySnapshot>()
  val watch = watched.counter.watch { seen.add(it) }
  Looper.runAll()
  watched.fail(Fault.HANG)
  watched.counter.increment().settled()
  scenario("a watch shows an increment at once", listOf(1L, true), listOf(seen.last().wholeTotal, seen.last().pending))
  watched.firestore.release()
  Looper.runAll()
  watched.firestore.publish(watched.path, mapOf("shardCount" to 4L))
  Looper.advance(15_000)
  scenario("and once after it is published", listOf(1L, false), listOf(seen.last().wholeTotal, seen.last().pending))
  watched.fail(Fault.DENY)
  watched.counter.increment(5).settled()
  scenario("a refused one goes again", 1L, seen.last().wholeTotal)
  watched.firestore.publish(watched.path)
  watch.remove()
  val before = seen.size
  watched.firestore.publish(watched.path)
  Looper.runAll()
  scenario("a watch that was removed is silent", before, seen.size)

  val hidden = World("views:20")
  hidden.firestore.readFault = Fault.DENY
  var error: FirebaseFirestoreException? = null
  hidden.counter.watch({ error = it }) {}
  val sent = hidden.counter.increment().settled()
  val counted = listOf(codeOf(sent), hidden.sum())
  scenario("who may not read the total may count, and a watch says why it ends", listOf(null, 1L, FirebaseFirestoreException.Code.PERMISSION_DENIED), counted + error?.code)

  val rotated = World("views:j").cached()
  rotated.firestore.publish(rotated.path, mapOf("shardCount" to 4L))
  val left = rotated.counter.watch {}
  Looper.runAll()
  rotated.fail(Fault.HANG)
  rotated.counter.increment().settled()
  left.remove()
  rotated.firestore.release()
  Looper.runAll()
  val totals = mutableListOf<Long>()
  rotated.counter.watch { totals.add(it.wholeTotal) }
  Looper.runAll()
  rotated.firestore.publish(rotated.path, mapOf("shardCount" to 4L))
  Looper.runAll()
  scenario("an increment acknowledged between two watches shows in the second", setOf(1L), totals.toSet())
}

private fun states() {
  val unreachable = World("likes:k").cached()
  unreachable.firestore.disconnect()
  val states = mutableListOf<Boolean>()
  unreachable.counter.onIncremented("alice") { states.add(it) }
  Looper.runAll()
  scenario("an empty cache does not say that an increment does not count", listOf<Boolean>(), states)
  unreachable.firestore.connect()
  Looper.runAll()
  unreachable.counter.increment(1, "alice").settled()
  scenario("the server does, and each change shows", listOf(false, true), states)

  val remembered = World("likes:l").cached()
  remembered.firestore.disconnect()
  remembered.firestore.cache["${remembered.path}/tallyEntries/alice"] = null
  val cachedStates = mutableListOf<Boolean>()
  val entryWatch = remembered.counter.onIncremented("alice") { cachedStates.add(it) }
  Looper.runAll()
  scenario("a cache that knows of no entry says that an increment does not count", listOf(false), cachedStates)
  entryWatch.remove()
  remembered.firestore.connect()
  remembered.counter.increment(1, "alice").settled()
  scenario("and a watch that was removed is silent", listOf(false), cachedStates)
}

private fun others() {
  val batched = World("comments:h").cached()
  val batch = batched.firestore.batch()
  batched.counter.incrementIn(batch)
  Looper.runAll()
  scenario("an increment in a batch waits for its commit", 0L, batched.sum())
  batch.commit().settled()
  scenario("and counts with it", 1L, batched.sum())

  val bad =
    listOf({ TallyCounter.of(batched.firestore, "a/b") }, { batched.counter.increment(0) }, { batched.counter.undo("") }).map {
      try {
        it()
        "accepted"
      } catch (error: TallyException) {
        error.code
      }
    }
  scenario("bad arguments are refused", listOf("counter/invalid-id", "counter/invalid-amount", "counter/invalid-once"), bad)

  var refusal: Throwable? = null
  thread { refusal = runCatching { batched.counter.increment() }.exceptionOrNull() }.join()
  scenario("a call from another thread is refused", true, refusal is IllegalStateException)
}

/** In a transaction, and in the queue, which serves a counter that is watched. */
private fun lostAnswers(fault: Fault) {
  for (isWatched in listOf(false, true)) {
    val lost = World("views:$fault:$isWatched").cached()
    if (isWatched) lost.counter.watch {}
    // The server has answered, so an unwatched counter uses transactions.
    lost.counter.increment().settled()
    val sent =
      listOf(listOf(fault), listOf(fault, Fault.ABORT), listOf(Fault.FAIL, fault)).map { faults ->
        lost.firestore.faults.addAll(faults)
        lost.counter.increment().settled().also { lost.firestore.faults.clear() }
      }
    val way = if (isWatched) "queue" else "transaction"
    scenario("$fault, $way: each increment counts once, and is acknowledged", listOf(null, null, null, 4L), sent.map { codeOf(it) } + lost.sum())
  }
}

private fun manyRefusals() {
  val denied = World("views:q").cached()
  denied.firestore.publish(denied.path, mapOf("shardCount" to 4L))
  val seen = mutableListOf<TallySnapshot>()
  denied.counter.watch { seen.add(it) }
  Looper.runAll()
  repeat(8) { denied.fail(Fault.DENY) }
  val refused = denied.counter.increment().settled()
  scenario("refused however often, an increment fails and no longer shows", listOf("counter/permission-denied", 0L, false), listOf(codeOf(refused), seen.last().wholeTotal, seen.last().pending))
  scenario("and did show before", true, seen.any { it.wholeTotal == 1L && it.pending })

  val crowd = World("views:r").cached()
  crowd.counter.increment().settled()
  repeat(5) { crowd.fail(Fault.ABORT) }
  val sent = crowd.counter.increment().settled()
  scenario("contended five times, it counts at the sixth", listOf(true, 2L, 6), listOf(sent.isSuccessful, crowd.sum(), crowd.firestore.transactions))
}

private fun fifty() {
  for (isWatched in listOf(false, true)) {
    val many = World("views:s:$isWatched")
    var last = 0L
    if (isWatched) many.counter.watch { last = it.wholeTotal }
    many.fail(Fault.ABORT, null, Fault.LOSE_ANSWER, Fault.ABORT, Fault.LOSE_ABORTED, Fault.FAIL, Fault.LOSE_DENIED)
    val sent = List(50) { many.counter.increment() }.settled()
    val way = if (isWatched) "watched" else "not watched"
    scenario("fifty at once, $way: each counts once, and is acknowledged", listOf<Any>(50, 50L), listOf(sent.count { it.isSuccessful }, many.sum()))
    if (isWatched) scenario("and all show", 50L, last)
  }
}

/** A counter without increments: eight increments fit into the document, those after it go to shards. */
private fun direct() {
  val new = World("views:5", null)
  val seen = mutableListOf<TallySnapshot>()
  val sent = new.counter.increment().settled()
  scenario("a new counter's first increment is in its document", listOf(true, 1L, 0, "views"), listOf(sent.isSuccessful, new.direct(), new.shards().size, new.firestore.documents.getValue(new.path)["group"]))
  new.counter.watch { seen.add(it) }
  Looper.runAll()
  new.fail(Fault.HANG)
  new.counter.increment().settled()
  scenario("a watch shows the next at once", listOf(2L, true), listOf(seen.last().wholeTotal, seen.last().pending))
  new.firestore.release()
  Looper.advance(15_000)
  scenario("and once when it is committed", listOf(2L, false, listOf(1L, 2L)), listOf(seen.last().wholeTotal, seen.last().pending, seen.map { it.wholeTotal }.distinct()))

  val full = World("views:6", null)
  val all = List(20) { full.counter.increment() }.settled()
  scenario("of 20 at once each counts once, in the document while it takes them", listOf(20, 20L, true), listOf(all.count { it.isSuccessful }, full.sum(), full.direct() in 1..8))

  val lost = World("views:7", null)
  lost.fail(Fault.LOSE_ANSWER, Fault.LOSE_DENIED)
  val cut = listOf(lost.counter.increment().settled(), lost.counter.increment().settled())
  scenario("with lost answers each counts once", listOf(null, null, 2L), cut.map { codeOf(it) } + lost.sum())

  val denied = World("views:8", null)
  repeat(8) { denied.fail(Fault.DENY) }
  scenario("what the rules refuse fails", "counter/permission-denied", codeOf(denied.counter.increment().settled()))
}

/** Without a wait between them: the last tap decides. */
private fun taps(state: String) {
  fun world(name: String): World {
    val world = World("likes:$name:$state", if (state == "in the counter document") null else mapOf("shardCount" to 4L))
    return if (state == "in shards") world.cached() else world
  }

  /** Whether each call succeeds, the sum, whether it is liked and what the button shows. */
  fun outcome(world: World, vararg taps: (TallyCounter) -> Task<Void>): List<Any?> {
    val states = mutableListOf<Boolean>()
    world.counter.onIncremented("alice") { states.add(it) }
    val made = taps.map { it(world.counter) }.settled()
    return listOf(made.all { it.isSuccessful }, world.sum(), world.liked(), states.lastOrNull())
  }
  val like = { counter: TallyCounter -> counter.increment(1, "alice") }
  val unlike = { counter: TallyCounter -> counter.undo("alice") }
  val liked = listOf(true, 1L, true, true)
  val notLiked = listOf(true, 0L, false, false)
  scenario("like, unlike, like: it is liked, $state", liked, outcome(world("t"), like, unlike, like))
  scenario("like, unlike: it is not, $state", notLiked, outcome(world("u"), like, unlike))
  scenario("liked, then unlike, like: it is, $state", liked, outcome(world("v").also { like(it.counter).settled() }, unlike, like))
  scenario("liked, then unlike, like, unlike: it is not, $state", notLiked, outcome(world("w").also { like(it.counter).settled() }, unlike, like, unlike))
  val slow = world("x").also { it.fail(Fault.LOSE_ANSWER, Fault.ABORT, Fault.LOSE_ANSWER) }
  scenario("like, unlike, like with lost answers: it is liked, $state", liked, outcome(slow, like, unlike, like))
}

/** A call that changes nothing is refused by the rules, and perhaps when a later one has been committed. */
private fun repeatedTaps() {
  fun successes(name: String, slow: String, vararg taps: String): List<Any> {
    val world = World("likes:$name:$slow", mapOf("shardCount" to 1L))
    world.counter.increment(1, "alice").settled()
    if (slow == "writes") world.fail(Fault.HANG)
    if (slow == "reads") world.firestore.readFault = Fault.HANG
    val made = taps.map { if (it == "like") world.counter.increment(1, "alice") else world.counter.undo("alice") }.settled()
    world.firestore.readFault = null
    world.recover()
    return made.map { codeOf(it) ?: "ok" } + listOf(world.sum(), world.liked())
  }
  for (slow in listOf("nothing", "writes", "reads")) {
    scenario("liked, then unlike, unlike, slow: $slow: both succeed", listOf("ok", "ok", 0L, false), successes("10", slow, "unlike", "unlike"))
    scenario("liked, then like, unlike, slow: $slow: both succeed", listOf("ok", "ok", 0L, false), successes("11", slow, "like", "unlike"))
    scenario("liked, then like, unlike, like, slow: $slow: all succeed", listOf("ok", "ok", "ok", 1L, true), successes("12", slow, "like", "unlike", "like"))
    scenario("liked, then like, unlike, unlike, like, slow: $slow: all succeed", listOf("ok", "ok", "ok", "ok", 1L, true), successes("14", slow, "like", "unlike", "unlike", "like"))
    scenario("liked, then like, unlike, like, unlike, like, slow: $slow: all succeed", List(5) { "ok" } + listOf(1L, true), successes("16", slow, "like", "unlike", "like", "unlike", "like"))
    scenario("liked, then unlike, unlike, like, slow: $slow: all succeed", listOf("ok", "ok", "ok", 1L, true), successes("13", slow, "unlike", "unlike", "like"))
  }
}

private fun likesOffline() {
  val away = World("likes:y").cached()
  away.firestore.disconnect()
  val states = mutableListOf<Boolean>()
  away.counter.onIncremented("alice") { states.add(it) }
  val like = away.counter.increment(1, "alice").settled()
  scenario("a like while offline shows, and waits", listOf(listOf(true), false), listOf(states.toList(), like.isComplete))
  val unlike = away.counter.undo("alice").settled()
  scenario("so does its undo", listOf(listOf(true, false), false), listOf(states.toList(), unlike.isComplete))
  away.firestore.connect()
  Looper.runAll()
  scenario("online, both are counted, in their order", listOf(true, true, 0L, 2L, false, false), listOf(like.isSuccessful, unlike.isSuccessful, away.sum(), away.writes(), away.liked(), states.last()))

  val quick = World("likes:z").cached()
  quick.firestore.disconnect()
  val taps = listOf(quick.counter.increment(1, "alice"), quick.counter.undo("alice"), quick.counter.increment(1, "alice")).settled()
  quick.firestore.connect()
  Looper.runAll()
  scenario("like, unlike, like while offline: online, it is liked", listOf(true, 1L, true), listOf(taps.all { it.isSuccessful }, quick.sum(), quick.liked()))

  val unknown = World("likes:0").cached()
  unknown.counter.increment(1, "alice").settled()
  unknown.firestore.cache.clear()
  unknown.firestore.disconnect()
  val lost = unknown.counter.undo("alice").settled()
  scenario("an undo while offline fails if the cache does not have the entry", FirebaseFirestoreException.Code.UNAVAILABLE, (lost.exception as? FirebaseFirestoreException)?.code)
}

private fun otherDevices() {
  val here = World("likes:14")
  val there = here.otherDevice()
  here.counter.increment(1, "alice").settled()
  val undone = there.counter.undo("alice").settled()
  scenario("a like of another device is undone", listOf(true, 0L, false), listOf(undone.isSuccessful, here.sum(), here.liked()))
  val gone = here.counter.undo("alice").settled()
  scenario("what another device has undone is undone", listOf(true, 0L, false), listOf(gone.isSuccessful, here.sum(), here.liked()))
  val renewed = here.counter.increment(1, "alice").settled()
  here.otherDevice().counter.undo("alice").settled()
  here.counter.increment(1, "alice").settled()
  scenario("a like that another device has undone is made anew", listOf(true, 1L, true), listOf(renewed.isSuccessful, here.sum(), here.liked()))
  here.counter.undo("alice").settled()
  there.counter.increment(1, "alice").settled()
  here.firestore.readFault = Fault.HANG
  here.firestore.cache["${here.path}/tallyEntries/alice"] = null
  val lookup = here.counter.undo("alice").settled()
  val like = here.counter.increment(1, "alice").settled()
  here.firestore.readFault = null
  here.recover()
  scenario("while an undo asks the server, a like does not wait, and stays", listOf(true, true, 1L, true), listOf(lookup.isSuccessful, like.isSuccessful, here.sum(), here.liked()))
  here.firestore.cache["${here.path}/tallyEntries/alice"] = null
  val again = here.counter.undo("alice").settled()
  scenario("a like of which the cache does not know is undone", listOf(true, 0L, false), listOf(again.isSuccessful, here.sum(), here.liked()))
}

/** What is in the queue is on disk. After the end of the app, nothing else sends an increment. */
private fun restarts() {
  for (name in listOf("likes:15", "views:15")) {
    val offline = World(name, null)
    offline.firestore.readFault = Fault.HANG
    offline.firestore.disconnect()
    if (name.startsWith("likes")) offline.counter.increment(1, "alice").settled() else offline.counter.increment().settled()
    val next = offline.restarted()
    next.recover()
    scenario("an increment of a device without network is at once in the queue, for a shard: $name", listOf<Any>(1L, 0L), listOf(next.sum(), next.direct()))
  }

  val calm = World("views:22", null).readByGet()
  calm.firestore.disconnect()
  calm.counter.increment().settled()
  calm.recover()
  scenario("so it is if the document would take it, which may be full later", listOf<Any>(1L, 0L), listOf(calm.sum(), calm.direct()))

  val silent = World("views:16")
  silent.firestore.loseServer()
  silent.counter.increment()
  Looper.advance(8_000)
  val later = silent.restarted()
  later.recover()
  scenario("without an answer of the server it is after eight seconds", 1L, later.sum())

  val liked = World("likes:17").cached()
  liked.firestore.disconnect()
  liked.counter.increment(1, "alice").settled()
  val new = liked.restarted()
  val unlike = new.counter.undo("alice").settled()
  new.recover()
  scenario("a like from before the restart is undone", listOf(true, 0L, false, 2L), listOf(unlike.isSuccessful, new.sum(), new.liked(), new.writes()))
}

/** The SDK adds unsent writes to the total as it was when they were made. */
private fun unsent() {
  val shown = mutableListOf<Long>()
  fun watched(name: String): World {
    val world = World(name, null)
    shown.clear()
    world.counter.increment().settled()
    world.counter.watch { shown.add(it.wholeTotal) }
    Looper.runAll()
    return world
  }
  val published = watched("views:18")
  published.fail(Fault.HANG)
  published.counter.increment().settled()
  // So long that the next one goes to a shard.
  Thread.sleep(2_050)
  published.counter.increment().settled()
  published.firestore.publish(published.path)
  Looper.runAll()
  published.recover()
  scenario("a publish while an increment is unsent: the total does not dip", listOf(3L, shown.sorted()), listOf(shown.last(), shown.toList()))

  val part = World("views:23", null)
  repeat(3) { part.otherDevice().counter.increment().settled() }
  part.counter.increment()
  part.fail(Fault.HANG)
  Looper.runAll()
  shown.clear()
  part.counter.watch { shown.add(it.wholeTotal) }
  Looper.runAll()
  part.recover()
  scenario("a watch that begins while an increment is unsent shows no part of the total", listOf<Any>(4L, setOf(4L)), listOf(part.sum(), shown.toSet()))

  val full = watched("views:19")
  val other = full.otherDevice()
  repeat(3) { other.counter.increment().settled() }
  repeat(2) { full.counter.increment() }
  full.recover()
  full.firestore.publish(full.path)
  Looper.runAll()
  scenario("others fill the document: a refused increment shows once", listOf(6L, shown.sorted()), listOf(full.sum(), shown.toList()))
}

/** Increments of the counter document: how many the document takes, and what a client knows. */
private fun directly() {
  val known = World("views:24", null)
  repeat(3) { known.otherDevice().counter.increment().settled() }
  known.readByGet()
  repeat(2) { known.counter.increment() }
  Looper.runAll()
  scenario("of two at once, the document takes the one that it has room for", listOf<Any>(4L, 1, 0), listOf(known.direct(), known.shards().size, known.firestore.refusals))

  val rush = World("views:25", null)
  repeat(8) { rush.otherDevice().counter.increment().settled() }
  repeat(20) { rush.counter.increment().settled() }
  scenario("a rush that no function has seen brings shards", true, rush.shards().size > 5)

  val read = World("views:26", null)
  repeat(3) { read.otherDevice().counter.increment().settled() }
  read.fail(Fault.HANG)
  read.counter.increment().settled()
  val got = read.counter.get().settled()
  read.recover()
  scenario("get beside an unsent increment has the server's total", 3L, got.result.wholeTotal)

  val cached = World("views:32", null)
  cached.otherDevice().counter.increment().settled()
  cached.cached().counter.increment().settled()
  scenario("what the cache alone knows may be full by now: an increment goes to a shard", 1, cached.shards().size)

  val ended = World("likes:34").readByGet()
  var total = -1L
  ended.counter.watch { total = it.wholeTotal }
  Looper.runAll()
  ended.firestore.isTerminated = true
  val after = listOf(ended.counter.increment(), ended.counter.increment(1, "alice")).settled()
  scenario("after terminate, calls fail, and nothing of them shows", listOf<Any>(0, 0L), listOf(after.count { it.isSuccessful || !it.isComplete }, total))

  val signedOut = World("likes:35")
  signedOut.fail(Fault.DENY)
  signedOut.firestore.readFault = Fault.UNAUTHENTICATED
  val unknown = signedOut.counter.increment(1, "alice").settled()
  scenario("a look-up without a valid sign-in ends", "counter/unauthenticated", codeOf(unknown))

  val online = World("views:27").readByGet()
  online.firestore.disconnect()
  online.counter.increment().settled()
  scenario("without a network, nothing goes into a transaction", 0, online.firestore.transactions)
  online.recover()
}

/** Calls that repeat the one before, which has no outcome yet. */
private fun repeated() {
  val world = World("likes:33").readByGet()
  repeat(3) { world.counter.increment(1, "alice") }
  Looper.runAll()
  repeat(3) { world.counter.undo("alice") }
  Looper.runAll()
  scenario("three likes at once, and three unlikes, make one write each", listOf<Any>(2L, 0, 0L), listOf(world.writes(), world.firestore.refusals, world.sum()))
}

/** What the heart and the total show of calls that wait. */
private fun shownOfCalls() {
  val slow = World("likes:28", null)
  val hearts = mutableListOf<Boolean>()
  slow.counter.onIncremented("alice") { hearts.add(it) }
  Looper.runAll()
  slow.firestore.readFault = Fault.HANG
  slow.counter.increment(1, "alice").settled()
  scenario("a like shows at once, also before its counter is read", listOf(false, true), hearts.toList())
  slow.firestore.readFault = null
  slow.recover()

  val refused = World("likes:29", null)
  repeat(3) { refused.otherDevice().counter.increment(1, "bob$it").settled() }
  refused.readByGet()
  refused.otherDevice().counter.increment(1, "carol").settled()
  hearts.clear()
  refused.counter.onIncremented("alice") { hearts.add(it) }
  Looper.runAll()
  refused.counter.increment(1, "alice").settled()
  scenario("a like that is refused and made again shows all the time", listOf<Any>(1, 5L, listOf(false, true)), listOf(refused.firestore.refusals, refused.sum(), hearts.toList()))

  val shared = World("likes:30").cached()
  hearts.clear()
  shared.counter.onIncremented("alice") { hearts.add(it) }
  Looper.runAll()
  shared.fail(Fault.HANG)
  shared.counter.increment(1, "alice").settled()
  shared.firestore.signOut()
  Looper.runAll()
  scenario("after a sign-out, the heart is that of the next user", listOf(false, true, false), hearts.toList())

  val queued = World("likes:31", mapOf("total" to 10L, "asOf" to Timestamp(1, 0), "shardCount" to 4L)).cached()
  queued.firestore.disconnect()
  queued.counter.increment(1, "alice").settled()
  var total = 0L
  queued.counter.watch { total = it.wholeTotal }
  Looper.runAll()
  queued.counter.undo("alice").settled()
  scenario("the undo of a like that the total does not have yet leaves the total", 10L, total)
  queued.recover()
}

private val RETRIED = Fault.values().filter { it != Fault.DENY && it != Fault.UNAUTHENTICATED } + listOf(null, null)

/** Acts 1 to 14 times: a call, a fault, some time, or a connection that is cut or comes back. */
private fun act(world: World, random: Random, done: MutableList<String>, call: () -> Unit) {
  repeat(random.nextInt(1, 15)) {
    when (random.nextInt(6)) {
      0 -> world.fail(RETRIED.random(random).also { done.add("$it") })
      1 -> Looper.advance(listOf(0L, 0L, 1L, 900L, 8_000L).random(random).also { done.add("$it ms") })
      2 ->
        when (random.nextInt(4).also { done.add(listOf("offline", "no server", "online", "released")[it]) }) {
          0 -> world.firestore.disconnect()
          1 -> world.firestore.loseServer()
          2 -> world.firestore.connect()
          else -> world.firestore.release()
        }
      else -> call()
    }
  }
  world.recover()
}

private fun tapsInAnyOrder() {
  val wrong =
    (1..400).mapNotNull { seed ->
      val random = Random(seed)
      val world = World("likes:any:$seed", if (seed % 2 == 0) null else mapOf("shardCount" to 4L))
      val done = mutableListOf<String>()
      val states = mutableListOf(false)
      val taps = mutableListOf<Task<Void>>()
      world.counter.onIncremented("alice") { states.add(it) }
      var last = false
      act(world, random, done) {
        val isLike = random.nextBoolean()
        done.add(if (isLike) "like" else "unlike")
        taps.add(if (isLike) world.counter.increment(1, "alice") else world.counter.undo("alice"))
        last = isLike
      }
      val failed = taps.filter { !it.isSuccessful && codeOf(it)?.contains("UNAVAILABLE") != true }.map { codeOf(it) }
      val seen = listOf(failed, world.sum(), world.liked(), states.last())
      val isUndone = taps.lastOrNull()?.isSuccessful != false
      if (!isUndone || seen == listOf(listOf<String>(), if (last) 1L else 0L, last, last)) null else "$seed: $seen after $done"
    }
  scenario("taps and faults in any order: the last tap decides, and calls succeed", listOf<String>(), wrong.take(2))
}

private fun incrementsInAnyOrder() {
  val wrong =
    (1..400).mapNotNull { seed ->
      val random = Random(seed)
      val world = World("views:any:$seed", if (seed % 2 == 0) null else mapOf("shardCount" to 4L))
      val other = world.otherDevice()
      val done = mutableListOf<String>()
      val sent = mutableListOf<Task<Void>>()
      val shown = mutableListOf<Long>()
      if (seed % 3 > 0) world.counter.watch { shown.add(it.wholeTotal) }
      var others = 0
      act(world, random, done) {
        when (random.nextInt(6)) {
          0 -> repeat(3) { other.counter.increment().settled().also { others++ } }.also { done.add("others") }
          1 -> if (world.firestore.documents.containsKey(world.path)) world.firestore.publish(world.path, mapOf("shardCount" to 4L)).also { done.add("published") }
          else -> sent.add(world.counter.increment()).also { done.add("increment") }
        }
      }
      world.firestore.publish(world.path, mapOf("shardCount" to 4L))
      Looper.runAll()
      val seen = listOf(sent.count { !it.isSuccessful }, world.sum(), shown.lastOrNull() ?: world.sum(), shown.sorted())
      val sum = sent.size.toLong() + others
      if (seen == listOf(0, sum, sum, shown.toList())) null else "$seed: $seen of $sum, $shown after $done"
    }
  scenario("increments and faults in any order: each counts once, and the total never falls", listOf<String>(), wrong.take(2))
}

/** What only a server or another client can have written counts as absent. */
private fun wrongTypes() {
  val document = mapOf("total" to "many", "asOf" to 5L, "growing" to 1L, "shardCount" to "4", "rate" to "fast", "direct" to "open")
  group("wrong types, get") {
    val read = World("views:1", document).counter.get().settled()
    scenario("wrong types in the counter document: `get` takes them as absent", TallySnapshot(0.0, null, false, false, 0.0), if (read.isSuccessful) read.result else read.exception)
  }
  group("wrong types, increment") {
    val written = World("views:2", document)
    val sent = written.counter.increment().settled()
    scenario("wrong types in the counter document: an increment counts", listOf(true, 1L), listOf(sent.isSuccessful, written.sum()))
  }
  group("wrong types, watch") {
    val watched = World("views:3", document)
    val seen = mutableListOf<TallySnapshot>()
    watched.counter.watch { seen.add(it) }
    Looper.runAll()
    scenario("wrong types in the counter document: a watch takes them as absent", TallySnapshot(0.0, null, false, false, 0.0), seen.lastOrNull())
    watched.counter.increment().settled()
    scenario("and shows an increment", listOf(1L, 1L), listOf(seen.lastOrNull()?.wholeTotal, watched.sum()))
  }
  group("wrong types, entry") {
    val entry = World("likes:4").cached()
    entry.firestore.documents["${entry.path}/tallyEntries/alice"] = mapOf("once" to 7L, "by" to "1", "shard" to 3L, "at" to "now")
    val like = entry.counter.increment(1, "alice").settled()
    scenario("wrong types in an entry: a like is refused", "counter/permission-denied", codeOf(like))
    val unlike = entry.counter.undo("alice").settled()
    val isAnswered = unlike.isSuccessful || unlike.exception is TallyException
    scenario("and an undo changes no sum", listOf(true, 0L), listOf(isAnswered, entry.sum()))
  }
}
