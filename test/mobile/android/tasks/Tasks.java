package com.google.android.gms.tasks;

import androidx.annotation.NonNull;

public final class Tasks {
  @NonNull
  public static <TResult> Task<TResult> forResult(TResult result) {
    Task<TResult> task = new Task<>();
    task.complete(result, null);
    return task;
  }

  @NonNull
  public static <TResult> Task<TResult> forException(@NonNull Exception e) {
    Task<TResult> task = new Task<>();
    task.complete(null, e);
    return task;
  }
}
