// Tally for Flutter: copy this file into your app. It needs cloud_firestore and nothing else.
//
// ```dart
// final views = TallyCounter.of(FirebaseFirestore.instance, 'views:home');
// StreamBuilder(stream: views.watch(), builder: (_, views) => Text('${views.data?.wholeTotal} views'));
// await views.increment();
// ```
//
// The first part, the planner, decides what is written and what is shown. It has no I/O, and docs/vectors.json holds it
// to the web client. The second part hands the plans to the Firestore SDK.
import 'dart:async';
import 'dart:convert';
import 'dart:math';
import 'dart:typed_data';

import 'package:cloud_firestore/cloud_firestore.dart';

// --- planner ---

/// The value of a field in a plan.
sealed class TallyValue {
  const TallyValue();
}

class TallyText extends TallyValue {
  const TallyText(this.text);
  final String text;
}

class TallyWhole extends TallyValue {
  const TallyWhole(this.number);
  final int number;
}

/// Added to the field.
class TallyIncrement extends TallyValue {
  const TallyIncrement(this.by);
  final int by;
}

/// The server's time of the commit.
class TallyServerTime extends TallyValue {
  const TallyServerTime();
}

/// Bytes, appended to an array that does not contain them.
class TallyAppend extends TallyValue {
  const TallyAppend(this.bytes);
  final List<int> bytes;
}

class TallyFields extends TallyValue {
  const TallyFields(this.fields);
  final Map<String, TallyValue> fields;
}

/// Removes the field.
class TallyDelete extends TallyValue {
  const TallyDelete();
}

/// One write of a commit: a merge, a new document, or without `fields` a deletion.
class TallyWrite {
  const TallyWrite(this.path, this.fields, this.merge);
  final String path;
  final Map<String, TallyValue>? fields;
  final bool merge;
}

/// One increment: which shard, which slot, which nonce. A retry sends the same plan. The marks of the slot `expired` may
/// be removed, if the clock of this device is right.
class TallyPlan {
  const TallyPlan(
    this.counter,
    this.shard,
    this.by,
    this.slot,
    this.expired,
    this.nonce,
    this.entry,
    this.once,
    this.isUndo,
  );
  final String counter;
  final String shard;
  final int by;
  final String slot;
  final String expired;
  final List<int> nonce;
  final String? entry;
  final String? once;
  final bool isUndo;
}

/// What a client writes, as functions without I/O.
abstract final class TallyPlanner {
  static const int maxIdBytes = 1500;
  static const int maxShards = 10000;
  static const int markSlots = 5;
  static const int markSlotMillis = 61000;
  static const int nonceBytes = 5;
  static const int maxCommitMillis = 10000;
  static const int maxPublishDelayMillis = 15000;
  static const int shardCountTtlMillis = 120000;
  static const int shardCountTtlWrites = 20;
  static const int shortShardCountTtlMillis = 1000;
  static const int firstCountTimeoutMillis = 8000;
  static const int laterCountTimeoutMillis = 1000;
  static const int onlineMillis = 10000;
  static const int slowWriteMillis = 2000;
  static const int slowWriteReads = 4;
  static const double slowFactor = 4.0;
  static const double slowMinShards = 64.0;
  static const int slowAnswerTtlMillis = 10000;
  static const int offlineAfterMillis = 10000;
  static const double refusedFactor = 8.0;
  static const double maxFactor = 512.0;

  /// What the entry of an increment names for a shard if the web client has counted it in the counter document.
  static const String direct = 'direct';

  /// Later than every instant in microseconds.
  static const int never = 9007199254740991;

  /// Whether a string is valid as an id. Firestore also takes control characters, but its events do not arrive.
  static bool isValidName(String name) {
    final size = utf8.encode(name).length;
    final isReserved = size >= 4 && name.startsWith('__') && name.endsWith('__');
    return size >= 1 && size <= maxIdBytes && !name.contains('/') && name != '.' && name != '..' && !isReserved && !_hasControl(name);
  }

  static bool _hasControl(String name) {
    return name.runes.any((one) => _isControl(one));
  }

  /// Control characters, and halves of a surrogate pair, which the SDK would replace by another character.
  static bool _isControl(int one) {
    return one < 32 || (one >= 127 && one < 160) || (one >= 55296 && one < 57344);
  }

  static String shardPath(String counter, String shard) {
    return counter + '/shards/' + shard;
  }

  static String entryPath(String counter, String once) {
    return counter + '/tallyEntries/' + once;
  }

  /// The id of a random shard, one of the last seven eighths. Shard 0, which wakes the functions, gets an eighth of a share.
  static String randomShard(double shardsToChooseFrom, double Function() random) {
    final leftOut = shardsToChooseFrom ~/ 8;
    final share = random() * (shardsToChooseFrom - leftOut);
    return (share < 0.125 ? 0 : leftOut + share.toInt()).toString();
  }

