package com.google.firebase.firestore;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** As the SDK's, it throws if a field has another type than the one asked for. */
public class DocumentSnapshot {
  public enum ServerTimestampBehavior { NONE, ESTIMATE, PREVIOUS }

  /** The server's time in a write without an answer. */
  static final class PendingTime {
    final Object previous;

    PendingTime(Object previous) {
      this.previous = previous instanceof PendingTime ? ((PendingTime) previous).previous : previous;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof PendingTime && Objects.equals(previous, ((PendingTime) other).previous);
    }

    @Override
    public int hashCode() {
      return Objects.hashCode(previous);
    }
  }

  final Map<String, Object> fields;
  private final SnapshotMetadata metadata;

  DocumentSnapshot(Map<String, Object> fields, SnapshotMetadata metadata) {
    this.fields = fields;
    this.metadata = metadata;
  }

  @NonNull
  public SnapshotMetadata getMetadata() {
    return metadata;
  }

  public boolean exists() {
    return fields != null;
  }

  @Nullable
  public Object get(@NonNull String field) {
    return get(field, ServerTimestampBehavior.NONE);
  }

  @Nullable
  public Object get(@NonNull String field, @NonNull ServerTimestampBehavior serverTimestampBehavior) {
    Object value = fields;
    for (String name : field.split("\\.")) value = value instanceof Map ? ((Map<?, ?>) value).get(name) : null;
    return shown(value, serverTimestampBehavior);
  }

  private static Object shown(Object value, ServerTimestampBehavior behavior) {
    if (value instanceof PendingTime)
      return behavior == ServerTimestampBehavior.PREVIOUS ? ((PendingTime) value).previous : null;
    if (!(value instanceof Map)) return value;
    Map<Object, Object> shown = new HashMap<>();
    ((Map<?, ?>) value).forEach((name, one) -> shown.put(name, shown(one, behavior)));
    return shown;
  }
}
