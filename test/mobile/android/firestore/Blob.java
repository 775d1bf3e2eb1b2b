package com.google.firebase.firestore;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import java.util.Arrays;

public class Blob implements Comparable<Blob> {
  private final byte[] bytes;

  private Blob(byte[] bytes) {
    this.bytes = bytes;
  }

  @NonNull
  public static Blob fromBytes(@NonNull byte[] bytes) {
    return new Blob(bytes.clone());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Blob && Arrays.equals(bytes, ((Blob) other).bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public int compareTo(@NonNull Blob other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }
}
