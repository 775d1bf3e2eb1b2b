package com.google.firebase;

import android.content.Context;
import androidx.annotation.NonNull;

public class FirebaseApp {
  private final Context context;

  public FirebaseApp(Context context) {
    this.context = context;
  }

  @NonNull
  public Context getApplicationContext() {
    return context;
  }
}
