package android.os;

import androidx.annotation.NonNull;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The messages of the main thread, by a virtual clock, and the work of the SDK's thread. Both run when a scenario says so, and only one at a
 * time: first what the main thread has to do now, in order; then a piece of the SDK's work; when neither is left, the clock moves on.
 */
public final class Looper {
  private static final int MOST_STEPS = 100_000;
  private static final Looper MAIN = new Looper();
  private static final ExecutorService SDK =
      Executors.newSingleThreadExecutor(
          work -> {
            Thread thread = new Thread(work, "SDK");
            thread.setDaemon(true);
            return thread;
          });

  private final Thread thread = Thread.currentThread();
  private final PriorityQueue<Message> messages =
      new PriorityQueue<>(Comparator.<Message>comparingLong(one -> one.at).thenComparing(one -> one.number));
  private final Queue<Runnable> work = new ArrayDeque<>();
  private long now;
  private long posted;

  private Looper() {}

  @NonNull
  public static Looper getMainLooper() {
    return MAIN;
  }

  public boolean isCurrentThread() {
    return Thread.currentThread() == thread;
  }

  void post(Runnable run, long delay) {
    messages.add(new Message(run, now + delay, posted++));
  }

  /** For the SDK: runs something on a thread of its own. */
  public static void work(Runnable run) {
    MAIN.work.add(run);
  }

  /** For scenarios: runs what is to be done now. */
  public static void runAll() {
    advance(0);
  }

  /** For scenarios: runs what is to be done now and within these milliseconds. */
  public static void advance(long millis) {
    long end = MAIN.now + millis;
    for (int step = 0; ; step++) {
      if (step == MOST_STEPS) throw new IllegalStateException("it does not come to an end");
      Message next = MAIN.messages.peek();
      if (next != null && next.at <= MAIN.now) MAIN.messages.remove().run.run();
      else if (!MAIN.work.isEmpty()) runElsewhere(MAIN.work.remove());
      else if (next != null && next.at <= end) MAIN.now = next.at;
      else break;
    }
    MAIN.now = end;
  }

  /** For scenarios: forgets what is left after an exception. */
  public static void clear() {
    MAIN.messages.clear();
    MAIN.work.clear();
  }

  private static void runElsewhere(Runnable run) {
    try {
      SDK.submit(run).get();
    } catch (ExecutionException | InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  private static final class Message {
    final Runnable run;
    final long at;
    final long number;

    Message(Runnable run, long at, long number) {
      this.run = run;
      this.at = at;
      this.number = number;
    }
  }
}
