package com.google.firebase.firestore;

import androidx.annotation.NonNull;
import com.google.android.gms.tasks.Task;
import java.util.ArrayList;
import java.util.List;

public class WriteBatch {
  private final FirebaseFirestore firestore;
  private final List<Write> writes = new ArrayList<>();

  WriteBatch(FirebaseFirestore firestore) {
    this.firestore = firestore;
  }

  @NonNull
  public WriteBatch set(@NonNull DocumentReference documentRef, @NonNull Object data) {
    writes.add(Write.set(documentRef, data, true));
    return this;
  }

  @NonNull
  public WriteBatch set(@NonNull DocumentReference documentRef, @NonNull Object data, @NonNull SetOptions options) {
    writes.add(Write.set(documentRef, data, false));
    return this;
  }

  @NonNull
  public WriteBatch delete(@NonNull DocumentReference documentRef) {
    writes.add(Write.delete(documentRef));
    return this;
  }

  @NonNull
  public Task<Void> commit() {
    return firestore.commit(writes);
  }
}
