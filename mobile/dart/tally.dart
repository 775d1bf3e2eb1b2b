// Tally for Flutter: copy this file into your app. It needs cloud_firestore and nothing else.
//
// ```dart
// final views = TallyCounter.of(FirebaseFirestore.instance, 'views:home');
// late final totals = views.watch(); // a field of a State: in build, each build would listen and pay anew
// StreamBuilder(stream: totals, builder: (_, totals) => Text('${totals.data?.wholeTotal} views'));
// await views.increment();
// ```
//
// The first part, the planner, decides what is written and what is shown. It has no I/O, and docs/vectors.json holds it
// to the web client. The second part hands the plans to the Firestore SDK. For Android, iOS, macOS and the web: cloud_firestore does not
// report failed transactions on Windows, and does not serve Linux.
import 'dart:async';
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

class TallyFlag extends TallyValue {
  const TallyFlag(this.isTrue);
  final bool isTrue;
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

/// One increment: which document, which slot, which nonce. A retry sends the same plan. On a shard, the marks of the slot
/// `expired` may be removed, if the clock of this device is right; in the counter document they always are.
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
    this.generation,
    this.group,
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
  final int? generation;
  final String? group;
}

/// Where the next increment goes, by the counter document.
class TallyTarget {
  const TallyTarget(this.generation, this.room, this.shards);

  /// The generation that the increment joins; null for a shard.
  final int? generation;

  /// How many more increments that generation takes.
  final int room;

  /// How many shards the crowd that filled the generation needs.
  final double shards;
}

/// What a client writes, as functions without I/O.
abstract final class TallyPlanner {
  static const int maxIdBytes = 1500;
  static const int maxShards = 10000;
  static const int markSlots = 5;
  static const int directSlots = 8;
  static const int maxDirectMarks = 4;
  static const int maxMarksWithoutFunctions = 40;
  static const int slowGenerationMillis = 60000;
  static const double crowdShardMillis = 6000.0;
  static const double mostCrowdShards = 150.0;
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

  /// What the entry of an increment names instead of a shard if it is in the counter document.
  static const String direct = 'direct';

  /// Later than every instant in microseconds.
  static const int never = 9007199254740991;

  /// Whether a name is valid as an id. By its UTF-16 units, because languages differ in what is a character, and in what is
  /// equal. Firestore also takes control characters, but its events do not arrive. Half a surrogate pair is refused: the SDK
  /// would replace it.
  static bool isValidName(List<int> units) {
    var size = 0;
    var at = 0;
    while (at < units.length) {
      final one = units[at];
      final isHigh = one >= 55296 && one < 56320 && at + 1 < units.length;
      final isPair = isHigh && units[at + 1] >= 56320 && units[at + 1] < 57344;
      if (!isPair && _isForbidden(one)) {
        return false;
      }
      size += _sizeOf(one, isPair);
      at += isPair ? 2 : 1;
    }
    return size >= 1 && size <= maxIdBytes && !_isDots(units) && !(size >= 4 && _isReserved(units));
  }

  /// Control characters, a slash, half a surrogate pair.
  static bool _isForbidden(int one) {
    return one < 32 || one == 47 || (one >= 127 && one < 160) || (one >= 55296 && one < 57344);
  }

  /// The bytes of a character in UTF-8.
  static int _sizeOf(int one, bool isPair) {
    if (one < 2048) {
      return one < 128 ? 1 : 2;
    }
    return isPair ? 4 : 3;
  }

  /// "." or "..".
  static bool _isDots(List<int> units) {
    return units.length < 3 && units[0] == 46 && units[units.length - 1] == 46;
  }

