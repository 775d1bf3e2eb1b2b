package com.google.firebase.firestore;

import androidx.annotation.NonNull;
import com.google.android.gms.tasks.Task;

public final class DocumentReference {
  private final FirebaseFirestore firestore;
  private final String path;

  DocumentReference(FirebaseFirestore firestore, String path) {
    this.firestore = firestore;
    this.path = path;
  }

  @NonNull
  public String getPath() {
    return path;
  }

  @NonNull
  public Task<DocumentSnapshot> get() {
    return get(Source.DEFAULT);
  }

  @NonNull
  public Task<DocumentSnapshot> get(@NonNull Source source) {
    return firestore.read(path, source);
  }

  @NonNull
  public ListenerRegistration addSnapshotListener(@NonNull EventListener<DocumentSnapshot> listener) {
    return addSnapshotListener(MetadataChanges.EXCLUDE, listener);
  }

  @NonNull
  public ListenerRegistration addSnapshotListener(
      @NonNull MetadataChanges metadataChanges, @NonNull EventListener<DocumentSnapshot> listener) {
    return firestore.listen(path, metadataChanges, listener);
  }
}
