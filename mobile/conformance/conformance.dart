// Answers each line of standard input with one line: what the planner of tally.dart does with it. mobile/conformance/run.ts
// makes the lines from docs/vectors.json and compares the answers. Conformance.kt and Conformance.swift do the same.
import 'dart:convert';
import 'dart:io';

import 'tally.dart';

Future<void> main() async {
  final conformance = Conformance();
  final output = utf8.encoder;
  await for (final line in stdin.transform(utf8.decoder).transform(const LineSplitter())) {
    stdout.add(output.convert('${conformance.answer(line.split('\t'))}\n'));
  }
  await stdout.flush();
}

class Conformance {
  int now = 0;
  late TallyShardCount counts = TallyShardCount(() => now);
  final List<TallySentWrite> sent = [];
  TallyTotal totals = TallyTotal();
  List<TallyOwnIncrement> own = [];

  String answer(List<String> words) {
    switch (words[0]) {
      case 'name':
        return '${TallyPlanner.isValidName(numbers(words[1]))}';
      case 'plan':
        return plan(words);
      case 'direct':
        return direct(words);
      case 'target':
        return target(words);
      case 'refusal':
        final countedBy = int.tryParse(words[3]);
        final by = int.parse(words[4]);
        return TallyPlanner.judgeRefusal(words[1] == 'true', words[2] == 'true', countedBy, by, words[5] == 'true');
      case 'shardCount':
        return shardCount(words);
      case 'total':
        return total(words);
      default:
        return 'unknown: ${words[0]}';
    }
  }

  /// call, counter, shard or shards to choose from, amount, once, time, random numbers, whether it removes marks
  String plan(List<String> words) {
    final numbers = words[7].split(' ').map(double.parse).toList();
    double random() => numbers.removeAt(0);
    final isUndo = words[1] == 'undo';
    final shard = isUndo ? words[3] : TallyPlanner.randomShard(double.parse(words[3]), random);
    final amount = int.parse(words[4]);
    final once = words[5] == '' ? null : words[5];
    final by = isUndo ? -amount : amount;
    final plan = TallyPlanner.planIncrement(words[2], shard, by, int.parse(words[6]), random, once, isUndo);
    return TallyPlanner.writes(plan, words[8] == 'true').map(written).join('\t');
  }

  /// call, counter, generation, whether it creates the document, its group then, amount, once, random numbers
  String direct(List<String> words) {
    final numbers = words[8].split(' ').map(double.parse).toList();
    double random() => numbers.removeAt(0);
    final isUndo = words[1] == 'undo';
    final amount = int.parse(words[6]);
    final by = isUndo ? -amount : amount;
    final group = words[4] == 'true' ? words[5] : null;
    final once = words[7] == '' ? null : words[7];
    final plan = TallyPlanner.planDirect(words[2], int.parse(words[3]), group, by, random, once, isUndo);
    return TallyPlanner.writes(plan, false).map(written).join('\t');
  }

  /// whether it is open, the generation, its marks, the milliseconds since the one before
  String target(List<String> words) {
    final size = int.parse(words[3]);
    final target = TallyPlanner.directTarget(words[1] == 'true', int.parse(words[2]), size, int.parse(words[4]));
    return '${target.generation ?? 'shard'} ${target.room} ${target.shards}';
  }

  List<int> numbers(String text) {
    final found = <int>[];
    for (final word in text.split(' ')) {
      final number = int.tryParse(word);
      if (number != null) found.add(number);
    }
    return found;
  }

  String written(TallyWrite write) {
    final kind = write.fields == null ? 'delete' : (write.merge ? 'merge' : 'create');
    return [kind, write.path, ...leaves('', write.fields ?? {})..sort()].join(' ');
  }

  List<String> leaves(String prefix, Map<String, TallyValue> fields) {
    final found = <String>[];
    fields.forEach((name, value) {
      final field = '$prefix$name';
      if (value is TallyText) found.add('$field=text:${value.text}');
      if (value is TallyWhole) found.add('$field=whole:${value.number}');
      if (value is TallyFlag) found.add('$field=flag:${value.isTrue}');
      if (value is TallyIncrement) found.add('$field=increment:${value.by}');
      if (value is TallyServerTime) found.add('$field=serverTime');
      if (value is TallyAppend) found.add('$field=append:${value.bytes.join(',')}');
      if (value is TallyFields) found.addAll(leaves('$field.', value.fields));
      if (value is TallyDelete) found.add('$field=delete');
    });
    return found;
  }

  /// what, time; for an update the shard count, whether it grows, how long the read took; for an answer whether it is a refusal
  String shardCount(List<String> words) {
    if (words[1] == 'begin') {
      counts = TallyShardCount(() => now);
      sent.clear();
    } else {
      now = int.parse(words[2]);
    }
    if (words[1] == 'update') counts.update(double.tryParse(words[3]), words[4] == 'true', int.tryParse(words[5]));
    if (words[1] == 'sent') sent.add(counts.writeSent());
    if (words[1] == 'answered') counts.writeAnswered(sent[int.parse(words[4])], words[3] == 'true');
    if (words[1] == 'countTimeout') return '${counts.countTimeout()}';
    return '${counts.shardsToChooseFrom()} ${counts.isStale(false)} ${counts.isContended()}';
  }

  /// what, and its numbers: an amount; an increment, its time and the round trip; an increment; an increment and whether it is
  /// direct; a total, its time, its source, the increments whose marks it has, and those whose marks may be gone
  String total(List<String> words) {
    switch (words[1]) {
      case 'begin':
        totals = TallyTotal();
        own = [];
      case 'made':
        own.add(totals.incrementMade(int.parse(words[2])));
      case 'committed':
        final latest = TallyPlanner.latestCommit(instant(words[3]), int.parse(words[4]));
        totals.incrementCommitted(own[int.parse(words[2])], latest);
      case 'refused':
        totals.incrementRefused(own[int.parse(words[2])]);
      case 'planned':
        final which = int.parse(words[2]);
        totals.incrementPlanned(own[which], planOf(which, words[3] == 'true'));
      case 'read':
        final has = numbers(words[5]);
        final gone = numbers(words[6]);
        bool? hasMark(TallyPlan plan) => gone.contains(plan.nonce[0]) ? null : has.contains(plan.nonce[0]);
        totals.totalRead(double.parse(words[2]), instant(words[3]), words[4] == 'true', hasMark);
    }
    return '${totals.total()} ${totals.isPending()}';
  }

  /// The plan of an increment, whose nonce is its number.
  TallyPlan planOf(int which, bool isDirect) {
    double random() => which / 256;
    return isDirect
        ? TallyPlanner.planDirect('c/x', 0, null, 1, random, null, false)
        : TallyPlanner.planIncrement('c/x', '0', 1, 0, random, null, false);
  }

  /// Microseconds, by way of a timestamp's seconds and nanoseconds.
  int instant(String word) {
    final micros = int.parse(word);
    return TallyPlanner.micros(micros ~/ 1000000, micros % 1000000 * 1000 + 999);
  }
}
