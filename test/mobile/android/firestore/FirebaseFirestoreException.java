package com.google.firebase.firestore;

import androidx.annotation.NonNull;
import com.google.firebase.FirebaseException;

public class FirebaseFirestoreException extends FirebaseException {
  public enum Code { ABORTED, UNAUTHENTICATED, DEADLINE_EXCEEDED, PERMISSION_DENIED, UNAVAILABLE }

  private final Code code;

  public FirebaseFirestoreException(@NonNull String detailMessage, @NonNull Code code) {
    super(detailMessage);
    this.code = code;
  }

  @NonNull
  public Code getCode() {
    return code;
  }
}
