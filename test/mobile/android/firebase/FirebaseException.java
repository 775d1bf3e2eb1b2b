package com.google.firebase;

import androidx.annotation.NonNull;

public class FirebaseException extends Exception {
  public FirebaseException(@NonNull String detailMessage) {
    super(detailMessage);
  }
}