  /// The slot of `marks` that a write goes to, by this device's clock, or one that comes later. A wrong clock is harmless,
  /// and may show any number.
  static String markSlot(int now, int later) {
    final slots = now ~/ markSlotMillis;
    return ((slots.abs() + later) % markSlots).toString();
  }

  /// Identifies an increment: random bytes.
  static List<int> newNonce(double Function() random) {
    final nonce = <int>[];
    while (nonce.length < nonceBytes) {
      nonce.add((random() * 256).toInt());
    }
    return nonce;
  }

  /// Plans one increment on a shard. An undo is an increment by the opposite amount on the shard that the entry names,
  /// and on shard 0 if it names none.
  ///
  /// [now] is in milliseconds since the epoch.
  static TallyPlan planIncrement(
    String counter,
    String shard,
    int by,
    int now,
    double Function() random,
    String? once,
    bool isUndo,
  ) {
    final entry = once == null ? null : entryPath(counter, once);
    final expired = markSlot(now, 1);
    final place = shard == direct ? '0' : shard;
    return TallyPlan(counter, place, by, markSlot(now, 0), expired, newNonce(random), entry, once, isUndo);
  }

  /// The writes of a plan, for one commit.
  ///
  /// [removesMarks] is whether they also remove the slot that has expired.
  static List<TallyWrite> writes(TallyPlan plan, bool removesMarks) {
    final mark = TallyFields({'at': TallyServerTime(), 'nonces': TallyAppend(plan.nonce)});
    final marks = <String, TallyValue>{plan.slot: mark};
    if (removesMarks) {
      marks[plan.expired] = TallyDelete();
    }
    final fields = {
      'shard': TallyText(plan.shard),
      'count': TallyIncrement(plan.by),
      'writes': TallyIncrement(1),
      'at': TallyServerTime(),
      'marks': TallyFields(marks),
    };
    final shardWrite = TallyWrite(shardPath(plan.counter, plan.shard), fields, true);
    if (plan.entry == null || plan.once == null) {
      return [shardWrite];
    }
    if (plan.isUndo) {
      return [TallyWrite(plan.entry!, null, false), shardWrite];
    }
    final entry = {
      'once': TallyText(plan.once!),
      'by': TallyWhole(plan.by),
      'shard': TallyText(plan.shard),
      'at': TallyServerTime(),
    };
    return [TallyWrite(plan.entry!, entry, false), shardWrite];
  }

  /// What a refused commit means: "committed", "counted" (by an earlier call with the `once`), "retry" (on another shard)
  /// or "refused".
  ///
  /// [hasMark] is whether the shard has the nonce of the plan, [countedBy] the amount of the entry, if the plan creates
  /// one and there is one.
  static String judgeRefusal(bool isAborted, bool hasMark, int? countedBy, int by) {
    if (hasMark) {
      return 'committed';
    }
    if (isAborted) {
      return 'retry';
    }
    return countedBy == by ? 'counted' : 'refused';
  }

  /// Whether an increment first goes into a transaction: if that is refused as contended, another shard is next. All others go
  /// only to the SDK's queue, which keeps them on disk: every increment while the server has not answered for ten seconds,
  /// increments with `once`, and increments of a watched counter that is not contended.
  ///
  /// [sinceAnswerMillis] is since the last answer of the server.
  static bool usesTransaction(bool hasOnce, bool isWatched, bool isContended, int sinceAnswerMillis) {
    final isOnline = sinceAnswerMillis < onlineMillis;
    return !hasOnce && isOnline && (isContended || !isWatched);
  }

  /// A server's timestamp in whole microseconds.
  static int micros(int seconds, int nanoseconds) {
    return seconds * 1000000 + nanoseconds ~/ 1000;
  }

  /// The latest commit time of a write: its timestamp is from the start of the commit, whose end is within the round
  /// trip.
  static int latestCommit(int at, int roundTripMillis) {
    return at + min(roundTripMillis.abs(), maxCommitMillis) * 1000;
  }
}

/// How many shards this client chooses from for its next write. docs/data-model.md (Which shard) has the rules;
/// docs/vectors.json tests them.
class TallyShardCount {
  TallyShardCount(this._clock);

  /// Milliseconds since the epoch.
  final int Function() _clock;
  double _shardCount = 1.0;
  int _knownAt = 0;
  int _ttl = 0;
  int _writes = 0;
  int _pending = 0;

  /// Whether a watch or a read, even one that failed, has updated the count.
  bool _hasCount = false;

  /// Since when no write has been answered, while some are pending.
  int _pendingSince = 0;

