// A list of posts with likes, in Compose. A row watches while it is on the screen.
package com.example.posts

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.lazy.LazyColumn
import androidx.compose.foundation.lazy.items
import androidx.compose.material3.Text
import androidx.compose.material3.TextButton
import androidx.compose.runtime.Composable
import androidx.compose.runtime.DisposableEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.ui.Modifier
import com.google.firebase.firestore.FirebaseFirestore
import tally.TallyCounter

data class Post(val id: String, val title: String)

@Composable
fun PostList(posts: List<Post>, uid: String) {
  LazyColumn {
    // Keys keep a row's watches when the order of the posts changes.
    items(posts, key = { it.id }) { post -> PostRow(post, uid) }
  }
}

@Composable
private fun PostRow(post: Post, uid: String) {
  val likes = remember(post.id) { TallyCounter.of(FirebaseFirestore.getInstance(), "likes:${post.id}") }
  var total by remember(likes) { mutableStateOf<Long?>(null) }
  var isLiked by remember(likes, uid) { mutableStateOf<Boolean?>(null) }
  var hasFailed by remember(likes) { mutableStateOf(false) }

  // Runs once per post and user, not at each composition; onDispose when the row leaves the screen.
  DisposableEffect(likes, uid) {
    val totals = likes.watch(onError = { hasFailed = true }) { total = it.wholeTotal }
    val own = likes.onIncremented(uid, onError = { hasFailed = true }) { isLiked = it }
    onDispose {
      totals.remove()
      own.remove()
    }
  }

  fun toggle() {
    hasFailed = false
    val changed = if (isLiked == true) likes.undo(uid) else likes.increment(once = uid)
    changed.addOnFailureListener { hasFailed = true }
  }

  Row(Modifier.fillMaxWidth(), Arrangement.SpaceBetween) {
    Text(post.title)
    TextButton(onClick = ::toggle, enabled = isLiked != null) {
      Text("${if (isLiked == true) "♥" else "♡"} ${total ?: ""}${if (hasFailed) " failed" else ""}")
    }
  }
}
