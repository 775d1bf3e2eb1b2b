package com.google.firebase.firestore;

import android.content.Context;
import android.net.ConnectivityManager;
import android.os.Handler;
import android.os.Looper;
import androidx.annotation.NonNull;
import com.google.android.gms.tasks.Task;
import com.google.android.gms.tasks.TaskCompletionSource;
import com.google.firebase.FirebaseApp;
import com.google.firebase.Timestamp;
import com.google.firebase.firestore.FirebaseFirestoreException.Code;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/**
 * A server with documents in memory, and the cache and the queue of one device. What a client reads is the cache with the writes of the queue; online,
 * a read and a listener first bring the cache up to date. All work is on the SDK's thread, all answers are posted to the main thread.
 */
public class FirebaseFirestore {
  private static final Handler MAIN = new Handler(Looper.getMainLooper());

  // For scenarios.

  /** The server's documents. */
  public final Map<String, Map<String, Object>> documents;

  /** The documents that the device knows; null for one that it knows to be missing. */
  public final Map<String, Map<String, Object>> cache = new HashMap<>();

  /** What happens to the next commits; null is no fault. */
  public final List<Fault> faults = new ArrayList<>();

  /** What happens to reads in transactions: `FAIL`, `UNAUTHENTICATED`, or `HANG` for no answer. `DENY`: the rules refuse all reads. */
  public Fault readFault;

  /** After `terminate`: calls throw. */
  public boolean isTerminated;

  /** How many transactions have sent a commit. */
  public int transactions;

  /** How many writes of the queue were refused. */
  public int refusals;

  private boolean isOffline;
  private boolean hasNetwork = true;
  private final FirebaseApp app = new FirebaseApp(new Context(new ConnectivityManager(() -> hasNetwork)));
  private final List<Batch> queue = new ArrayList<>();
  private final List<Watch> watches = new ArrayList<>();
  private final List<Runnable> hanging = new ArrayList<>();
  private static long now = 1_767_225_600_000_000L;

  /** Ends a transaction without an answer. */
  private static final class Unanswered extends RuntimeException {}

  private static final class Batch {
    final List<Write> writes;

    /** The documents of the writes as they were shown before. */
    final Map<String, Map<String, Object>> bases = new HashMap<>();

    /**
     * Those that were in no cache then: they are shown as written, without what the server sends meanwhile (MutationBatch.applyToLocalDocumentSet),
     * until another write of theirs has an answer (LocalStore.acknowledgeBatch, rejectBatch).
     */
    final Set<String> unknown = new HashSet<>();
    final TaskCompletionSource<Void> outcome = new TaskCompletionSource<>();
    boolean isHanging;

    Batch(List<Write> writes) {
      this.writes = new ArrayList<>(writes);
    }
  }

  private static final class Watch {
    final String path;
    final MetadataChanges changes;
    final EventListener<DocumentSnapshot> listener;
    DocumentSnapshot last;
    boolean isRemoved;

    Watch(String path, MetadataChanges changes, EventListener<DocumentSnapshot> listener) {
      this.path = path;
      this.changes = changes;
      this.listener = listener;
    }

    void show(DocumentSnapshot next) {
      boolean isSame = last != null && Objects.equals(last.fields, next.fields);
      boolean hasSameMetadata =
          isSame
              && last.getMetadata().isFromCache() == next.getMetadata().isFromCache()
              && last.getMetadata().hasPendingWrites() == next.getMetadata().hasPendingWrites();
      last = next;
      if (changes == MetadataChanges.INCLUDE ? hasSameMetadata : isSame) return;
      MAIN.post(
          () -> {
            if (!isRemoved) listener.onEvent(next, null);
          });
    }
  }

  public FirebaseFirestore() {
    this(new TreeMap<>());
  }

  private FirebaseFirestore(Map<String, Map<String, Object>> documents) {
    this.documents = documents;
  }

  /** Another device, with the same server. */
  public FirebaseFirestore otherDevice() {
    return new FirebaseFirestore(documents);
  }

  /** The same device after the end of the app, which keeps the cache and the queue. */
  public FirebaseFirestore restarted() {
    Looper.clear();
    FirebaseFirestore next = otherDevice();
    next.cache.putAll(cache);
    queue.forEach(batch -> next.commit(batch.writes));
    return next;
  }

  @NonNull
  public FirebaseApp getApp() {
    return app;
  }

  @NonNull
  public DocumentReference document(@NonNull String documentPath) {
    return new DocumentReference(this, documentPath);
  }

  @NonNull
  public WriteBatch batch() {
    if (isTerminated) throw new IllegalStateException("The client has already been terminated");
    return new WriteBatch(this);
  }

