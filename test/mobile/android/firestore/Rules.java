package com.google.firebase.firestore;

import com.google.firebase.Timestamp;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a client meets of firestore.rules in one commit: each increment adds a nonce to one slot; an entry and its increment are one commit; an increment
 * in the counter document joins a generation that takes it.
 */
final class Rules {
  private final Map<String, Map<String, Object>> before;
  private final Map<String, Map<String, Object>> after;
  private final Timestamp now;

  Rules(Map<String, Map<String, Object>> before, Map<String, Map<String, Object>> after, Timestamp now) {
    this.before = before;
    this.after = after;
    this.now = now;
  }

  boolean allow(String path) {
    String[] names = path.split("/");
    String counter = names[0] + "/" + names[1];
    if (path.contains("/tallyEntries/")) {
      Map<String, Object> entry = map(before.containsKey(path) ? before.get(path) : after.get(path));
      boolean isUndo = !after.containsKey(path);
      return before.containsKey(path) == isUndo
          && entry.get("by") instanceof Long
          && (isWritten(counter, entry.get("shard")) || (isUndo && "direct".equals(entry.get("shard")) && isWritten(counter, "0")));
    }
    if (!after.containsKey(path)) return false;
    boolean isDirect = names.length == 2;
    return (isDirect ? isDirectIncrement(path) : leavesMark(marksOf(before.get(path)), marksOf(after.get(path))))
        && isAllowedOnce(counter, isDirect ? "direct" : names[3]);
  }

  /** Whether an entry of this commit belongs to its increment. Likes need one. */
  private boolean isAllowedOnce(String counter, String shard) {
    long by = count(after, counter, shard) - count(before, counter, shard);
    Set<String> entries = new HashSet<>(before.keySet());
    entries.addAll(after.keySet());
    entries.removeIf(path -> !path.startsWith(counter + "/tallyEntries/") || before.get(path) == after.get(path));
    if (entries.isEmpty()) return !counter.contains("/likes:");
    String path = entries.iterator().next();
    if (entries.size() > 1 || (before.containsKey(path) && after.containsKey(path))) return false;
    boolean isUndo = before.containsKey(path);
    Map<String, Object> entry = isUndo ? before.get(path) : after.get(path);
    Object counted = entry.get("shard");
    boolean isThere = shard.equals(counted) || (isUndo && shard.equals("0") && "direct".equals(counted) && !isWritten(counter, counted));
    return isThere && Long.valueOf(isUndo ? -by : by).equals(entry.get("by"));
  }

  private boolean isWritten(String counter, Object shard) {
    return !field(before, counter, shard, "writes").equals(field(after, counter, shard, "writes"));
  }

  private static long count(Map<String, Map<String, Object>> documents, String counter, Object shard) {
    return field(documents, counter, shard, "count");
  }

  private static Long field(Map<String, Map<String, Object>> documents, String counter, Object shard, String name) {
    boolean isDirect = "direct".equals(shard);
    Map<String, Object> document = map(documents.get(isDirect ? counter : counter + "/shards/" + shard));
    Object value = (isDirect ? map(document.get("direct")) : document).get(name);
    return value instanceof Long ? (Long) value : 0L;
  }

  private boolean isDirectIncrement(String path) {
    Map<String, Object> old = map(map(before.get(path)).get("direct"));
    Map<String, Object> direct = map(after.get(path).get("direct"));
    boolean isOpen = before.containsKey(path) ? Boolean.TRUE.equals(old.get("open")) : after.get(path).containsKey("group");
    return isOpen && Boolean.TRUE.equals(direct.get("open")) && joins(old, direct);
  }

  /** Of the eight slots, that of the generation gets a mark, of four at most, and that of the next is removed. */
  private boolean joins(Map<String, Object> old, Map<String, Object> direct) {
    long current = old.get("generation") instanceof Long ? (Long) old.get("generation") : 0;
    if (!(direct.get("generation") instanceof Long)) return false;
    long generation = (Long) direct.get("generation");
    Map<String, Object> marks = marksOf(old);
    if (generation != current && !(generation == current + 1 && mayEnd(marks, current))) return false;
    String name = String.valueOf(generation % 8);
    String next = String.valueOf((generation + 1) % 8);
    Set<String> changed = changed(marks, marksOf(direct));
    changed.remove(next);
    return changed.equals(Set.of(name))
        && !marksOf(direct).containsKey(next)
        && nonces(marks.get(name)).size() < 4
        && addsNonce(marks.get(name), marksOf(direct).get(name));
  }

  /** A generation has four marks, and the last of them came a minute after that of the generation before, if there is one. */
  private static boolean mayEnd(Map<String, Object> marks, long generation) {
    Object last = map(marks.get(String.valueOf(generation % 8))).get("at");
    Object before = map(marks.get(String.valueOf((generation + 7) % 8))).get("at");
    if (nonces(marks.get(String.valueOf(generation % 8))).size() < 4) return false;
    return !(before instanceof Timestamp) || isOver((Timestamp) before, 60, (Timestamp) last);
  }

  /** One slot of a shard gets a mark. Others stay, or are removed two minutes after their last write. */
  private boolean leavesMark(Map<String, Object> old, Map<String, Object> marks) {
    int marked = 0;
    for (String slot : changed(old, marks)) {
      if (!marks.containsKey(slot) && isOver((Timestamp) map(old.get(slot)).get("at"), 120, now)) continue;
      if (!addsNonce(old.get(slot), marks.get(slot))) return false;
      marked++;
    }
    return marked == 1;
  }

  private static Set<String> changed(Map<String, Object> old, Map<String, Object> marks) {
    Set<String> slots = new HashSet<>(old.keySet());
    slots.addAll(marks.keySet());
    slots.removeIf(slot -> map(old.get(slot)).equals(map(marks.get(slot))));
    return slots;
  }

  private static boolean addsNonce(Object old, Object slot) {
    return nonces(slot).size() == nonces(old).size() + 1;
  }

  private static boolean isOver(Timestamp at, int seconds, Timestamp by) {
    return new Timestamp(at.getSeconds() + seconds, at.getNanoseconds()).compareTo(by) <= 0;
  }

  private static Map<String, Object> marksOf(Map<String, Object> document) {
    return map(map(document).get("marks"));
  }

  private static List<?> nonces(Object slot) {
    Object nonces = map(slot).get("nonces");
    return nonces instanceof List ? (List<?>) nonces : List.of();
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(Object value) {
    return value instanceof Map ? (Map<String, Object>) value : new HashMap<>();
  }
}
