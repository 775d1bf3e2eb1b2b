package com.google.firebase.firestore;

public interface ListenerRegistration {
  void remove();
}
