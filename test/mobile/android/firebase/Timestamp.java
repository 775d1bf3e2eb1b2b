package com.google.firebase;

import androidx.annotation.NonNull;

public final class Timestamp implements Comparable<Timestamp> {
  private final long seconds;
  private final int nanoseconds;

  public Timestamp(long seconds, int nanoseconds) {
    this.seconds = seconds;
    this.nanoseconds = nanoseconds;
  }

  public long getSeconds() {
    return seconds;
  }

  public int getNanoseconds() {
    return nanoseconds;
  }

  @Override
  public int compareTo(@NonNull Timestamp other) {
    return seconds == other.seconds ? Integer.compare(nanoseconds, other.nanoseconds) : Long.compare(seconds, other.seconds);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Timestamp && compareTo((Timestamp) other) == 0;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(seconds * 1_000_000_000 + nanoseconds);
  }

  @Override
  public String toString() {
    return "Timestamp(" + seconds + ", " + nanoseconds + ")";
  }
}
