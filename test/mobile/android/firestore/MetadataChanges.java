package com.google.firebase.firestore;

public enum MetadataChanges { EXCLUDE, INCLUDE }