  /// The wait that the last answer ended; none if it has no length.
  int _lastWaitSince = 0;
  int _lastWaitUntil = 0;

  /// When the last read was answered, and how long it took.
  int _readAt = 0;
  int _roundTrip = 0;

  /// The multiple that refusals have built up.
  double _factor = 1.0;

  int _slownessOf(int since, int until, bool mustBeProven) {
    final isProven = _readAt > since;
    if (until - since >= TallyPlanner.offlineAfterMillis || (mustBeProven && !isProven)) {
      return 0;
    }
    final reads = isProven ? TallyPlanner.slowWriteReads * _roundTrip : 0;
    return (until - since) ~/ max(TallyPlanner.slowWriteMillis, reads);
  }

  /// How many times the expected duration the current or the last wait has lasted, rounded down; with [mustBeProven], waits
  /// that no read was answered since are left out.
  int _slowness(bool mustBeProven) {
    final now = _clock();
    final current = _pending > 0 ? _slownessOf(_pendingSince, now, mustBeProven) : 0;
    final isRemembered = now - _lastWaitUntil < TallyPlanner.slowAnswerTtlMillis;
    final last = isRemembered ? _slownessOf(_lastWaitSince, _lastWaitUntil, mustBeProven) : 0;
    return max(current, last);
  }

  double _multiple() {
    return max(_factor, _slowness(true) * max(TallyPlanner.slowFactor, TallyPlanner.slowMinShards / _shardCount));
  }

  /// Whether the client chooses from more than the shard count.
  bool isContended() {
    return _multiple() > 1;
  }

  /// Whether to read the shard count before the next write.
  bool isStale() {
    final isSuspected = _factor > 1 || _slowness(false) > 0;
    final limit = isSuspected ? TallyPlanner.shortShardCountTtlMillis : _ttl;
    return _writes >= TallyPlanner.shardCountTtlWrites || _clock() - _knownAt >= limit;
  }

  /// How long a write waits for a read of the shard count at most, in milliseconds.
  int countTimeout() {
    return _hasCount ? TallyPlanner.laterCountTimeoutMillis : TallyPlanner.firstCountTimeoutMillis;
  }

  /// The client has read the counter document.
  ///
  /// [seen] is its shard count; less than 1 becomes 1. Without it, because the read failed or there is no counter, the known
  /// count stays. [growing] is whether the count has just grown; a watch passes `false`, because it learns of further growth.
  /// [readMillis] is how long the read took, in milliseconds; a failed read and a watch pass none.
  void update(double? seen, bool growing, int? readMillis) {
    final read = seen ?? _shardCount;
    final known = read >= 1 ? read : 1.0;
    if (known > _shardCount) {
      // The backend grew the count because of the contention.
      _factor = 1.0;
      _lastWaitUntil = _lastWaitSince;
    }
    _shardCount = known;
    _knownAt = _clock();
    final isSettled = seen != null && !growing;
    _ttl = isSettled ? TallyPlanner.shardCountTtlMillis : TallyPlanner.shortShardCountTtlMillis;
    _hasCount = true;
    if (readMillis != null) {
      _readAt = _knownAt;
    }
    _roundTrip = readMillis ?? _roundTrip;
    _writes = 0;
  }

  void writeSent() {
    _writes += 1;
    if (_pending == 0) {
      _pendingSince = _clock();
    }
    _pending += 1;
  }

  /// The write has an answer. [isRefused] is whether it was refused as contended.
  void writeAnswered(bool isRefused) {
    final before = _multiple();
    _pending -= 1;
    final now = _clock();
    _lastWaitSince = isRefused ? now : _pendingSince;
    _lastWaitUntil = now;
    _pendingSince = now;
    if (isRefused) {
      _factor = min(before * TallyPlanner.refusedFactor, TallyPlanner.maxFactor);
    } else {
      _factor = max(_factor / 2, 1.0);
    }
  }

  /// How many shards to choose from for the next write.
  double shardsToChooseFrom() {
    return min(_multiple() * _shardCount, TallyPlanner.maxShards.toDouble());
  }
}

/// One increment of this client, with bounds of its commit time in microseconds.
class TallyOwnIncrement {
  TallyOwnIncrement(this.by, this.earliest, this.latest);
  final int by;
  int earliest;
  int latest;
}

/// The total that a watch shows: the published one, and this client's increments that it does not include yet. A
/// published total includes what was committed up to its `asOf`; while that is unknown of an increment, the shown total
/// stays as near as possible to what it was.
class TallyTotal {
  final List<TallyOwnIncrement> _own = [];
  double _published = 0.0;
  int _publishedAt = 0;
  bool _isFirst = true;
  double _shown = 0.0;

