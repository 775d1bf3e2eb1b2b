package com.google.android.gms.tasks;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;

public class TaskCompletionSource<TResult> {
  private final Task<TResult> task = new Task<>();

  @NonNull
  public Task<TResult> getTask() {
    return task;
  }

  public void setResult(@Nullable TResult result) {
    if (!trySetResult(result)) throw new IllegalStateException("the task is complete");
  }

  public boolean trySetResult(@Nullable TResult result) {
    return task.complete(result, null);
  }

  public void setException(@NonNull Exception e) {
    if (!trySetException(e)) throw new IllegalStateException("the task is complete");
  }

  public boolean trySetException(@NonNull Exception e) {
    return task.complete(null, e);
  }
}
