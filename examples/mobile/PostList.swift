/// A list of posts with likes, in SwiftUI. A row watches while it is on the screen.
import FirebaseFirestore
import SwiftUI

struct Post: Identifiable {
  let id: String
  let title: String
}

struct PostList: View {
  let posts: [Post]
  let uid: String

  var body: some View {
    List(posts) { post in
      // The id makes a new row, with its own state, when the user changes.
      PostRow(post: post, uid: uid).id("\(post.id) \(uid)")
    }
  }
}

private struct PostRow: View {
  let post: Post
  let uid: String
  @StateObject private var likes = PostLikes()
  @State private var hasFailed = false

  var body: some View {
    HStack {
      Text(post.title)
      Spacer()
      Button("\(likes.isLiked == true ? "♥" : "♡") \(likes.total.map { "\($0)" } ?? "")") {
        hasFailed = false
        Task {
          do { try await likes.toggle() } catch { hasFailed = true }
        }
      }
      .disabled(likes.isLiked == nil)
      .foregroundStyle(hasFailed ? .red : .primary)
    }
    // Not in `body`, which runs at every change.
    .onAppear { try? likes.start(post.id, uid) }
    .onDisappear { likes.stop() }
  }
}
