package com.google.firebase.firestore;

import androidx.annotation.NonNull;

public final class SetOptions {
  private static final SetOptions MERGE = new SetOptions();

  private SetOptions() {}

  @NonNull
  public static SetOptions merge() {
    return MERGE;
  }
}
