package com.google.firebase.firestore;

import com.google.firebase.firestore.FirebaseFirestoreException.Code;

/** What happens to a commit. The queue sends one again after every code but a refusal by the rules. */
public enum Fault {
  /** Refused as contended. */
  ABORT(false, Code.ABORTED),

  /** Refused by the rules. */
  DENY(false, Code.PERMISSION_DENIED),

  /** Of a read: the user's sign-in is no longer valid. */
  UNAUTHENTICATED(false, Code.UNAUTHENTICATED),

  /** No answer, and not committed. */
  FAIL(false, Code.UNAVAILABLE),

  /** No answer until `release`, then committed. */
  HANG(false, null),

  /** Committed, but the answer is lost; or a repetition below the SDK gets this answer. */
  LOSE_ANSWER(true, Code.UNAVAILABLE),

  /** As `LOSE_ANSWER`, of each batch in the queue: the SDK sends several before the first answer. */
  LOSE_ALL(true, Code.UNAVAILABLE),
  LOSE_LATE(true, Code.DEADLINE_EXCEEDED),
  LOSE_ABORTED(true, Code.ABORTED),
  LOSE_DENIED(true, Code.PERMISSION_DENIED);

  final boolean isCommitted;
  final Code code;

  Fault(boolean isCommitted, Code code) {
    this.isCommitted = isCommitted;
    this.code = code;
  }
}
