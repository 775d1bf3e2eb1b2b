/* What Tally.kt uses of com.google.firebase: a declaration of ours. */
package com.google.firebase

data class Timestamp(val seconds: Long, val nanoseconds: Int)
