/*
 * What Tally.kt uses of com.google.firebase.firestore: declarations of ours, after the SDK's public API (26.6), over documents
 * in memory. It knows one rule of firestore.rules: a write that adds no nonce is refused. `faults` are what happens to the next
 * commits, `readFault` what happens to reads in transactions. The SDK itself is not here: this shows that Tally.kt compiles against such an API and what it does with its answers.
 */
package com.google.firebase.firestore

import com.google.android.gms.tasks.Task
import com.google.android.gms.tasks.TaskCompletionSource
import com.google.android.gms.tasks.Tasks
import com.google.firebase.Timestamp
import com.google.firebase.firestore.FirebaseFirestoreException.Code

class FirebaseFirestoreException(message: String, val code: Code) : Exception(message) {
  enum class Code { ABORTED, PERMISSION_DENIED, UNAVAILABLE }
}

enum class Fault {
  /** Refused as contended: the queue sends it again, a transaction fails. */
  ABORT,

  /** Refused by the rules. */
  DENY,

  /** Committed, but the answer is lost, and the SDK sends it again. */
  LOSE_ANSWER,

  /** No answer, and not committed. */
  FAIL,

  /** No answer until `release`, then committed. */
  HANG
}

class Blob private constructor(private val bytes: List<Byte>) {
  override fun equals(other: Any?) = other is Blob && other.bytes == bytes

  override fun hashCode() = bytes.hashCode()

  fun toBytes(): ByteArray = bytes.toByteArray()

  companion object {
    fun fromBytes(bytes: ByteArray) = Blob(bytes.toList())
  }
}

sealed class FieldValue {
  internal class Increment(val by: Long) : FieldValue()

  internal class Union(val elements: List<Any>) : FieldValue()

  internal object Now : FieldValue()

  internal object Delete : FieldValue()

  companion object {
    fun increment(l: Long): FieldValue = Increment(l)

    fun arrayUnion(vararg elements: Any): FieldValue = Union(elements.toList())

    fun serverTimestamp(): FieldValue = Now

    fun delete(): FieldValue = Delete
  }
}

class SetOptions private constructor() {
  companion object {
    private val MERGE = SetOptions()

    fun merge(): SetOptions = MERGE
  }
}

enum class MetadataChanges { EXCLUDE, INCLUDE }

enum class Source { DEFAULT, SERVER, CACHE }

class SnapshotMetadata(val isFromCache: Boolean)

fun interface ListenerRegistration {
  fun remove()
}

fun interface EventListener<T> {
  fun onEvent(value: T?, error: FirebaseFirestoreException?)
}

class DocumentSnapshot(private val fields: Map<String, Any>?, fromCache: Boolean) {
  val metadata = SnapshotMetadata(fromCache)

  enum class ServerTimestampBehavior { NONE, ESTIMATE, PREVIOUS }

  fun exists(): Boolean = fields != null

  fun get(field: String): Any? = fields?.get(field)

  fun getString(field: String): String? = get(field) as String?

  fun getBoolean(field: String): Boolean? = get(field) as Boolean?

  fun getLong(field: String): Long? = (get(field) as Number?)?.toLong()

  fun getDouble(field: String): Double? = (get(field) as Number?)?.toDouble()

  fun getTimestamp(field: String): Timestamp? = get(field) as Timestamp?

  fun getTimestamp(field: String, serverTimestampBehavior: ServerTimestampBehavior): Timestamp? = getTimestamp(field)
}

class DocumentReference internal constructor(private val firestore: FirebaseFirestore, val path: String) {
  fun get(): Task<DocumentSnapshot> = Tasks.forResult(firestore.read(path))

  fun get(source: Source): Task<DocumentSnapshot> =
    if (source == Source.CACHE && path !in firestore.cached)
      Tasks.forException(FirebaseFirestoreException("not in the cache", Code.UNAVAILABLE))
    else get()