  /// "__" at both ends.
  static bool _isReserved(List<int> units) {
    final last = units.length - 1;
    return units[0] == 95 && units[1] == 95 && units[last] == 95 && units[last - 1] == 95;
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

  /// Where the next increment goes, by the field `direct` of the counter document. docs/data-model.md (In the counter document) has the
  /// rules.
  ///
  /// [isOpen]: whether the document accepts direct increments; true if it does not exist. [size]: how many marks the generation has.
  /// [millis]: the time between the last writes of the previous and of this generation; without a previous one, since the epoch; -1 if a
  /// write has no time yet.
  static TallyTarget directTarget(bool isOpen, int generation, int size, int millis) {
    if (!isOpen) {
      return TallyTarget(null, 0, 1.0);
    }
    final most = size > maxDirectMarks ? maxMarksWithoutFunctions : maxDirectMarks;
    // Firestore compares microseconds, so exactly a minute may be less.
    if (size >= maxDirectMarks && millis > slowGenerationMillis) {
      return TallyTarget(generation + 1, most, 1.0);
    }
    if (size < most) {
      return TallyTarget(generation, most - size, 1.0);
    }
    if (millis < 0) {
      return TallyTarget(null, 0, 1.0);
    }
    if (most > maxDirectMarks) {
      return TallyTarget(generation + 1, most, 1.0);
    }
    return TallyTarget(null, 0, min(crowdShardMillis / max(millis, 1), mostCrowdShards));
  }

  /// Plans one increment in the counter document. An undo is an increment by the opposite amount.
  ///
  /// [group] is for an increment that creates the document: the part of the counter's id before the first colon, or "".
  static TallyPlan planDirect(
    String counter,
    int generation,
    String? group,
    int by,
    double Function() random,
    String? once,
    bool isUndo,
  ) {
    final entry = once == null ? null : entryPath(counter, once);
    final slot = (generation % directSlots).toString();
    final expired = ((generation + 1) % directSlots).toString();
    return TallyPlan(counter, direct, by, slot, expired, newNonce(random), entry, once, isUndo, generation, group);
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
    return TallyPlan(counter, place, by, markSlot(now, 0), expired, newNonce(random), entry, once, isUndo, null, null);
  }

  /// The writes of a plan, for one commit.
  ///
  /// [removesMarks] is whether they also remove the slot that has expired.
  static List<TallyWrite> writes(TallyPlan plan, bool removesMarks) {
    final increment = plan.generation == null ? _shardWrite(plan, removesMarks) : _directWrite(plan, plan.generation!);
    if (plan.entry == null || plan.once == null) {
      return [increment];
    }
    if (plan.isUndo) {
      return [TallyWrite(plan.entry!, null, false), increment];
    }
    final entry = <String, TallyValue>{
      'once': TallyText(plan.once!),
      'by': TallyWhole(plan.by),
      'shard': TallyText(plan.shard),
      'at': TallyServerTime(),
    };
    return [TallyWrite(plan.entry!, entry, false), increment];
  }

  static TallyWrite _shardWrite(TallyPlan plan, bool removesMarks) {
    final fields = <String, TallyValue>{
      'shard': TallyText(plan.shard),
      'count': TallyIncrement(plan.by),
      'writes': TallyIncrement(1),
      'at': TallyServerTime(),
      'marks': _marked(plan, removesMarks),
    };
    return TallyWrite(shardPath(plan.counter, plan.shard), fields, true);
  }

  static TallyWrite _directWrite(TallyPlan plan, int generation) {
    final direct = <String, TallyValue>{
      'generation': TallyWhole(generation),
      'count': TallyIncrement(plan.by),
      'writes': TallyIncrement(1),
      'marks': _marked(plan, true),
    };
    final fields = <String, TallyValue>{'total': TallyIncrement(plan.by)};
    if (plan.group != null) {
      direct['open'] = TallyFlag(true);
      fields['group'] = TallyText(plan.group!);
    }
    fields['direct'] = TallyFields(direct);
    return TallyWrite(plan.counter, fields, true);
  }

  static TallyValue _marked(TallyPlan plan, bool removesMarks) {
    final mark = TallyFields({'at': TallyServerTime(), 'nonces': TallyAppend(plan.nonce)});
    final marks = <String, TallyValue>{plan.slot: mark};
    if (removesMarks) {
      marks[plan.expired] = TallyDelete();
    }
    return TallyFields(marks);
  }

  /// What a refused commit means: "committed", "counted" (by an earlier call with the `once`), "retry" (elsewhere) or
  /// "refused".
  ///
  /// [hasMark] is whether the document has the nonce of the plan, [countedBy] the amount of the entry, if the plan creates
  /// one and there is one, [isDirect] whether it is the counter document, which refuses for ever what its generation has
  /// refused.
  static String judgeRefusal(bool isAborted, bool hasMark, int? countedBy, int by, bool isDirect) {
    if (hasMark) {
      return 'committed';
    }
    if (isAborted) {
      return 'retry';
    }
    if (countedBy == by) {
      return 'counted';
    }
    return isDirect ? 'retry' : 'refused';
  }

  /// Whether an increment on a shard is first tried in a transaction. If that is refused as contended, it goes to another shard. Direct
  /// increments never are, nor is any increment while the device is offline: the caller checks both.
  ///
  /// [sinceAnswerMillis]: the time since the last answer of the server.
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

/// A write that was sent, in milliseconds since the epoch.
class TallySentWrite {
  const TallySentWrite(this.at);
  final int at;
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

  /// Whether a watch or a read, even one that failed, has updated the count.
  bool _hasCount = false;

  /// The writes without an answer, in their order.
  final List<TallySentWrite> _unanswered = [];

  /// When a write was answered last.
  int _answeredAt = 0;

  /// The wait that the last answer ended; none if it has no length.
  int _lastWaitSince = 0;
  int _lastWaitUntil = 0;

  /// When the last read was answered, and how long it took.
  int _readAt = 0;
  int _roundTrip = 0;

  /// The multiple that refusals have built up.
  double _factor = 1.0;

  /// Since when the writes without an answer wait.
  int _waitingSince() {
    return max(_answeredAt, _unanswered[0].at);
  }

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
    final current = _unanswered.length > 0 ? _slownessOf(_waitingSince(), now, mustBeProven) : 0;
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

  /// Whether to read the shard count before the next write. [isLive] is whether a watch keeps the document up to date.
  bool isStale(bool isLive) {
    final isSuspected = _factor > 1 || _slowness(false) > 0;
    if (isLive && !isSuspected) {
      return false;
    }
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

  TallySentWrite writeSent() {
    _writes += 1;
    final sent = TallySentWrite(_clock());
    _unanswered.add(sent);
    return sent;
  }

  /// The write has an answer. [isRefused] is whether it was refused as contended.
  void writeAnswered(TallySentWrite sent, bool isRefused) {
    final before = _multiple();
    final now = _clock();
    final hasNoWait = isRefused || _unanswered.length == 0;
    _lastWaitSince = hasNoWait ? now : _waitingSince();
    _lastWaitUntil = now;
    _answeredAt = now;
    // Those that the server has answered others after so long may be of a user who has signed out.
    _unanswered.removeWhere((one) => one == sent || now - one.at >= TallyPlanner.offlineAfterMillis);
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

/// One increment of this client. On a shard, `earliest` and `latest` are bounds of its commit time in microseconds. In the
/// counter document, its mark tells whether a total includes it, and `latest` only whether it is acknowledged.
class TallyOwnIncrement {
  TallyOwnIncrement(this.by, this.earliest, this.latest);
  final int by;
  int earliest;
  int latest;
  TallyPlan? plan = null;
  bool isMarked = false;

  bool isDirect() {
    return plan?.generation != null;
  }
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

  /// The increment has a plan. If it had one before, that one was refused, so the published total no longer includes the increment.
  void incrementPlanned(TallyOwnIncrement made, TallyPlan plan) {
    if (made.isMarked) {
      _published -= made.by;
    }
    made.isMarked = false;
    made.plan = plan;
    _settle();
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
      _published -= made.isMarked ? made.by : 0;
    }
    _settle();
  }

  /// The counter document was read, as the SDK shows it: with this client's direct increments, also those without an answer.
  ///
  /// [asOf] is in microseconds, 0 without a published total; [hasMark] tells whether it has the nonce of a direct increment,
  /// null if that was removed.
  void totalRead(double total, int asOf, bool fromCache, bool? Function(TallyPlan) hasMark) {
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
    _own.forEach((one) => one.isMarked = one.isDirect() && _isMarkedBy(one, hasMark));
    _settle();
  }

  /// Marks that are gone were those of acknowledged increments.
  bool _isMarkedBy(TallyOwnIncrement one, bool? Function(TallyPlan) hasMark) {
    final plan = one.plan;
    final found = plan == null ? false : hasMark(plan);
    return found ?? (one.latest < TallyPlanner.never);
  }

  bool _isIncluded(TallyOwnIncrement one) {
    if (one.isDirect()) {
      return one.isMarked && one.latest < TallyPlanner.never;
    }
    return one.latest <= _publishedAt;
  }

  void _settle() {
    _own.removeWhere((one) => _isIncluded(one));
    var low = _published;
    var high = _published;
    _own.forEach((one) {
      final isMissing = one.isDirect() ? !one.isMarked : one.earliest > _publishedAt;
      final isUnknown = !one.isDirect() && !isMissing;
      if (isMissing || (isUnknown && one.by < 0)) {
        low += one.by;
      }
      if (isMissing || (isUnknown && one.by > 0)) {
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

/// A total. Its shards are summed up to `asOf`.
class TallySnapshot {
  const TallySnapshot(this.total, this.asOf, this.pending, this.fromCache, this.rate);

  /// The sum of the shards up to `asOf`, plus all direct increments. In a watch also this client's unsent and unpublished increments.
  final double total;

  /// `null` without a published total.
  final Timestamp? asOf;

  /// Whether [total] includes increments of this client that the server has not acknowledged.
  final bool pending;

  /// Whether the published total is from this device's cache.
  final bool fromCache;

  /// Writes per second, averaged over some seconds.
  final double rate;

  /// The total, rounded. It is whole unless a server writes fractions. NaN and infinity are 0; a total that is too large is the nearest
  /// `int`.
  int get wholeTotal => total.isFinite ? total.round() : 0;

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

/// A call with `once`. The next one begins when this one is in the SDK's queue, which keeps the order, or has an outcome.
class _OrderedCall {
  _OrderedCall(this.once, this.counts);
  final String once;
  final bool counts;
  final Completer<void> _nextAllowed = Completer<void>();

  /// Whether its commit was given to the plugin, and whether that has an answer.
  bool isQueued = false;
  bool isAnswered = false;

  /// Whether a listener has shown this call's writes. From then on the listener's state is shown: after a sign-out it is that of the next
  /// user.
  bool isSeen = false;

  /// Whether watches of the total show its increment.
  bool isInTotal = false;

  /// Until it has an outcome.
  _Pending? pending;

  bool isNextAllowed() => _nextAllowed.isCompleted;

  Future<void> untilNextAllowed() => _nextAllowed.future;

  void allowNext() {
    if (!_nextAllowed.isCompleted) _nextAllowed.complete();
  }
}

class _Pending {
  const _Pending(this.by, this.outcome);

  /// 0 for an undo.
  final int by;
  final Future<void> outcome;
}

/// One increment, from its first step to its outcome.
class _Call {
  _Call(this.by, this.ordered, this.undoneShard, this.isShown);
  final int by;
  final _OrderedCall? ordered;

  /// For an undo, the shard that the entry names; else `null`.
  final String? undoneShard;

  /// Whether watches show it before a total includes it.
  final bool isShown;

  /// A generation that has refused it.
  int? refusedBy;

  /// As watches show it.
  TallyOwnIncrement? own;
}

/// The counter document has refused an increment for ever, so another one elsewhere is safe.
class _RefusedThere implements Exception {
  const _RefusedThere();
}

/// A committed increment: the server's time of the write or of a later one, if it was read with the outcome.
class _Committed {
  const _Committed(this.plan, this.countedBefore, this.at);
  final TallyPlan plan;
  final bool countedBefore;
  final Timestamp? at;
}

/// Ends a transaction that only reads.
class _NothingToCommit implements Exception {
  const _NothingToCommit();
}

/// Listens to a document. Where the plugin makes its native listener after a delay, one that is cancelled before would stay, and
/// its reads be billed. So a listener that is removed before its first event is cancelled at that event.
class _Listener {
  _Listener(DocumentReference<Map<String, dynamic>> document, this._onDocument, this._onError) {
    final documents = document.snapshots(includeMetadataChanges: true);
    _subscription = documents.listen(_documentRead, onError: _failed);
  }

  final void Function(DocumentSnapshot<Map<String, dynamic>> document) _onDocument;
  final void Function(Object error, StackTrace stackTrace) _onError;
  StreamSubscription<DocumentSnapshot<Map<String, dynamic>>>? _subscription;
  bool _hasBegun = false;
  bool _isRemoved = false;

  void _documentRead(DocumentSnapshot<Map<String, dynamic>> document) {
    _hasBegun = true;
    if (_isRemoved) {
      remove();
    } else {
      _onDocument(document);
    }
  }

  void _failed(Object error, StackTrace stackTrace) {
    _hasBegun = true;
    final wasRemoved = _isRemoved;
    remove();
    if (!wasRemoved) _onError(error, stackTrace);
  }

  void remove() {
    _isRemoved = true;
    if (_hasBegun) _subscription?.cancel();
  }
}

/// One counter. Calls of [TallyCounter.of] for the same counter return the same object, which is kept as long as the app runs.
///
/// Await all increments and remove all watches before `terminate`: an increment that is still open never ends. A later call fails.
///
/// For Android, iOS, macOS and the web. Not for Windows, where cloud_firestore does not report that a transaction has failed, so that
/// calls would never end; nor for Linux, which cloud_firestore does not serve.
class TallyCounter {
  TallyCounter._(this._firestore, this.id, this.path);

  final FirebaseFirestore _firestore;
  final String id;
  final String path;
  final TallyShardCount _shardCount = TallyShardCount(_now);
  final TallyTotal _total = TallyTotal();
  final List<void Function()> _views = [];
  bool _wasWatched = false;
  int _viewEndedAt = 0;
  int _answeredAt = 0;
  bool _keepsMarks = false;
  Future<void>? _reading;

  /// What is decided when a timer ends.
  final Map<Timer, void Function()> _decisions = {};

  /// Whether the device is taken to be offline. Without another plugin, nothing tells: so it is if a read of the counter document has been
  /// without an answer for longer than increments wait for it, or has failed as `unavailable`, until the server answers.
  bool _isOffline = false;

  /// Whether the last document is one that the server has sent to a watch.
  bool _isLive = false;

  /// The target of the next increment, as of the last read of the document; `null` before the first read and after one that failed.
  TallyTarget? _target;

  /// `room` of that target, minus this client's increments since.
  int _room = 0;

  /// Whether that document is missing, so that an increment creates it.
  bool _isMissing = false;

  /// The last call with each `once`.
  final Map<String, _OrderedCall> _calls = {};

  /// What [onIncremented] shows, made anew when a call begins, is refused or ends.
  final List<void Function()> _entryViews = [];

  /// By identity, because databases of the same app are equal.
  static final Map<FirebaseFirestore, Map<String, TallyCounter>> _counters = Map.identity();
  static final Random _generator = Random.secure();

  /// Larger amounts would not arrive exactly: on Android and Apple systems, the plugin sends them as floating-point numbers.
  static const int _maxAmount = bool.fromEnvironment('dart.library.js_interop') ? 9007199254740991 : 2147483647;

  /// An undo that the rules refuse is made again if the server's entry differs from what the client knew.
  static const int _maxUndoAttempts = 3;

  /// Errors with these codes come again however often a read is repeated.
  static const Set<String> _permanent = {
    'already-exists',
    'data-loss',
    'failed-precondition',
    'invalid-argument',
    'not-found',
    'out-of-range',
    'unauthenticated',
    'unimplemented',
  };

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

  /// Adds [by]. Completes when the server has acknowledged the increment; offline, when the device is online again. With a [once], the
  /// user's uid, the counter counts it once, and the call succeeds if it counts already.
  ///
  /// While the counter is calm, the increment is a write of the counter document, which then has it in its total. Otherwise it is a write
  /// of a shard, which the functions publish. While neither a watch is live nor the server has answered this client about this counter
  /// within 10 seconds, an increment goes to a shard, which accepts a late write.
  ///
  /// Calls with the same `once` take effect in the order of the calls.
  ///
  /// Cost: 1 write; with `once` 2 writes, and 2 reads by the rules. The first increment reads the counter document (1 read, awaited for
  /// eight seconds at most). So do the first after two minutes and one in 20 (1 read, awaited for a second at most), unless a watch is up
  /// to date. Without a network none is awaited. A write that is refused or contended costs 1 read more, 2 with `once`. In a watched
  /// counter, an increment that is sent while others contend costs 1 read more.
  ///
  /// An increment first awaits the read of the counter document, if it makes one. An increment that awaits no read is given to the
  /// plugin before this call returns. Without another plugin, Flutter does not tell that there is no network: the device is taken to be
  /// offline after a read that has been without an answer for longer than the wait, until the server answers. So the first increment
  /// offline waits; later ones do not.
  ///
  /// The SDK's queue sends direct increments, those with `once`, those of a watched counter that is not contended, and all while the
  /// device is offline or the server has not answered for 10 seconds: the queue keeps them on disk, so an app that is killed does not
  /// lose them, and repeats a contended write on the same document. The others are tried in a transaction first. If that is refused as
  /// contended, they go to another shard; if it ends without an answer, to the queue. (In a browser, Flutter's queue is in memory. On
  /// Android, the plugin keeps a thread for each write in the queue.)
  ///
  /// Throws a [TallyException] with `counter/invalid-amount`, `counter/invalid-once` or `counter/permission-denied`. An amount beyond
  /// ±2147483647 (in a browser ±2⁵³) is invalid, because the plugin does not send it exactly. Firestore's `unauthenticated` and other
  /// lasting errors may come from the read that follows a refusal; then it is open whether the increment counts.
  Future<void> increment({int by = 1, String? once}) async {
    _requireAmount(by);
    if (once == null) {
      await _commit(_Call(by, null, null, true));
      return;
    }
    _requireName('once', once);
    await _ordered(once, by, (call, before) => _commit(_Call(by, call, null, true)));
  }

  /// Undoes an increment with `once`. Succeeds if it does not count.
  ///
  /// Cost: 1 read unless the entry is in the cache; if it does not count, 1 more; if it does, 1 write and 1 delete, and 2 reads by the
  /// rules. If the rules refuse it, 3 reads more for each of up to two other attempts.
  ///
  /// Throws a [TallyException] with `counter/invalid-once` or `counter/permission-denied`; Firestore's `unavailable` if the device is
  /// offline and the entry is not in its cache.
  Future<void> undo({required String once}) async {
    _requireName('once', once);
    await _ordered(once, 0, _undo);
  }

  Future<void> _undo(_OrderedCall call, _OrderedCall? before) async {
    final entry = _entryOf(call.once);
    var isInTotal = before != null && before.isInTotal;
    var found = await _fromCache(entry);
    if (found == null || !found.exists) found = await entry.get();
    for (var attempt = 1; ; attempt++) {
      if (found != null && found.exists) {
        try {
          await _commit(_undoOf(call, found, isInTotal));
          return;
        } catch (error) {
          if (!_isDenied(error) || attempt == _maxUndoAttempts) rethrow;
        }
      }
      // Before a read that may last until the device is online.
      call.allowNext();
      // The cache was out of date: another device, or an undo that was pending, has undone the increment or made it again.
      found = await _readFromServer(entry, true);
      if (found == null || !found.exists || _isSuperseded(call)) return;
      isInTotal = true;
    }
  }

  /// With [isInTotal], watches show the increment that it undoes, if that is in the queue for a shard.
  _Call _undoOf(_OrderedCall call, DocumentSnapshot<Map<String, dynamic>> entry, bool isInTotal) {
    final fields = entry.data();
    final by = _wholeOf(fields?['by']) ?? 0;
    _requireExact(-by);
    final named = fields?['shard'];
    final shard = named is String ? named : TallyPlanner.direct;
    if (!TallyPlanner.isValidName(shard.codeUnits)) {
      throw TallyException('counter/invalid-shard', 'the entry of "${call.once}" names the shard "$shard"; delete the entry');
    }
    // An increment of before the watch began, or before the app did: without the server's time, it is still in the queue.
    final isShown = isInTotal || shard == TallyPlanner.direct || fields?['at'] != null;
    return _Call(-by, call, shard, isShown);
  }

  /// Makes a call with `once` when the one before allows it. One that repeats the last one shares its outcome, because the cache would
  /// show both. [by] is 0 for an undo.
  Future<void> _ordered(String once, int by, Future<void> Function(_OrderedCall call, _OrderedCall? before) make) {
    final before = _calls[once];
    final pending = before?.pending;
    if (pending != null && pending.by == by) return pending.outcome;
    final call = _OrderedCall(once, by != 0);
    _calls[once] = call;
    final outcome = _makeAfter(before, call, make);
    call.pending = _Pending(by, outcome);
    _showEntries();
    return outcome;
  }

  Future<void> _makeAfter(
    _OrderedCall? before,
    _OrderedCall call,
    Future<void> Function(_OrderedCall call, _OrderedCall? before) make,
  ) async {
    try {
      if (before != null && !before.isNextAllowed()) await before.untilNextAllowed();
      if (before != null && before.isQueued && !before.isAnswered) await _untilCached(before);
      await make(call, before);
    } finally {
      call.pending = null;
      call.allowNext();
      _showEntries();
    }
  }

  static bool _isDenied(Object error) => error is TallyException && error.code == 'counter/permission-denied';

  /// Whether there is a later call with this `once`, which decides.
  bool _isSuperseded(_OrderedCall? call) => call != null && _calls[call.once] != call;

  /// Waits until the cache shows what a call has given to the plugin, a second at most. On Android, the plugin hands each commit to a
  /// thread of its own, so that the next one might overtake it.
  Future<void> _untilCached(_OrderedCall call) async {
    final entry = _entryOf(call.once);
    final until = _now() + 1000;
    while (_now() < until && !call.isAnswered) {
      final cached = await _fromCache(entry);
      if (cached != null && cached.exists == call.counts && (!call.counts || cached.metadata.hasPendingWrites)) return;
      await Future<void>.delayed(const Duration(milliseconds: 10));
    }
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
    _refreshShardCount();
    final shard = TallyPlanner.randomShard(_shardCount.shardsToChooseFrom(), _random);
    _addWrites(batch, TallyPlanner.planIncrement(path, shard, by, _now(), _random, once, false));
  }

  /// Whether an increment with this `once` counts. Cost: 1 read. Offline it needs the entry in the cache.
  Future<bool> getIncremented({required String once}) async {
    _requireName('once', once);
    return (await _entryOf(once).get()).exists;
  }

  /// Watches whether an increment with this `once` counts, once that is known, with this client's own changes at once. A stream has one
  /// listener; keep it outside of `build`, as that of [watch]. Cost: 1 read, and 1 per change. The watch ends when the subscription is
  /// cancelled.
  Stream<bool> onIncremented({required String once}) {
    _requireName('once', once);
    final entry = _entryOf(once);
    bool? stored;
    bool? shown;
    _Listener? listener;
    late final StreamController<bool> states;
    void view() {
      // Before a call is in the queue, and while it is refused and made again, the SDK shows what was before.
      final last = _calls[once];
      final counts = last == null || last.pending == null || last.isSeen ? stored : last.counts;
      if (counts == null || counts == shown) return;
      shown = counts;
      states.add(counts);
    }

    void entryRead(bool exists) {
      stored = exists;
      final last = _calls[once];
      if (last != null && last.isQueued && last.counts == exists) last.isSeen = true;
      view();
    }

    Future<void> onDocument(DocumentSnapshot<Map<String, dynamic>> read) async {
      // An empty cache does not know the entry; one that persists may know that there is none.
      if (read.exists || !read.metadata.isFromCache || stored != null) {
        entryRead(read.exists);
        return;
      }
      final cached = await _fromCache(entry);
      if (cached != null && stored == null && _entryViews.contains(view)) entryRead(cached.exists);
    }

    void onError(Object error, StackTrace stackTrace) {
      _entryViews.remove(view);
      states.addError(error, stackTrace);
    }

    states = StreamController<bool>(
      onListen: () {
        _entryViews.add(view);
        listener = _Listener(entry, onDocument, onError);
      },
      onCancel: () {
        listener?.remove();
        _entryViews.remove(view);
      },
    );
    return states.stream;
  }

  void _showEntries() {
    // A view may remove others.
    for (final view in [..._entryViews]) {
      if (_entryViews.contains(view)) view();
    }
  }

  /// A document as the cache has it, perhaps as one that does not exist; `null` if the cache does not know.
  static Future<DocumentSnapshot<Map<String, dynamic>>?> _fromCache(
    DocumentReference<Map<String, dynamic>> document,
  ) async {
    try {
      return await document.get(const GetOptions(source: Source.cache));
    } catch (_) {
      return null;
    }
  }

  /// Reads the published total. Cost: 1 read; 2 while this client's increments of the document are unsent.
  Future<TallySnapshot> get() async {
    final document = await _firestore.doc(path).get();
    if (!document.metadata.isFromCache) _answered();
    if (!document.metadata.hasPendingWrites) {
      _documentRead(document, document.data()?['growing'] == true);
      return _snapshotOf(document);
    }
    // The SDK's view is that of the time when they were made, perhaps without the document.
    try {
      return _snapshotOf(await _readFromServer(_firestore.doc(path), false) ?? document);
    } catch (_) {
      return _snapshotOf(document);
    }
  }

  /// Watches the total: an event when it changes, and at once for increments of this client, which every total includes exactly once.
  /// Others' direct increments show when they are made. Those on shards are published about once a second at most, as are increments of
  /// your own batches and from before the app was restarted. A stream has one listener; call again for another. The watch ends when the subscription is cancelled. After an error it has no more
  /// events.
  ///
  /// Keep the stream outside of `build`, in a field of a `State`: `StreamBuilder(stream: counter.watch(), …)` in `build` would listen
  /// anew, and pay for a read, each time the widget is built.
  ///
  /// Cost: 1 read per change of the counter document, and 1 at the start. A published total is a change, and so is a direct increment of
  /// any client, which costs each watcher a read. The time of an increment on a shard is read from the cache, and from the server (1
  /// read) if the cache has lost it or was never given it: where persistence is disabled, and after a transaction.
  Stream<TallySnapshot> watch() {
    TallySnapshot? published;
    TallySnapshot? last;
    _Listener? listener;
    late final StreamController<TallySnapshot> totals;
    void view() {
      final read = published;
      if (read == null) return;
      final pending = read.pending || _total.isPending();
      final shown = TallySnapshot(_total.total(), read.asOf, pending, read.fromCache, read.rate);
      if (shown == last) return;
      last = shown;
      totals.add(shown);
    }

    void onDocument(DocumentSnapshot<Map<String, dynamic>> document) {
      final fields = document.data();
      if (!_isWhole(fields)) return;
      final fromCache = document.metadata.isFromCache;
      _isLive = !fromCache;
      if (_isLive) _isOffline = false;
      _documentRead(document, false);
      final read = _snapshotOf(document);
      // While writes of this client have no answer, the SDK shows the document as it was when they were made. Then the total is the last
      // one, with these increments.
      if (published == null || !read.pending) {
        published = read;
        _total.totalRead(read.total, _micros(read.asOf), fromCache, (plan) => _markIn(fields, plan));
      }
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
        listener = _Listener(_firestore.doc(path), onDocument, onError);
      },
      onCancel: () {
        listener?.remove();
        _remove(view);
      },
    );
    return totals.stream;
  }

  /// Whether the SDK knows the whole document. If not, it shows only this client's unsent fields.
  static bool _isWhole(Map<String, dynamic>? fields) {
    final direct = _mapOf(fields?['direct']);
    return direct == null || direct['open'] != null;
  }

  void _remove(void Function() view) {
    if (_views.remove(view)) _viewEndedAt = _now();
    if (_views.isNotEmpty) return;
    _isLive = false;
    final decisions = {..._decisions};
    _decisions.clear();
    decisions.forEach((timer, decide) {
      timer.cancel();
      decide();
    });
  }

  /// Decides later; without a view at once, because a timer that outlives its widget fails the app's tests. A view that returns at once may
  /// then show too little for a moment.
  void _decideLater(void Function() decide) {
    if (_views.isEmpty) {
      decide();
      return;
    }
    late final Timer timer;
    timer = Timer(const Duration(milliseconds: TallyPlanner.maxPublishDelayMillis), () {
      _decisions.remove(timer);
      decide();
    });
    _decisions[timer] = decide;
  }

  /// Whether there is a view, or has just been one: a view that is created again soon still finds the increments.
  bool _isWatched() => _views.isNotEmpty || _now() - _viewEndedAt < TallyPlanner.maxPublishDelayMillis;

  void _showAll() {
    // A view may remove others.
    for (final view in [..._views]) {
      if (_views.contains(view)) view();
    }
  }

  static int _now() => DateTime.now().millisecondsSinceEpoch;

  static double _random() => _generator.nextDouble();

  static int _micros(Timestamp? at) => at == null ? 0 : TallyPlanner.micros(at.seconds, at.nanoseconds);

  static void _requireName(String what, String name) {
    if (TallyPlanner.isValidName(name.codeUnits)) return;
    const accepted = 'pass 1-1500 bytes, no "/" or control character, not ".", "..", "__x__"';
    final shown = name.length > 60 ? name.substring(0, 60) : name;
    throw TallyException('counter/invalid-$what', '$what is "$shown"; $accepted');
  }

  static void _requireAmount(int by) {
    if (by == 0) throw const TallyException('counter/invalid-amount', 'amount is 0; pass another number');
    _requireExact(by);
  }

  static void _requireExact(int by) {
    if (by >= -_maxAmount && by <= _maxAmount) return;
    const accepted = 'pass one within ±$_maxAmount, because cloud_firestore does not send larger ones exactly';
    throw TallyException('counter/invalid-amount', 'amount is $by; $accepted');
  }

  static String _groupOf(String id) {
    final end = id.indexOf(':');
    return end < 0 ? '' : id.substring(0, end);
  }

  static String? _codeOf(Object? error) => error is FirebaseException ? error.code : null;

  DocumentReference<Map<String, dynamic>> _entryOf(String once) => _firestore.doc(TallyPlanner.entryPath(path, once));

  DocumentReference<Map<String, dynamic>> _documentOf(TallyPlan plan) =>
      _firestore.doc(plan.generation != null ? path : TallyPlanner.shardPath(path, plan.shard));

  TallySnapshot _snapshotOf(DocumentSnapshot<Map<String, dynamic>> document) {
    final fields = document.data();
    final total = _numberOf(fields?['total']) ?? 0.0;
    final rate = _numberOf(fields?['rate']) ?? 0.0;
    final metadata = document.metadata;
    return TallySnapshot(total, _timeOf(fields?['asOf']), metadata.hasPendingWrites, metadata.isFromCache, rate);
  }

  // Servers may have written anything, so a field of another type counts as absent.

  static double? _numberOf(Object? value) => value is num ? value.toDouble() : null;

  static int? _wholeOf(Object? value) => value is num && value.isFinite ? value.toInt() : null;

  static Timestamp? _timeOf(Object? value) => value is Timestamp ? value : null;

  static Map<dynamic, dynamic>? _mapOf(Object? value) => value is Map<dynamic, dynamic> ? value : null;

  static List<dynamic>? _listOf(Object? value) => value is List<dynamic> ? value : null;

  /// The server has answered.
  void _answered() {
    _answeredAt = _now();
    _isOffline = false;
  }

  /// Keeps what a watch or a read has found, perhaps in the cache. A cache without the document tells nothing.
  void _documentRead(DocumentSnapshot<Map<String, dynamic>> document, bool growing) {
    if (!document.exists && document.metadata.isFromCache) return;
    final before = _target;
    final left = _room;
    _learn(document, growing, null);
    // It may lack the last writes of this client.
    if (before != null && before.generation == _target?.generation) _room = min(left, _room);
  }

  /// Keeps what a read of the server has found; `null` for a read that failed.
  void _learn(DocumentSnapshot<Map<String, dynamic>>? document, bool growing, int? readMillis) {
    final found = document == null ? null : _targetIn(document);
    _target = found;
    _room = found?.room ?? 0;
    _isMissing = document != null && !document.exists;
    final isOpen = _mapOf(document?.data()?['direct'])?['open'] == true;
    final published = _numberOf(document?.data()?['shardCount']) ?? (isOpen ? 1.0 : null);
    // A crowd that the functions have not seen yet needs more.
    final shards = published == null ? null : max(published, found?.shards ?? 1.0);
    _shardCount.update(shards, growing, readMillis);
  }

  static TallyTarget _targetIn(DocumentSnapshot<Map<String, dynamic>> document) {
    if (!document.exists) return TallyPlanner.directTarget(true, 0, 0, 0);
    const slots = TallyPlanner.directSlots;
    final direct = _mapOf(document.data()?['direct']);
    final generation = _wholeOf(direct?['generation']) ?? 0;
    final marks = _mapOf(direct?['marks']);
    final now = _mapOf(marks?['${generation % slots}']);
    final before = _mapOf(marks?['${(generation + slots - 1) % slots}']);
    final size = _listOf(now?['nonces'])?.length ?? 0;
    final until = _timeOf(now?['at']);
    final since = _timeOf(before?['at']);
    final hasNoTime = until == null || (before != null && since == null);
    final millis = hasNoTime ? -1 : (_micros(until) - _micros(since)) ~/ 1000;
    return TallyPlanner.directTarget(direct?['open'] == true, generation, size, millis);
  }

  /// Whether a document has the mark of an increment; `null` if its generation is so old that marks were removed.
  static bool? _markIn(Map<String, dynamic>? fields, TallyPlan plan) {
    final direct = _mapOf(fields?['direct']);
    final generation = plan.generation;
    final Map<dynamic, dynamic>? holder = generation == null ? fields : direct;
    final marks = _mapOf(holder?['marks']);
    final nonces = _listOf(_mapOf(marks?[plan.slot])?['nonces']);
    if (nonces != null && nonces.contains(_blobOf(plan.nonce))) return true;
    final oldest = (_wholeOf(direct?['generation']) ?? 0) - TallyPlanner.directSlots + 1;
    return generation != null && generation <= oldest ? null : false;
  }

  /// Commits an increment, and shows it in watches from now on until a total includes it.
  Future<_Committed> _commit(_Call call) async {
    final own = _wasWatched && call.isShown ? _total.incrementMade(call.by) : null;
    call.own = own;
    call.ordered?.isInTotal = own != null;
    if (own != null) _showAll();
    final sentAt = _now();
    final outcome = _commitWithRetries(call);
    if (own != null) unawaited(_showUntilIncluded(own, outcome, sentAt));
    return outcome;
  }

  Future<_Committed> _commitWithRetries(_Call call) async {
    final reading = _refreshShardCount();
    // Without a wait, the increment is given to the plugin when this call returns.
    if (reading != null && _dependsOnCount(call)) await reading;
    final plan = _planFor(call);
    final own = call.own;
    if (own != null) _total.incrementPlanned(own, plan);
    final written = _shardCount.writeSent();
    try {
      final committed = await _sendAndConfirm(call, plan);
      _shardCount.writeAnswered(written, false);
      _answered();
      return committed;
    } catch (error) {
      final isContended = _codeOf(error) == 'aborted';
      final isRefused = isContended || error is _RefusedThere;
      _shardCount.writeAnswered(written, isContended);
      if (isRefused) _answered();
      if (!isRefused && !_isDenied(error)) rethrow;
      // A later call with this `once` has not waited, and decides. So this one must not be repeated; and it may be refused because the
      // later one was committed before the look-up.
      if (_isSuperseded(call.ordered)) return _Committed(plan, true, null);
      if (!isRefused) rethrow;
    }
    return _again(call, plan);
  }

  /// Whether the plan depends on the shard count. An undo with a known shard does not. A call with `once` that is made again does not
  /// wait either: later calls would not wait for it.
  bool _dependsOnCount(_Call call) {
    final undone = call.undoneShard ?? TallyPlanner.direct;
    return call.ordered == null || (call.refusedBy == null && undone == TallyPlanner.direct);
  }

  Future<_Committed> _sendAndConfirm(_Call call, TallyPlan plan) async {
    try {
      return _Committed(plan, false, await _send(call, plan));
    } on FirebaseException catch (error) {
      return await _confirm(plan, error);
    }
  }

  /// A refused write can no longer be committed, so another increment elsewhere is safe.
  Future<_Committed> _again(_Call call, TallyPlan plan) async {
    if (plan.generation != null) call.refusedBy = plan.generation;
    return _commitWithRetries(call);
  }

  /// A transaction first, or the queue. What the transaction leaves without an answer goes to the queue, too: both count
  /// once.
  Future<Timestamp?> _send(_Call call, TallyPlan plan) async {
    final sinceAnswer = _now() - _answeredAt;
    final isContended = _shardCount.isContended();
    final usesTransaction = TallyPlanner.usesTransaction(plan.entry != null, _isWatched(), isContended, sinceAnswer);
    if (plan.generation == null && usesTransaction && !_isOffline && await _isTransacted(plan)) {
      if (!_isWatched()) return null;
      try {
        // The cache does not have the server's timestamp.
        return _timeOf((await _readFromServer(_documentOf(plan), true))?.data()?['at']);
      } catch (_) {
        // The increment is committed all the same.
        return null;
      }
    }
    await _queue(call, plan);
    return null;
  }

  /// Whether a plan was committed in a transaction. If not, its outcome is unknown; if it was refused, this throws.
  ///
  /// A transaction also removes the marks that have expired by this device's clock. If the rules refuse that, the clock may be
  /// wrong: the same plan is sent again without the removal, and if it is accepted, this client removes none from then on.
  /// Writes in the queue may be sent hours later, so they remove none.
  Future<bool> _isTransacted(TallyPlan plan) async {
    final removesMarks = !_keepsMarks;
    try {
      try {
        await _transact(plan, removesMarks);
      } catch (error) {
        if (!removesMarks || _codeOf(error) != 'permission-denied') rethrow;
        await _transact(plan, false);
        _keepsMarks = true;
      }
      return true;
    } catch (error) {
      final code = _codeOf(error);
      if (code == 'aborted' || code == 'permission-denied') rethrow;
      // Also after a TimeoutException or another error of the plugin: the server may have committed it.
      return false;
    }
  }

  Future<void> _transact(TallyPlan plan, bool removesMarks) async {
    await _firestore.runTransaction<void>((own) async {
      for (final write in TallyPlanner.writes(plan, removesMarks)) {
        final document = _firestore.doc(write.path);
        final fields = write.fields;
        if (fields == null) {
          own.delete(document);
        } else {
          own.set(document, _valuesOf(fields), _optionsOf(write));
        }
      }
    }, maxAttempts: 1);
  }

  Future<void> _queue(_Call call, TallyPlan plan) async {
    final ordered = call.ordered;
    final batch = _firestore.batch();
    _addWrites(batch, plan);
    final committed = batch.commit();
    ordered?.isAnswered = false;
    ordered?.isQueued = true;
    ordered?.allowNext();
    try {
      await committed;
    } catch (_) {
      // The SDK no longer shows it. On Android, the plugin may have said so before.
      ordered?.isSeen = false;
      _showEntries();
      rethrow;
    } finally {
      ordered?.isAnswered = true;
    }
  }

  TallyPlan _planFor(_Call call) {
    final generation = _generationFor(call);
    final once = call.ordered?.once;
    final isUndo = call.undoneShard != null;
    if (generation != null) {
      _room -= 1;
      final group = _isMissing ? _groupOf(id) : null;
      return TallyPlanner.planDirect(path, generation, group, call.by, _random, once, isUndo);
    }
    final shard = call.undoneShard ?? TallyPlanner.randomShard(_shardCount.shardsToChooseFrom(), _random);
    return TallyPlanner.planIncrement(path, shard, call.by, _now(), _random, once, isUndo);
  }

  /// The generation of the counter document that an increment joins, `null` for a shard. A write in the queue of a device that is
  /// offline may be sent when its generation is over, and nothing would make it again if the app has ended meanwhile: so it goes to a
  /// shard.
  int? _generationFor(_Call call) {
    final isOnline = !_isOffline && (_isLive || _now() - _answeredAt < TallyPlanner.onlineMillis);
    final isCalm = !_shardCount.isStale(_isLive) && !_shardCount.isContended();
    final undone = call.undoneShard ?? TallyPlanner.direct;
    final mayBeDirect = isOnline && isCalm && undone == TallyPlanner.direct;
    final found = mayBeDirect && _room > 0 ? _target?.generation : null;
    // If a generation that has refused this increment still takes others, the policy refuses direct increments.
    return found == call.refusedBy ? null : found;
  }

  void _addWrites(WriteBatch batch, TallyPlan plan) {
    for (final write in TallyPlanner.writes(plan, false)) {
      final document = _firestore.doc(write.path);
      final fields = write.fields;
      if (fields == null) {
        batch.delete(document);
      } else {
        batch.set(document, _valuesOf(fields), _optionsOf(write));
      }
    }
  }

  static SetOptions? _optionsOf(TallyWrite write) => write.merge ? SetOptions(merge: true) : null;

  static Map<String, dynamic> _valuesOf(Map<String, TallyValue> fields) =>
      fields.map((name, value) => MapEntry(name, _valueOf(value)));

  static Object _valueOf(TallyValue value) {
    if (value is TallyText) return value.text;
    if (value is TallyWhole) return value.number;
    if (value is TallyFlag) return value.isTrue;
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
    final isDirect = plan.generation != null;
    if (!isAborted && cause.code != 'permission-denied') throw cause;
    final written = await _readFromServer(_documentOf(plan), true);
    final fields = written?.data();
    final hasMark = _markIn(fields, plan) == true;
    if (isDirect) _learn(written, fields?['growing'] == true, null);
    int? countedBy;
    final entry = plan.entry;
    if (entry != null && !hasMark && !isAborted && !plan.isUndo) {
      final found = await _readFromServer(_firestore.doc(entry), true);
      countedBy = _wholeOf(found?.data()?['by']);
    }
    switch (TallyPlanner.judgeRefusal(isAborted, hasMark, countedBy, plan.by, isDirect)) {
      case 'committed':
        return _Committed(plan, false, _timeOf(fields?['at']));
      case 'counted':
        return _Committed(plan, true, null);
      case 'retry':
        if (isAborted) throw cause;
        throw const _RefusedThere();
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
  /// With [persist], repeats until there is an answer, or an error that repetition does not end. Not by more attempts of the
  /// transaction: the plugin would wait for the handler again, which has ended.
  Future<DocumentSnapshot<Map<String, dynamic>>?> _readFromServer(
    DocumentReference<Map<String, dynamic>> document,
    bool persist,
  ) async {
    for (var seconds = 1; ; seconds = min(seconds * 2, 60)) {
      DocumentSnapshot<Map<String, dynamic>>? snapshot;
      // In a browser, what the handler throws arrives as an error without a code.
      Object? thrown;
      try {
        await _firestore.runTransaction<void>((own) async {
          try {
            snapshot = await own.get(document);
          } catch (error) {
            thrown = error;
          }
          throw const _NothingToCommit();
        }, maxAttempts: 1);
      } catch (error) {
        if (snapshot != null) return snapshot;
        final cause = thrown ?? error;
        final code = _codeOf(cause);
        if (code == 'permission-denied') return null;
        final mayPass = cause is TimeoutException || (code != null && !_permanent.contains(code));
        if (!persist || !mayPass) throw cause;
      }
      await Future<void>.delayed(Duration(seconds: seconds));
    }
  }

  /// Reads the counter document if the known shard count is stale. Never fails.
  ///
  /// Returns what an increment waits for, eight seconds at most for the first read, one for later ones; `null` if it need not wait,
  /// because the count is fresh or the device is taken to be offline.
  Future<void>? _refreshShardCount() {
    if (!_shardCount.isStale(_isLive)) return null;
    final reading = _reading ?? _readShardCountInTime();
    _reading = reading;
    return _isOffline ? null : reading;
  }

  Future<void> _readShardCountInTime() {
    final timeout = Duration(milliseconds: _shardCount.countTimeout());
    return _readShardCount().timeout(
      timeout,
      onTimeout: () {
        _isOffline = true;
      },
    );
  }

  Future<void> _readShardCount() async {
    DocumentSnapshot<Map<String, dynamic>>? document;
    int? readMillis;
    final sentAt = _now();
    try {
      document = await _readFromServer(_firestore.doc(path), false);
      readMillis = _now() - sentAt;
      _answered();
    } catch (error) {
      // Any shard count is safe.
      if (_codeOf(error) == 'unavailable') _isOffline = true;
    } finally {
      _reading = null;
      _learn(document, document?.data()?['growing'] == true, readMillis);
    }
  }

  /// Shows an increment in the watches until a total includes it.
  Future<void> _showUntilIncluded(TallyOwnIncrement own, Future<_Committed> outcome, int sentAt) async {
    var at = 0;
    try {
      at = await _instantOf(await outcome);
    } catch (_) {
      // The caller gets the error.
    }
    if (at == 0) {
      _total.incrementRefused(own);
    } else {
      _total.incrementCommitted(own, TallyPlanner.latestCommit(at, _now() - sentAt));
      // A total between both bounds may include the increment or not. It does if no other total has followed by then.
      _decideLater(() {
        _total.incrementCommitted(own, at);
        _showAll();
      });
    }
    _showAll();
  }

  /// The server's time of a committed increment in microseconds; 0 if watches are to show it no longer.
  Future<int> _instantOf(_Committed committed) async {
    // It had counted before; or no view is left that could show the increment.
    if (committed.countedBefore || !_isWatched()) return 0;
    // Its mark tells which totals include it.
    if (committed.plan.generation != null) return 1;
    return _micros(committed.at ?? await _timestampOf(_documentOf(committed.plan)));
  }

  /// The server's time of this client's last write on a shard that went through the queue.
  Future<Timestamp?> _timestampOf(DocumentReference<Map<String, dynamic>> shard) async {
    for (final source in const [Source.cache, Source.serverAndCache]) {
      try {
        const previous = ServerTimestampBehavior.previous;
        final snapshot = await shard.get(GetOptions(source: source, serverTimestampBehavior: previous));
        return _timeOf(snapshot.data()?['at']);
      } catch (_) {
        // The cache does not have it.
      }
    }
    return null;
  }
}