  @NonNull
  public <TResult> Task<TResult> runTransaction(
      @NonNull TransactionOptions options, @NonNull Transaction.Function<TResult> updateFunction) {
    TaskCompletionSource<TResult> outcome = new TaskCompletionSource<>();
    Looper.work(() -> attempt(options.getMaxAttempts(), updateFunction, outcome));
    return outcome.getTask();
  }

  private <T> void attempt(int attempts, Transaction.Function<T> function, TaskCompletionSource<T> outcome) {
    Transaction transaction = new Transaction(this);
    try {
      T result = function.apply(transaction);
      Looper.work(
          () -> {
            transactions++;
            commit(transaction.writes, result, outcome);
          });
    } catch (Unanswered error) {
      hanging.add(() -> attempt(attempts, function, outcome));
    } catch (FirebaseFirestoreException error) {
      // With more attempts, the SDK makes them as long as the server cannot be reached.
      if (attempts > 1 && error.getCode() == Code.UNAUTHENTICATED) Looper.work(() -> attempt(attempts - 1, function, outcome));
      else if (attempts > 1 && error.getCode() == Code.UNAVAILABLE) hanging.add(() -> attempt(attempts, function, outcome));
      else outcome.setException(error);
    } catch (Exception error) {
      outcome.setException(error);
    }
  }

  private <T> void commit(List<Write> writes, T result, TaskCompletionSource<T> outcome) {
    Fault fault = nextFault();
    if (fault == Fault.HANG) {
      hanging.add(() -> commit(writes, result, outcome));
      return;
    }
    Code refusal = isOffline ? Code.UNAVAILABLE : fault == null || fault.isCommitted ? apply(writes) : null;
    if (refusal == null && fault != null) refusal = fault.code;
    if (refusal == null) outcome.setResult(result);
    else outcome.setException(failure(refusal));
    show(writes);
  }

  DocumentSnapshot lookUp(String path) throws FirebaseFirestoreException {
    if (readFault == Fault.HANG) throw new Unanswered();
    if (readFault == Fault.FAIL || isOffline) throw failure(Code.UNAVAILABLE);
    if (readFault != null) throw failure(readFault.code);
    return new DocumentSnapshot(documents.get(path), new SnapshotMetadata(false, false));
  }

  Task<DocumentSnapshot> read(String path, Source source) {
    TaskCompletionSource<DocumentSnapshot> answer = new TaskCompletionSource<>();
    Looper.work(
        () -> {
          if (source != Source.CACHE && readFault == Fault.DENY && !isOffline) {
            answer.setException(failure(Code.PERMISSION_DENIED));
            return;
          }
          if (source != Source.CACHE) fetch(path);
          DocumentSnapshot found = view(path, isOffline || source == Source.CACHE);
          boolean isKnown = source == Source.CACHE && (cache.containsKey(path) || found.getMetadata().hasPendingWrites());
          boolean isCached = source == Source.DEFAULT && found.exists();
          if (isKnown || isCached || (source != Source.CACHE && !isOffline)) answer.setResult(found);
          else answer.setException(failure(Code.UNAVAILABLE));
        });
    return answer.getTask();
  }

  ListenerRegistration listen(String path, MetadataChanges changes, EventListener<DocumentSnapshot> listener) {
    Watch watch = new Watch(path, changes, listener);
    Looper.work(
        () -> {
          if (readFault == Fault.DENY) {
            MAIN.post(() -> listener.onEvent(null, failure(Code.PERMISSION_DENIED)));
            return;
          }
          DocumentSnapshot cached = view(path, true);
          if (cached.exists() || isOffline) watch.show(cached);
          if (!watch.isRemoved) watches.add(watch);
          Looper.work(() -> show(path));
        });
    return () -> {
      watch.isRemoved = true;
      watches.remove(watch);
    };
  }

  Task<Void> commit(List<Write> writes) {
    Batch batch = new Batch(writes);
    Looper.work(
        () -> {
          for (Write write : batch.writes) {
            batch.bases.put(write.path, view(write.path, true).fields);
            if (!cache.containsKey(write.path)) batch.unknown.add(write.path);
          }
          queue.add(batch);
          show(batch.writes);
          Looper.work(this::send);
        });
    return batch.outcome.getTask();
  }

