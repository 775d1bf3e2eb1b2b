package com.google.firebase.firestore;

import androidx.annotation.NonNull;
import java.util.Arrays;
import java.util.List;

public abstract class FieldValue {
  static final FieldValue NOW = new FieldValue() {};
  static final FieldValue DELETE = new FieldValue() {};

  static final class Increment extends FieldValue {
    final long by;

    Increment(long by) {
      this.by = by;
    }
  }

  static final class Union extends FieldValue {
    final List<Object> elements;

    Union(Object[] elements) {
      this.elements = Arrays.asList(elements);
    }
  }

  @NonNull
  public static FieldValue delete() {
    return DELETE;
  }

  @NonNull
  public static FieldValue serverTimestamp() {
    return NOW;
  }

  @NonNull
  public static FieldValue arrayUnion(Object... elements) {
    return new Union(elements);
  }

  @NonNull
  public static FieldValue increment(long l) {
    return new Increment(l);
  }
}