  double total() {
    return _shown;
  }

  /// Whether an increment has no answer yet.
  bool isPending() {
    return _own.any((one) => one.latest == TallyPlanner.never);
  }

  TallyOwnIncrement incrementMade(int by) {
    final made = TallyOwnIncrement(by, _publishedAt + 1, TallyPlanner.never);
    _own.add(made);
    _shown += by;
    return made;
  }

  /// Committed at [latest] or before.
  void incrementCommitted(TallyOwnIncrement made, int latest) {
    made.latest = latest;
    _settle();
  }

  void incrementRefused(TallyOwnIncrement made) {
    final before = _own.length;
    _own.removeWhere((one) => one == made);
    if (_own.length < before) {
      _shown -= made.by;
    }
    _settle();
  }

  /// The counter document was read. [asOf] is in microseconds, 0 without a published total.
  void totalRead(double total, int asOf, bool fromCache) {
    if (asOf == 0 && _publishedAt > 0 && !fromCache) {
      // The counter was deleted, and with it all committed increments.
      _own.removeWhere((one) => one.latest < TallyPlanner.never);
    } else if (asOf < _publishedAt) {
      return;
    }
    if (_isFirst) {
      _shown = total;
      if (fromCache) {
        _own.forEach((one) => one.earliest = max(one.earliest, asOf + 1));
      }
    }
    _isFirst = false;
    _published = total;
    _publishedAt = asOf;
    _settle();
  }

  void _settle() {
    _own.removeWhere((one) => one.latest <= _publishedAt);
    var low = _published;
    var high = _published;
    _own.forEach((one) {
      final isMissing = one.earliest > _publishedAt;
      if (isMissing || one.by < 0) {
        low += one.by;
      }
      if (isMissing || one.by > 0) {
        high += one.by;
      }
    });
    _shown = min(max(_shown, low), high);
  }
}

// --- Firestore ---

/// Why a call failed. Firestore's own errors are passed on unchanged.
class TallyException implements Exception {
  const TallyException(this.code, this.message);
  final String code;
  final String message;

  @override
  String toString() => '$code: $message';
}

/// A total and the instant for which it is exact.
class TallySnapshot {
  const TallySnapshot(this.total, this.asOf, this.pending, this.fromCache, this.rate);

  /// The sum of all increments committed at or before [asOf]; a watch adds this client's own.
  final double total;

  /// `null` without a published total.
  final Timestamp? asOf;

  /// Whether [total] includes increments of this client that the server has not acknowledged.
  final bool pending;

  /// Whether the published total is from this device's cache.
  final bool fromCache;

  /// Writes per second, averaged over some seconds.
  final double rate;

  /// The total, rounded. It is whole unless a server writes fractions.
  int get wholeTotal => total.round();

  @override
  bool operator ==(Object other) =>
      other is TallySnapshot &&
      other.total == total &&
      other.asOf == asOf &&
      other.pending == pending &&
      other.fromCache == fromCache &&
      other.rate == rate;

  @override
  int get hashCode => Object.hash(total, asOf, pending, fromCache, rate);
}

/// A committed increment: the server's time of the write or of a later one, if it was read with the outcome.
class _Committed {
  const _Committed(this.plan, this.countedBefore, this.at);
  final TallyPlan plan;
  final bool countedBefore;
  final Timestamp? at;
}

/// Ends a transaction that only reads.
class _NothingToCommit implements Exception {}

/// One counter. Calls of [TallyCounter.of] for the same counter return the same object, which is kept as long as the app
/// runs.
class TallyCounter {
  TallyCounter._(this._firestore, this.id, this.path);

  final FirebaseFirestore _firestore;
  final String id;
  final String path;
  final TallyShardCount _shardCount = TallyShardCount(_now);
  final TallyTotal _total = TallyTotal();
  final List<void Function()> _views = [];
  final Map<String, TallyOwnIncrement> _ownByOnce = {};
  bool _wasWatched = false;
  int _viewEndedAt = 0;
  int _answeredAt = 0;
  bool _keepsMarks = false;
  Future<void>? _reading;

  static final Map<FirebaseFirestore, Map<String, TallyCounter>> _counters = {};
  static final Random _generator = Random.secure();

  /// Refers to a counter. No I/O; the first increment creates it.
  ///
  /// Throws a [TallyException] with `counter/invalid-id` or `counter/invalid-collection`.
  static TallyCounter of(FirebaseFirestore firestore, String id, {String collection = 'counters'}) {
    _requireName('collection', collection);
    _requireName('id', id);
    final path = '$collection/$id';
    final known = _counters.putIfAbsent(firestore, () => {});
    return known.putIfAbsent(path, () => TallyCounter._(firestore, id, path));
  }

