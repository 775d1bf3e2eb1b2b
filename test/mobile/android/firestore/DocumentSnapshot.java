package com.google.firebase.firestore;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import com.google.firebase.Timestamp;
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

  @Nullable
  public Boolean getBoolean(@NonNull String field) {
    return typed(get(field), field, Boolean.class);
  }

  @Nullable
  public Double getDouble(@NonNull String field) {
    Number number = typed(get(field), field, Number.class);
    return number == null ? null : number.doubleValue();
  }

  @Nullable
  public String getString(@NonNull String field) {
    return typed(get(field), field, String.class);
  }

  @Nullable
  public Long getLong(@NonNull String field) {
    Number number = typed(get(field), field, Number.class);
    return number == null ? null : number.longValue();
  }

  @Nullable
  public Timestamp getTimestamp(@NonNull String field) {
    return getTimestamp(field, ServerTimestampBehavior.NONE);
  }

  @Nullable
  public Timestamp getTimestamp(@NonNull String field, @NonNull ServerTimestampBehavior serverTimestampBehavior) {
    return typed(get(field, serverTimestampBehavior), field, Timestamp.class);
  }

  private static <T> T typed(Object value, String field, Class<T> type) {
    if (value == null || type.isInstance(value)) return type.cast(value);
    throw new RuntimeException(field + " is no " + type.getSimpleName() + " but " + value);
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
