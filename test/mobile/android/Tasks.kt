/* What Tally.kt uses of com.google.android.gms.tasks and of android.os: declarations of ours, with one thread and no loop. */
package com.google.android.gms.tasks

fun interface Continuation<TResult, TContinued> {
  fun then(task: Task<TResult>): TContinued
}

fun interface SuccessContinuation<TResult, TContinued> {
  fun then(result: TResult): Task<TContinued>
}

fun interface OnSuccessListener<TResult> {
  fun onSuccess(result: TResult)
}

fun interface OnCompleteListener<TResult> {
  fun onComplete(task: Task<TResult>)
}

class Task<TResult> internal constructor() {
  private val listeners = mutableListOf<OnCompleteListener<TResult>>()
  private var value: TResult? = null
  var isComplete = false
    private set

  var exception: Exception? = null
    private set

  val isSuccessful: Boolean
    get() = isComplete && exception == null

  @Suppress("UNCHECKED_CAST")
  val result: TResult
    get() = exception?.let { throw RuntimeException(it) } ?: value as TResult

  internal fun complete(value: TResult?, exception: Exception?): Boolean {
    if (isComplete) return false
    this.value = value
    this.exception = exception
    isComplete = true
    listeners.forEach { it.onComplete(this) }
    return true
  }

  fun addOnCompleteListener(listener: OnCompleteListener<TResult>): Task<TResult> {
    if (isComplete) listener.onComplete(this) else listeners.add(listener)
    return this
  }

  fun addOnSuccessListener(listener: OnSuccessListener<TResult>): Task<TResult> =
    addOnCompleteListener { done -> if (done.isSuccessful) listener.onSuccess(done.result) }

  fun <TContinued> continueWithTask(continuation: Continuation<TResult, Task<TContinued>>): Task<TContinued> {
    val next = Task<TContinued>()
    addOnCompleteListener { done ->
      try {
        continuation.then(done).addOnCompleteListener { next.complete(it.value, it.exception) }
      } catch (error: Exception) {
        next.complete(null, error)
      }
    }
    return next
  }

  fun <TContinued> onSuccessTask(continuation: SuccessContinuation<TResult, TContinued>): Task<TContinued> =
    continueWithTask { done -> done.exception?.let { Tasks.forException<TContinued>(it) } ?: continuation.then(done.result) }
}

class TaskCompletionSource<TResult> {
  val task = Task<TResult>()

  fun trySetResult(result: TResult?): Boolean = task.complete(result, null)

  fun trySetException(exception: Exception): Boolean = task.complete(null, exception)
}

object Tasks {
  fun <TResult> forResult(result: TResult?): Task<TResult> = Task<TResult>().also { it.complete(result, null) }

  fun <TResult> forException(exception: Exception): Task<TResult> = Task<TResult>().also { it.complete(null, exception) }
}