  /// Adds [by]. Completes when the server has acknowledged the increment; offline, when the device is online again. With a
  /// [once], the user's uid, the counter counts it once, and the call succeeds if it counts already.
  ///
  /// Cost: 1 write; with `once` 2 writes, and 2 reads by the rules. The first increment reads the counter document (1 read,
  /// awaited for eight seconds at most). So do the first after two minutes and one in 20 (1 read, awaited for a second at
  /// most), unless a watch has delivered a total. A write that is refused or contended costs 1 read more, 2 with `once`. In a
  /// watched counter, an increment that is sent while others contend costs 1 read more.
  ///
  /// An increment first awaits the read of the counter document, if it makes one. Then, unlike on the web, it goes to the
  /// SDK's queue if the server has not answered anything for 10 seconds: the queue keeps it on disk, so an app that is offline
  /// or killed does not lose it. (In a browser, Flutter's queue is in memory.) Else it goes into a transaction, and if that is
  /// refused as contended, to another shard.
  /// Increments with `once`, and those of a watched counter that is not contended, always go to the queue, which repeats a
  /// contended write on the same shard.
  ///
  /// Throws a [TallyException] with `counter/invalid-amount`, `counter/invalid-once` or `counter/permission-denied`.
  Future<void> increment({int by = 1, String? once}) async {
    _requireAmount(by);
    if (once != null) _requireName('once', once);
    await _commit(by, once, null);
  }

  /// Undoes an increment with `once`. Succeeds if it does not count.
  ///
  /// Cost: 1 read; if it counts, 1 write and 1 delete more, and 2 reads by the rules.
  ///
  /// Throws a [TallyException] with `counter/invalid-once` or `counter/permission-denied`; Firestore's `unavailable` if the
  /// device is offline and the entry is not in its cache.
  Future<void> undo({required String once}) async {
    _requireName('once', once);
    await _refreshShardCount();
    final cached = await _entryOf(once).get();
    if (cached.exists) {
      try {
        return await _undoEntry(once, cached);
      } on TallyException catch (error) {
        if (error.code != 'counter/permission-denied') rethrow;
      }
    }
    // The cache was out of date: another device has undone the increment or made it again.
    final actual = await _readFromServer(_entryOf(once), true);
    if (actual != null && actual.exists) await _undoEntry(once, actual);
  }

  Future<void> _undoEntry(String once, DocumentSnapshot<Map<String, dynamic>> entry) async {
    final fields = entry.data() ?? {};
    await _commit(-(fields['by'] as num).toInt(), once, fields['shard'] as String);
  }

  /// Adds an increment to your own batch: both are committed or neither. At most one per counter and batch. Watches show it
  /// when it is published. After a cut connection, `commit` may fail with `permission-denied` although the batch was
  /// committed.
  ///
  /// Cost: 1 write of the batch; with `once` 2, and 2 reads by the rules; now and then the reads of [increment].
  ///
  /// Throws a [TallyException] with `counter/invalid-amount` or `counter/invalid-once`.
  void incrementIn(WriteBatch batch, {int by = 1, String? once}) {
    _requireAmount(by);
    if (once != null) _requireName('once', once);
    unawaited(_refreshShardCount());
    _addWrites(batch, _planFor(by, once, null));
  }

  /// Whether an increment with this `once` counts. Cost: 1 read. Offline it needs the entry in the cache.
  Future<bool> getIncremented({required String once}) async {
    _requireName('once', once);
    return (await _entryOf(once).get()).exists;
  }

  /// Watches whether an increment with this `once` counts, once that is known, with this client's own changes at once. Cost: 1 read,
  /// and 1 per change.
  Stream<bool> onIncremented({required String once}) {
    _requireName('once', once);
    final entry = _entryOf(once);
    var isKnown = false;
    final states = entry.snapshots(includeMetadataChanges: true).asyncMap((read) async {
      // An empty cache does not know the entry; one that persists may know that there is none.
      final isFromEmptyCache = !isKnown && !read.exists && read.metadata.isFromCache;
      final counts = isFromEmptyCache ? await _existsInCache(entry) : read.exists;
      isKnown = counts != null;
      return counts;
    });
    return states.where((counts) => counts != null).cast<bool>().distinct();
  }

  /// Whether the cache has the document, or knows that there is none; else null.
  static Future<bool?> _existsInCache(DocumentReference<Map<String, dynamic>> document) async {
    try {
      return (await document.get(const GetOptions(source: Source.cache))).exists;
    } on FirebaseException {
      return null;
    }
  }

  /// Reads the published total. Cost: 1 read.
  Future<TallySnapshot> get() async {
    final document = await _firestore.doc(path).get();
    _shardCount.update(_shardsOf(document), document.data()?['growing'] == true, null);
    return _snapshotOf(document);
  }

