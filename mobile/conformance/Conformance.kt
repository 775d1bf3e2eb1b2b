/*
 * Answers each line of standard input with one line: what the planner of Tally.kt does with it. mobile/conformance/run.ts
 * makes the lines from docs/vectors.json and compares the answers. Conformance.swift and conformance.dart do the same.
 */
import java.io.PrintStream
import tally.TallyOwnIncrement
import tally.TallyPlan
import tally.TallyPlanner
import tally.TallySentWrite
import tally.TallyShardCount
import tally.TallyTotal
import tally.TallyValue
import tally.TallyWrite

fun main() {
  val output = PrintStream(System.out, true, "UTF-8")
  val conformance = Conformance()
  System.`in`.bufferedReader(Charsets.UTF_8).forEachLine { output.println(conformance.answer(it.split("\t"))) }
}

class Conformance {
  private var now = 0L
  private var shardCount = TallyShardCount { now }
  private val sent = mutableListOf<TallySentWrite>()
  private var total = TallyTotal()
  private var own = mutableListOf<TallyOwnIncrement>()

  fun answer(words: List<String>): String =
    when (words[0]) {
      "name" -> TallyPlanner.isValidName(numbers(words[1])).toString()
      "plan" -> plan(words)
      "direct" -> direct(words)
      "target" -> target(words)
      "refusal" ->
        TallyPlanner.judgeRefusal(words[1] == "true", words[2] == "true", words[3].toLongOrNull(), words[4].toLong(), words[5] == "true")
      "shardCount" -> shardCount(words)
      "total" -> total(words)
      else -> "unknown: ${words[0]}"
    }

  /** call, counter, shard or shards to choose from, amount, once, time, random numbers, whether it removes marks */
  private fun plan(words: List<String>): String {
    val numbers = words[7].split(" ").map { it.toDouble() }.iterator()
    val random = { numbers.next() }
    val isUndo = words[1] == "undo"
    val shard = if (isUndo) words[3] else TallyPlanner.randomShard(words[3].toDouble(), random)
    val by = if (isUndo) -words[4].toLong() else words[4].toLong()
    val once = if (words[5] == "") null else words[5]
    val plan = TallyPlanner.planIncrement(words[2], shard, by, words[6].toLong(), random, once, isUndo)
    return TallyPlanner.writes(plan, words[8] == "true").joinToString("\t") { written(it) }
  }

  /** call, counter, generation, whether it creates the document, its group then, amount, once, random numbers */
  private fun direct(words: List<String>): String {
    val numbers = words[8].split(" ").map { it.toDouble() }.iterator()
    val isUndo = words[1] == "undo"
    val by = if (isUndo) -words[6].toLong() else words[6].toLong()
    val group = if (words[4] == "true") words[5] else null
    val once = if (words[7] == "") null else words[7]
    val plan = TallyPlanner.planDirect(words[2], words[3].toLong(), group, by, { numbers.next() }, once, isUndo)
    return TallyPlanner.writes(plan, false).joinToString("\t") { written(it) }
  }

  /** whether it is open, the generation, its marks, the milliseconds since the one before */
  private fun target(words: List<String>): String {
    val target = TallyPlanner.directTarget(words[1] == "true", words[2].toLong(), words[3].toLong(), words[4].toLong())
    return "${target.generation ?: "shard"} ${target.room} ${target.shards}"
  }

  private fun numbers(text: String): List<Int> = text.split(" ").mapNotNull { it.toIntOrNull() }

  private fun written(write: TallyWrite): String {
    val fields = write.fields
    val kind = if (fields == null) "delete" else if (write.merge) "merge" else "create"
    return "$kind ${write.path}" + leaves("", fields ?: mapOf()).sorted().joinToString("") { " $it" }
  }

  private fun leaves(prefix: String, fields: Map<String, TallyValue>): List<String> =
    fields.flatMap { (name, value) ->
      when (value) {
        is TallyValue.Text -> listOf("$prefix$name=text:${value.text}")
        is TallyValue.Whole -> listOf("$prefix$name=whole:${value.number}")
        is TallyValue.Flag -> listOf("$prefix$name=flag:${value.isTrue}")
        is TallyValue.Increment -> listOf("$prefix$name=increment:${value.by}")
        is TallyValue.ServerTime -> listOf("$prefix$name=serverTime")
        is TallyValue.Append -> listOf("$prefix$name=append:${value.bytes.joinToString(",")}")
        is TallyValue.Fields -> leaves("$prefix$name.", value.fields)
        is TallyValue.Delete -> listOf("$prefix$name=delete")
      }
    }

  /** what, time; for an update the shard count, whether it grows, how long the read took; for an answer whether it is a refusal */
  private fun shardCount(words: List<String>): String {
    if (words[1] == "begin") {
      shardCount = TallyShardCount { now }
      sent.clear()
    } else {
      now = words[2].toLong()
      when (words[1]) {
        "update" -> shardCount.update(words[3].toDoubleOrNull(), words[4] == "true", words[5].toLongOrNull())
        "sent" -> sent.add(shardCount.writeSent())
        "answered" -> shardCount.writeAnswered(sent[words[4].toInt()], words[3] == "true")
        "countTimeout" -> return "${shardCount.countTimeout()}"
      }
    }
    return "${shardCount.shardsToChooseFrom()} ${shardCount.isStale(false)} ${shardCount.isContended()}"
  }

  /**
   * what, and its numbers: an amount; an increment, its time and the round trip; an increment; an increment and whether it is direct; a total, its
   * time, its source, the increments whose marks it has, and those whose marks may be gone
   */
  private fun total(words: List<String>): String {
    when (words[1]) {
      "begin" -> {
        total = TallyTotal()
        own = mutableListOf()
      }
      "made" -> own.add(total.incrementMade(words[2].toLong()))
      "committed" ->
        total.incrementCommitted(own[words[2].toInt()], TallyPlanner.latestCommit(instant(words[3]), words[4].toLong()))
      "refused" -> total.incrementRefused(own[words[2].toInt()])
      "planned" -> total.incrementPlanned(own[words[2].toInt()], planOf(words[2].toInt(), words[3] == "true"))
      "read" ->
        total.totalRead(words[2].toDouble(), instant(words[3]), words[4] == "true") { plan ->
          if (plan.nonce[0] in numbers(words[6])) null else plan.nonce[0] in numbers(words[5])
        }
    }
    return "${total.total()} ${total.isPending()}"
  }

  /** The plan of an increment, whose nonce is its number. */
  private fun planOf(which: Int, isDirect: Boolean): TallyPlan =
    if (isDirect) TallyPlanner.planDirect("c/x", 0, null, 1, { which / 256.0 }, null, false)
    else TallyPlanner.planIncrement("c/x", "0", 1, 0, { which / 256.0 }, null, false)

  /** Microseconds, by way of a timestamp's seconds and nanoseconds. */
  private fun instant(word: String): Long {
    val micros = word.toLong()
    return TallyPlanner.micros(micros / 1_000_000, micros % 1_000_000 * 1_000 + 999)
  }
}
