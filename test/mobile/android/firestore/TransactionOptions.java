package com.google.firebase.firestore;

import androidx.annotation.NonNull;

public final class TransactionOptions {
  private final int maxAttempts;

  private TransactionOptions(int maxAttempts) {
    this.maxAttempts = maxAttempts;
  }

  public int getMaxAttempts() {
    return maxAttempts;
  }

  public static final class Builder {
    private int maxAttempts = 5;

    @NonNull
    public Builder setMaxAttempts(int maxAttempts) {
      this.maxAttempts = maxAttempts;
      return this;
    }

    @NonNull
    public TransactionOptions build() {
      return new TransactionOptions(maxAttempts);
    }
  }
}