  /// Watches the total: each published one, about one a second at most, and at once increments of this client, which every
  /// total includes exactly once. Increments of your own batches, of other devices and from before the app was restarted
  /// show when they are published. A stream has one listener; call again for another. After an error it has no more events.
  ///
  /// Cost: 1 read per published total. An increment's time is read from the cache, and from the server (1 read) if the
  /// cache has lost it or was never given it: where persistence is disabled, and after a transaction.
  Stream<TallySnapshot> watch() {
    TallySnapshot? published;
    TallySnapshot? last;
    StreamSubscription<DocumentSnapshot<Map<String, dynamic>>>? subscription;
    late final StreamController<TallySnapshot> totals;
    void view() {
      final read = published;
      if (read == null) return;
      final shown = TallySnapshot(_total.total(), read.asOf, _total.isPending(), read.fromCache, read.rate);
      if (shown == last) return;
      last = shown;
      totals.add(shown);
    }

    void onDocument(DocumentSnapshot<Map<String, dynamic>> document) {
      final fromCache = document.metadata.isFromCache;
      // A cache without the document does not tell the shard count.
      if (document.exists || !fromCache) _shardCount.update(_shardsOf(document), false, null);
      final read = _snapshotOf(document);
      published = read;
      _total.totalRead(read.total, _micros(read.asOf), fromCache);
      _showAll();
    }

    void onError(Object error, StackTrace stackTrace) {
      _remove(view);
      totals.addError(error, stackTrace);
    }

    totals = StreamController<TallySnapshot>(
      onListen: () {
        _wasWatched = true;
        _views.add(view);
        final documents = _firestore.doc(path).snapshots(includeMetadataChanges: true);
        subscription = documents.listen(onDocument, onError: onError);
      },
      onCancel: () async {
        _remove(view);
        await subscription?.cancel();
      },
    );
    return totals.stream;
  }

  void _remove(void Function() view) {
    if (_views.remove(view)) _viewEndedAt = _now();
  }

  /// Whether there is a view, or has just been one: a view that is created again soon still finds the increments.
  bool _isWatched() => _views.isNotEmpty || _now() - _viewEndedAt < TallyPlanner.maxPublishDelayMillis;

  void _showAll() {
    for (final view in [..._views]) {
      view();
    }
  }

  static int _now() => DateTime.now().millisecondsSinceEpoch;

  static double _random() => _generator.nextDouble();

  static int _micros(Timestamp? at) => at == null ? 0 : TallyPlanner.micros(at.seconds, at.nanoseconds);

  static void _requireName(String what, String name) {
    if (TallyPlanner.isValidName(name)) return;
    const accepted = 'pass 1-1500 bytes, no "/" or control character, not ".", "..", "__x__"';
    throw TallyException('counter/invalid-$what', '$what is "$name"; $accepted');
  }

  static void _requireAmount(int by) {
    if (by == 0) throw const TallyException('counter/invalid-amount', 'amount is 0; pass another number');
  }

  static String? _codeOf(Object? error) => error is FirebaseException ? error.code : null;

  DocumentReference<Map<String, dynamic>> _entryOf(String once) => _firestore.doc(TallyPlanner.entryPath(path, once));

  DocumentReference<Map<String, dynamic>> _shardOf(TallyPlan plan) =>
      _firestore.doc(TallyPlanner.shardPath(path, plan.shard));

  TallySnapshot _snapshotOf(DocumentSnapshot<Map<String, dynamic>> document) {
    final fields = document.data() ?? {};
    final total = (fields['total'] as num? ?? 0).toDouble();
    final rate = (fields['rate'] as num? ?? 0).toDouble();
    return TallySnapshot(total, fields['asOf'] as Timestamp?, false, document.metadata.isFromCache, rate);
  }

  double? _shardsOf(DocumentSnapshot<Map<String, dynamic>>? document) =>
      (document?.data()?['shardCount'] as num?)?.toDouble();

  Future<void> _commit(int by, String? once, String? undoneShard) async {
    final shown = _wasWatched ? _show(by, once) : null;
    final sentAt = _now();
    try {
      final committed = await _commitWithRetries(by, once, undoneShard);
      if (shown != null) await _settle(shown, committed, sentAt, once);
    } catch (_) {
      if (shown != null) _refuse(shown, once);
      rethrow;
    }
  }

