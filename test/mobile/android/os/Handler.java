package android.os;

import androidx.annotation.NonNull;

public class Handler {
  private final Looper looper;

  public Handler(@NonNull Looper looper) {
    this.looper = looper;
  }

  public final boolean post(@NonNull Runnable r) {
    return postDelayed(r, 0);
  }

  public final boolean postDelayed(@NonNull Runnable r, long delayMillis) {
    looper.post(r, delayMillis);
    return true;
  }
}
