package com.google.firebase.firestore;

public enum Source { DEFAULT, SERVER, CACHE }