  Future<_Committed> _commitWithRetries(int by, String? once, String? undoneShard) async {
    await _refreshShardCount();
    final plan = _planFor(by, once, undoneShard);
    _shardCount.writeSent();
    try {
      _Committed committed;
      try {
        committed = _Committed(plan, false, await _send(plan));
      } on FirebaseException catch (error) {
        committed = await _confirm(plan, error);
      }
      _shardCount.writeAnswered(false);
      _answeredAt = _now();
      return committed;
    } catch (error) {
      final isRefused = _codeOf(error) == 'aborted';
      _shardCount.writeAnswered(isRefused);
      if (!isRefused) rethrow;
      _answeredAt = _now();
    }
    // A refused write can no longer be committed, so another increment on another shard is safe.
    return _commitWithRetries(by, once, undoneShard);
  }

  /// A transaction first, or the queue. What the transaction leaves without an answer goes to the queue, too: both count
  /// once.
  ///
  /// A transaction also removes the marks that have expired by this device's clock. If the rules refuse that, the clock may be
  /// wrong: the same plan is sent again without the removal, and if it is accepted, this client removes none from then on.
  /// Writes in the queue may be sent hours later, so they remove none.
  Future<Timestamp?> _send(TallyPlan plan) async {
    final sinceAnswer = _now() - _answeredAt;
    final isContended = _shardCount.isContended();
    if (TallyPlanner.usesTransaction(plan.entry != null, _isWatched(), isContended, sinceAnswer)) {
      try {
        final removesMarks = !_keepsMarks;
        try {
          await _transact(plan, removesMarks);
        } on FirebaseException catch (error) {
          if (!removesMarks || error.code != 'permission-denied') rethrow;
          await _transact(plan, false);
          _keepsMarks = true;
        }
        if (!_isWatched()) return null;
        // The cache does not have the server's timestamp.
        return (await _readFromServer(_shardOf(plan), true))?.data()?['at'] as Timestamp?;
      } on FirebaseException catch (error) {
        if (error.code == 'aborted' || error.code == 'permission-denied') rethrow;
      }
    }
    final batch = _firestore.batch();
    _addWrites(batch, plan);
    await batch.commit();
    return null;
  }

  Future<void> _transact(TallyPlan plan, bool removesMarks) async {
    await _firestore.runTransaction<void>((own) async {
      for (final write in TallyPlanner.writes(plan, removesMarks)) {
        final document = _firestore.doc(write.path);
        final fields = write.fields;
        if (fields == null) {
          own.delete(document);
        } else {
          own.set(document, _valuesOf(fields), SetOptions(merge: write.merge));
        }
      }
    }, maxAttempts: 1);
  }

  TallyPlan _planFor(int by, String? once, String? undoneShard) {
    final shard = undoneShard ?? TallyPlanner.randomShard(_shardCount.shardsToChooseFrom(), _random);
    return TallyPlanner.planIncrement(path, shard, by, _now(), _random, once, undoneShard != null);
  }

  void _addWrites(WriteBatch batch, TallyPlan plan) {
    for (final write in TallyPlanner.writes(plan, false)) {
      final document = _firestore.doc(write.path);
      final fields = write.fields;
      if (fields == null) {
        batch.delete(document);
      } else {
        batch.set(document, _valuesOf(fields), SetOptions(merge: write.merge));
      }
    }
  }

  static Map<String, dynamic> _valuesOf(Map<String, TallyValue> fields) =>
      fields.map((name, value) => MapEntry(name, _valueOf(value)));

  static Object _valueOf(TallyValue value) {
    if (value is TallyText) return value.text;
    if (value is TallyWhole) return value.number;
    if (value is TallyIncrement) return FieldValue.increment(value.by);
    if (value is TallyAppend) return FieldValue.arrayUnion([_blobOf(value.bytes)]);
    if (value is TallyFields) return _valuesOf(value.fields);
    if (value is TallyDelete) return FieldValue.delete();
    return FieldValue.serverTimestamp();
  }

  static Blob _blobOf(List<int> bytes) => Blob(Uint8List.fromList(bytes));

  /// Looks up whether a refused write counts. Cost: 1 read, 2 with `once`.
  Future<_Committed> _confirm(TallyPlan plan, FirebaseException cause) async {
    final isAborted = cause.code == 'aborted';
    if (!isAborted && cause.code != 'permission-denied') throw cause;
    final shard = (await _readFromServer(_shardOf(plan), true))?.data();
    final slot = (shard?['marks'] as Map?)?[plan.slot] as Map?;
    final hasMark = (slot?['nonces'] as List?)?.contains(_blobOf(plan.nonce)) ?? false;
    int? countedBy;
    final entry = plan.entry;
    if (entry != null && !hasMark && !isAborted && !plan.isUndo) {
      final found = await _readFromServer(_firestore.doc(entry), true);
      countedBy = (found?.data()?['by'] as num?)?.toInt();
    }
    switch (TallyPlanner.judgeRefusal(isAborted, hasMark, countedBy, plan.by)) {
      case 'committed':
        return _Committed(plan, false, shard?['at'] as Timestamp?);
      case 'counted':
        return _Committed(plan, true, null);
      case 'retry':
        throw cause;
      default:
        throw _refusal(plan, countedBy);
    }
  }

