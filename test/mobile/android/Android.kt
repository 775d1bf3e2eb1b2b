/* What Tally.kt uses of android.os: declarations of ours. What is posted runs when a scenario says so. */
package android.os

class Looper private constructor() {
  companion object {
    private val main = Looper()

    fun getMainLooper(): Looper = main
  }
}

class Handler(@Suppress("unused") private val looper: Looper) {
  fun postDelayed(runnable: Runnable, delayMillis: Long): Boolean = posted.add(delayMillis to runnable)

  companion object {
    private val posted = mutableListOf<Pair<Long, Runnable>>()

    /** Runs what was posted with a delay up to this one. */
    fun runPosted(delayMillis: Long) {
      val due = posted.filter { it.first <= delayMillis }
      posted.removeAll(due)
      due.forEach { it.second.run() }
    }
  }
}