  fun addSnapshotListener(listener: EventListener<DocumentSnapshot>): ListenerRegistration =
    addSnapshotListener(MetadataChanges.EXCLUDE, listener)

  fun addSnapshotListener(changes: MetadataChanges, listener: EventListener<DocumentSnapshot>): ListenerRegistration {
    val watch = Watch(path, changes, listener)
    firestore.listeners.add(watch)
    listener.onEvent(firestore.read(path), null)
    return ListenerRegistration { firestore.listeners.remove(watch) }
  }
}

internal class Watch(val path: String, val changes: MetadataChanges, val listener: EventListener<DocumentSnapshot>)

/** The writes of a batch or a transaction: a path, and its fields; without them a deletion. */
internal class Write(val path: String, val fields: Map<String, Any>?, val replaces: Boolean)

class WriteBatch internal constructor(private val firestore: FirebaseFirestore) {
  private val writes = mutableListOf<Write>()

  fun set(document: DocumentReference, data: Any): WriteBatch = add(Write(document.path, mapOf(data), true))

  fun set(document: DocumentReference, data: Any, options: SetOptions): WriteBatch =
    add(Write(document.path, mapOf(data), false))

  fun delete(document: DocumentReference): WriteBatch = add(Write(document.path, null, true))

  fun commit(): Task<Void> = firestore.commitQueued(writes)

  private fun add(write: Write): WriteBatch = apply { writes.add(write) }
}

class TransactionOptions private constructor(val maxAttempts: Int) {
  class Builder {
    private var attempts = 5

    fun setMaxAttempts(maxAttempts: Int): Builder = apply { attempts = maxAttempts }

    fun build(): TransactionOptions = TransactionOptions(attempts)
  }
}

/** Ends a transaction whose read has no answer. */
private class Unanswered : RuntimeException()

class Transaction internal constructor(private val firestore: FirebaseFirestore) {
  internal val writes = mutableListOf<Write>()

  fun interface Function<TResult> {
    fun apply(transaction: Transaction): TResult?
  }

  fun get(document: DocumentReference): DocumentSnapshot {
    if (firestore.readFault == Fault.HANG) throw Unanswered()
    if (firestore.readFault == Fault.FAIL) throw FirebaseFirestoreException("unavailable", Code.UNAVAILABLE)
    return firestore.read(document.path).also { firestore.lookups++ }
  }

  fun set(document: DocumentReference, data: Any): Transaction = add(Write(document.path, mapOf(data), true))

  fun set(document: DocumentReference, data: Any, options: SetOptions): Transaction =
    add(Write(document.path, mapOf(data), false))

  fun delete(document: DocumentReference): Transaction = add(Write(document.path, null, true))

  private fun add(write: Write): Transaction = apply { writes.add(write) }
}

@Suppress("UNCHECKED_CAST") internal fun mapOf(data: Any): Map<String, Any> = data as Map<String, Any>

class FirebaseFirestore {
  val documents = mutableMapOf<String, Map<String, Any>>()
  val cached = mutableSetOf<String>()
  val faults = mutableListOf<Fault>()

  /** `FAIL`, or `HANG` for reads that have no answer. */
  var readFault: Fault? = null
  var transactions = 0
  var lookups = 0

  /** Reads and listeners get what the cache has, which is nothing. */
  var isOffline = false
  internal val listeners = mutableListOf<Watch>()
  private val hanging = mutableListOf<() -> Unit>()
  private var now = 1_767_225_600_000_000L

  fun document(documentPath: String): DocumentReference = DocumentReference(this, documentPath)

  fun batch(): WriteBatch = WriteBatch(this)

