package com.google.android.gms.tasks;

import android.os.Handler;
import android.os.Looper;
import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import java.util.ArrayList;
import java.util.List;

/** Listeners and continuations are posted to the main thread, even those of a task that is complete. */
public class Task<TResult> {
  private static final Handler MAIN = new Handler(Looper.getMainLooper());
  private final List<Runnable> waiting = new ArrayList<>();
  private boolean isComplete;
  private TResult result;
  private Exception exception;

  Task() {}

  public boolean isComplete() {
    return isComplete;
  }

  public boolean isSuccessful() {
    return isComplete && exception == null;
  }

  @Nullable
  public Exception getException() {
    return exception;
  }

  public TResult getResult() {
    if (!isComplete) throw new IllegalStateException("the task has no result yet");
    if (exception != null) throw new RuntimeExecutionException(exception);
    return result;
  }

  @NonNull
  public Task<TResult> addOnCompleteListener(@NonNull OnCompleteListener<TResult> listener) {
    whenComplete(() -> MAIN.post(() -> listener.onComplete(this)));
    return this;
  }

  @NonNull
  public Task<TResult> addOnSuccessListener(@NonNull OnSuccessListener<? super TResult> listener) {
    whenComplete(
        () -> {
          if (isSuccessful()) MAIN.post(() -> listener.onSuccess(result));
        });
    return this;
  }

  @NonNull
  public <TContinuationResult> Task<TContinuationResult> continueWithTask(
      @NonNull Continuation<TResult, Task<TContinuationResult>> continuation) {
    Task<TContinuationResult> next = new Task<>();
    addOnCompleteListener(done -> next.follow(() -> continuation.then(done)));
    return next;
  }

  @NonNull
  public <TContinuationResult> Task<TContinuationResult> onSuccessTask(
      @NonNull SuccessContinuation<TResult, TContinuationResult> continuation) {
    Task<TContinuationResult> next = new Task<>();
    addOnCompleteListener(done -> next.follow(() -> continuation.then(done.getResult())));
    return next;
  }

  boolean complete(TResult result, Exception exception) {
    if (isComplete) return false;
    this.result = result;
    this.exception = exception;
    isComplete = true;
    waiting.forEach(Runnable::run);
    return true;
  }

  private void whenComplete(Runnable run) {
    if (isComplete) run.run();
    else waiting.add(run);
  }

  private void follow(Step<TResult> step) {
    try {
      Task<TResult> inner = step.take();
      if (inner == null) throw new NullPointerException("a continuation returned null");
      inner.whenComplete(() -> complete(inner.result, inner.exception));
    } catch (RuntimeExecutionException error) {
      complete(null, (Exception) error.getCause());
    } catch (Exception error) {
      complete(null, error);
    }
  }

  private interface Step<T> {
    Task<T> take() throws Exception;
  }

  /** What reading the result of a failed task throws. */
  private static final class RuntimeExecutionException extends RuntimeException {
    RuntimeExecutionException(Exception cause) {
      super(cause);
    }
  }
}
