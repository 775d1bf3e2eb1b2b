package com.google.firebase.firestore;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import java.util.ArrayList;
import java.util.List;

public class Transaction {
  public interface Function<TResult> {
    @Nullable
    TResult apply(@NonNull Transaction transaction) throws FirebaseFirestoreException;
  }

  final List<Write> writes = new ArrayList<>();
  private final FirebaseFirestore firestore;

  Transaction(FirebaseFirestore firestore) {
    this.firestore = firestore;
  }

  @NonNull
  public DocumentSnapshot get(@NonNull DocumentReference documentRef) throws FirebaseFirestoreException {
    return firestore.lookUp(documentRef.getPath());
  }

  @NonNull
  public Transaction set(@NonNull DocumentReference documentRef, @NonNull Object data) {
    writes.add(Write.set(documentRef, data, true));
    return this;
  }

  @NonNull
  public Transaction set(@NonNull DocumentReference documentRef, @NonNull Object data, @NonNull SetOptions options) {
    writes.add(Write.set(documentRef, data, false));
    return this;
  }

  @NonNull
  public Transaction delete(@NonNull DocumentReference documentRef) {
    writes.add(Write.delete(documentRef));
    return this;
  }
}