  fun <TResult> runTransaction(options: TransactionOptions, updateFunction: Transaction.Function<TResult>): Task<TResult> {
    val transaction = Transaction(this)
    try {
      val result = updateFunction.apply(transaction)
      transactions++
      val fault = faults.removeFirstOrNull()
      if (fault == Fault.ABORT) return failed(Code.ABORTED)
      if (fault == Fault.FAIL) return failed(Code.UNAVAILABLE)
      if (fault == Fault.DENY) return failed(Code.PERMISSION_DENIED)
      return apply(transaction.writes).continueWithTask { done ->
        val error = done.exception
        if (error != null) Tasks.forException(error)
        else if (fault == Fault.LOSE_ANSWER) failed(Code.UNAVAILABLE)
        else Tasks.forResult(result)
      }
    } catch (error: Unanswered) {
      return TaskCompletionSource<TResult>().task
    } catch (error: Exception) {
      return Tasks.forException(error)
    }
  }

  internal fun commitQueued(writes: List<Write>): Task<Void> =
    when (faults.removeFirstOrNull()) {
      Fault.HANG -> TaskCompletionSource<Void>().also { open ->
        hanging.add { commitQueued(writes).addOnCompleteListener { open.trySetResult(null) } }
      }.task
      Fault.LOSE_ANSWER -> apply(writes).continueWithTask { apply(writes) }
      Fault.DENY -> failed(Code.PERMISSION_DENIED)
      Fault.ABORT, Fault.FAIL -> commitQueued(writes)
      null -> apply(writes).also { cached.addAll(writes.map { write -> write.path }) }
    }

  fun release() {
    val all = hanging.toList()
    hanging.clear()
    all.forEach { it() }
  }

  /** The server answers. That a document is missing there, too, is a change of the metadata alone. */
  fun connect() {
    isOffline = false
    listeners
      .filter { it.changes == MetadataChanges.INCLUDE || it.path in documents }
      .forEach { it.listener.onEvent(read(it.path), null) }
  }

  /** What the functions do. */
  fun publish(counter: String, more: Map<String, Any> = mapOf()) {
    val shards = documents.filterKeys { it.startsWith("$counter/shards/") }.values
    documents[counter] = mapOf("total" to shards.map { it["count"] as Long }.sum(), "asOf" to stamp()) + more
    notify(counter)
  }

  internal fun read(path: String) = DocumentSnapshot(if (isOffline) null else documents[path], isOffline)

  private fun apply(writes: List<Write>): Task<Void> {
    val changed = documents.toMutableMap()
    val at = stamp()
    for (write in writes) {
      if (write.fields == null) changed.remove(write.path)
      else changed[write.path] = merged(if (write.replaces) mapOf() else changed[write.path] ?: mapOf(), write.fields, at)
        ?: return failed(Code.PERMISSION_DENIED)
    }
    documents.clear()
    documents.putAll(changed)
    writes.forEach { notify(it.path) }
    return Tasks.forResult(null)
  }

  /** `null` if an array has the element already: a replay, which the rules refuse. */
  private fun merged(before: Map<String, Any>, fields: Map<String, Any>, at: Timestamp): Map<String, Any>? {
    val after = before.toMutableMap()
    for ((name, value) in fields) {
      if (value is FieldValue.Delete) {
        after.remove(name)
        continue
      }
      after[name] =
        when (value) {
          is FieldValue.Increment -> (before[name] as Long? ?: 0) + value.by
          is FieldValue.Now -> at
          is FieldValue.Union -> {
            val list = before[name] as List<*>? ?: listOf<Any>()
            if (list.containsAll(value.elements)) return null
            list + value.elements
          }
          is Map<*, *> -> merged(mapOf(before[name] ?: mapOf<String, Any>()), mapOf(value as Any), at) ?: return null
          else -> value
        }
    }
    return after
  }

  private fun notify(path: String) {
    listeners.filter { it.path == path }.forEach { it.listener.onEvent(read(path), null) }
  }

  private fun stamp(): Timestamp {
    now += 1_000
    return Timestamp(now / 1_000_000, (now % 1_000_000 * 1_000).toInt())
  }

  private fun <TResult> failed(code: Code): Task<TResult> = Tasks.forException(FirebaseFirestoreException("$code", code))
}