  /** The first of the queue. The next one waits for its answer: the server takes a device's writes in their order. */
  private void send() {
    if (isOffline || queue.isEmpty() || queue.get(0).isHanging) return;
    Batch batch = queue.get(0);
    Fault fault = nextFault();
    batch.isHanging = fault == Fault.HANG;
    if (batch.isHanging) {
      hanging.add(
          () -> {
            batch.isHanging = false;
            send();
          });
      return;
    }
    Looper.work(this::send);
    Code refusal = fault == null || fault.isCommitted ? apply(batch.writes) : null;
    if (fault == Fault.LOSE_ALL) queue.stream().skip(1).forEach(next -> apply(next.writes));
    if (fault != null && fault.code != Code.PERMISSION_DENIED && refusal == null) return;
    queue.remove(batch);
    // An answer makes the SDK apply the others anew.
    for (Batch next : queue) for (Write write : batch.writes) next.unknown.remove(write.path);
    if (refusal == null && fault != null) refusal = fault.code;
    if (refusal == null) batch.writes.forEach(write -> fetch(write.path));
    if (refusal != null) refusals++;
    if (refusal == null) batch.outcome.setResult(null);
    else batch.outcome.setException(failure(refusal));
    show(batch.writes);
  }

  /** Lets commits and reads that hang continue. */
  public void release() {
    List<Runnable> all = new ArrayList<>(hanging);
    hanging.clear();
    all.forEach(Looper::work);
  }

  /** Another user signs in. The SDK keeps the queue of the user before; here it is dropped. */
  public void signOut() {
    queue.clear();
    new ArrayList<>(watches).forEach(watch -> show(watch.path));
  }

  public void disconnect() {
    hasNetwork = false;
    loseServer();
  }

  /** The device has a network, but the server does not answer. */
  public void loseServer() {
    isOffline = true;
    new ArrayList<>(watches).forEach(watch -> show(watch.path));
  }

  /** The server answers. That a document is missing there, too, is a change of the metadata alone. */
  public void connect() {
    isOffline = false;
    hasNetwork = true;
    new ArrayList<>(watches).forEach(watch -> show(watch.path));
    Looper.work(this::send);
    release();
  }

  /** What the functions do. */
  public void publish(String counter) {
    publish(counter, Map.of());
  }

  public void publish(String counter, Map<String, Object> more) {
    Map<String, Object> document = new HashMap<>();
    long total = 0;
    for (Map.Entry<String, Map<String, Object>> one : documents.entrySet())
      if (one.getKey().startsWith(counter + "/shards/")) total += (Long) one.getValue().get("count");
    Object direct = documents.getOrDefault(counter, Map.of()).get("direct");
    if (direct != null) {
      document.put("direct", direct);
      total += (Long) ((Map<?, ?>) direct).get("count");
    }
    document.put("total", total);
    document.put("asOf", stamp());
    document.putAll(more);
    documents.put(counter, document);
    show(counter);
  }

  /** Commits the writes, or tells why not. */
  private Code apply(List<Write> writes) {
    Map<String, Map<String, Object>> changed = new HashMap<>(documents);
    Timestamp at = stamp();
    for (Write write : writes) {
      Map<String, Object> after = write.apply(changed.get(write.path), at);
      if (after == null) changed.remove(write.path);
      else changed.put(write.path, after);
    }
    Rules rules = new Rules(documents, changed, at);
    for (Write write : writes) if (!rules.allow(write.path)) return Code.PERMISSION_DENIED;
    documents.clear();
    documents.putAll(changed);
    return null;
  }

  private DocumentSnapshot view(String path, boolean isFromCache) {
    Map<String, Object> fields = cache.get(path);
    boolean hasPendingWrites = false;
    for (Batch batch : queue) {
      for (Write write : batch.writes) {
        if (!write.path.equals(path)) continue;
        Map<String, Object> base = batch.bases.get(path);
        fields = write.applyLocally(batch.unknown.contains(path) ? base : fields, base);
        hasPendingWrites = true;
      }
    }
    return new DocumentSnapshot(fields, new SnapshotMetadata(hasPendingWrites, isFromCache));
  }

  private void fetch(String path) {
    if (!isOffline) cache.put(path, documents.get(path));
  }

  private void show(List<Write> writes) {
    writes.forEach(write -> show(write.path));
  }

  private void show(String path) {
    for (Watch watch : watches) {
      if (!watch.path.equals(path)) continue;
      fetch(path);
      watch.show(view(path, isOffline));
    }
  }

  private Fault nextFault() {
    return faults.isEmpty() ? null : faults.remove(0);
  }

  private Timestamp stamp() {
    now += 1_000;
    return new Timestamp(now / 1_000_000, (int) (now % 1_000_000 * 1_000));
  }

  private static FirebaseFirestoreException failure(Code code) {
    return new FirebaseFirestoreException(code.name(), code);
  }
}
