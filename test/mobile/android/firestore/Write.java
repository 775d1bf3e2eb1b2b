package com.google.firebase.firestore;

import com.google.firebase.Timestamp;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One write of a batch or a transaction: a merge, a new document, or without fields a deletion. */
final class Write {
  final String path;
  private final Map<String, Object> fields;
  private final boolean replaces;

  private Write(String path, Map<String, Object> fields, boolean replaces) {
    this.path = path;
    this.fields = fields;
    this.replaces = replaces;
  }

  @SuppressWarnings("unchecked")
  static Write set(DocumentReference document, Object data, boolean replaces) {
    return new Write(document.getPath(), (Map<String, Object>) data, replaces);
  }

  static Write delete(DocumentReference document) {
    return new Write(document.getPath(), null, true);
  }

  /** The server's document after this write; null if there is none. */
  Map<String, Object> apply(Map<String, Object> before, Timestamp at) {
    return fields == null ? null : merge(replaces ? null : before, replaces ? null : before, fields, at);
  }

  /**
   * The document as the device shows it while the write has no answer.
   *
   * @param base the document when the write was made: increments add to its numbers, so one that the server has counted shows once
   */
  Map<String, Object> applyLocally(Map<String, Object> before, Map<String, Object> base) {
    return fields == null ? null : merge(replaces ? null : before, replaces ? null : base, fields, null);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> merge(Object before, Object base, Map<String, Object> fields, Timestamp at) {
    Map<String, Object> after = new HashMap<>();
    if (before instanceof Map) after.putAll((Map<String, Object>) before);
    fields.forEach(
        (name, value) -> {
          Object basis = base instanceof Map ? ((Map<String, Object>) base).get(name) : null;
          if (value == FieldValue.DELETE) after.remove(name);
          else after.put(name, merged(after.get(name), basis, value, at));
        });
    return after;
  }

  @SuppressWarnings("unchecked")
  private static Object merged(Object before, Object base, Object value, Timestamp at) {
    if (value == FieldValue.NOW) return at == null ? new DocumentSnapshot.PendingTime(before) : at;
    if (value instanceof Map) return merge(before, base, (Map<String, Object>) value, at);
    if (value instanceof FieldValue.Increment) {
      long by = ((FieldValue.Increment) value).by;
      // Not by `?:`, which would make both a double.
      if (base instanceof Double) return (Double) base + by;
      return (base instanceof Long ? (Long) base : 0) + by;
    }
    if (!(value instanceof FieldValue.Union)) return value;
    List<Object> all = new ArrayList<>(before instanceof List ? (List<Object>) before : new ArrayList<>());
    for (Object element : ((FieldValue.Union) value).elements) if (!all.contains(element)) all.add(element);
    return all;
  }
}