  TallyException _refusal(TallyPlan plan, int? countedBy) {
    var advice =
        'isOpen in firestore.rules must name the group and isAllowedAmount allow the amount; '
        'or the counter counts once per user: pass once';
    if (plan.entry != null) advice = "once must be the user's uid, and countsOncePerUser must name the group";
    if (countedBy != null) advice = 'it counts $countedBy, undo that first';
    return TallyException('counter/permission-denied', 'firestore.rules refuse ${plan.by} for "$id"; $advice');
  }

  /// In a transaction that commits nothing: any other read would show this client's unsent writes. `null` if the rules do
  /// not let this user read the document. Cost: 1 read.
  ///
  /// With [persist], repeats until there is an answer. Not by more attempts of the transaction: the plugin would wait for
  /// the handler again, which has ended.
  Future<DocumentSnapshot<Map<String, dynamic>>?> _readFromServer(
    DocumentReference<Map<String, dynamic>> document,
    bool persist,
  ) async {
    for (var seconds = 1; ; seconds = min(seconds * 2, 60)) {
      DocumentSnapshot<Map<String, dynamic>>? snapshot;
      try {
        await _firestore.runTransaction<void>((own) async {
          snapshot = await own.get(document);
          throw _NothingToCommit();
        }, maxAttempts: 1);
      } catch (error) {
        if (snapshot != null) return snapshot;
        if (_codeOf(error) == 'permission-denied') return null;
        if (!persist || error is! FirebaseException) rethrow;
      }
      await Future<void>.delayed(Duration(seconds: seconds));
    }
  }

  /// Reads the shard count if the known one is stale. Never fails. Ends after eight seconds at the latest for the first
  /// read, and after one second for later reads.
  Future<void> _refreshShardCount() async {
    if (!_shardCount.isStale()) return;
    await (_reading ??= _readShardCount().timeout(
      Duration(milliseconds: _shardCount.countTimeout()),
      onTimeout: () {},
    ));
  }

  Future<void> _readShardCount() async {
    DocumentSnapshot<Map<String, dynamic>>? document;
    int? readMillis;
    final sentAt = _now();
    try {
      document = await _readFromServer(_firestore.doc(path), false);
      readMillis = _now() - sentAt;
      _answeredAt = _now();
    } on FirebaseException {
      // Any shard count is safe.
    }
    _shardCount.update(_shardsOf(document), document?.data()?['growing'] == true, readMillis);
    _reading = null;
  }

  /// Shows an increment in the watches until a published total includes it. `null` if another attempt with the `once` is
  /// shown.
  TallyOwnIncrement? _show(int by, String? once) {
    // Of several concurrent attempts with the same `once`, one counts.
    if (once != null && _ownByOnce[once]?.by == by) return null;
    final own = _total.incrementMade(by);
    if (once != null) _ownByOnce[once] = own;
    _showAll();
    return own;
  }

  Future<void> _settle(TallyOwnIncrement own, _Committed committed, int sentAt, String? once) async {
    // It had counted before; or no view is left that could show the increment.
    if (committed.countedBefore || !_isWatched()) return _refuse(own, once);
    final at = committed.at ?? await _timestampOf(_shardOf(committed.plan));
    if (at == null) return _refuse(own, once);
    final start = _micros(at);
    _total.incrementCommitted(own, TallyPlanner.latestCommit(start, _now() - sentAt));
    _forget(own, once);
    // A total between both bounds may include the increment or not. It does if no other total has followed by then.
    Timer(const Duration(milliseconds: TallyPlanner.maxPublishDelayMillis), () {
      _total.incrementCommitted(own, start);
      _showAll();
    });
  }

  void _refuse(TallyOwnIncrement own, String? once) {
    _total.incrementRefused(own);
    _forget(own, once);
  }

  void _forget(TallyOwnIncrement own, String? once) {
    if (once != null && identical(_ownByOnce[once], own)) _ownByOnce.remove(once);
    _showAll();
  }

  /// The server's time of this client's last write on a shard that went through the queue.
  Future<Timestamp?> _timestampOf(DocumentReference<Map<String, dynamic>> shard) async {
    for (final source in const [Source.cache, Source.serverAndCache]) {
      try {
        const previous = ServerTimestampBehavior.previous;
        final snapshot = await shard.get(GetOptions(source: source, serverTimestampBehavior: previous));
        return snapshot.data()?['at'] as Timestamp?;
      } on FirebaseException {
        // The cache does not have it.
      }
    }
    return null;
  }
}
