// A list of posts with likes, in SwiftUI. A row watches while it is on the screen.
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

/// The likes of one post.
@MainActor
private final class PostLikes: ObservableObject {
  @Published private(set) var total: Int?
  @Published private(set) var isLiked: Bool?
  private var counter: TallyCounter?
  private var uid = ""
  private var totals: TallyWatch?
  private var own: TallyEntryWatch?

  func start(_ post: String, _ uid: String) throws {
    stop()
    let counter = try TallyCounter.of(Firestore.firestore(), "likes:" + post)
    self.counter = counter
    self.uid = uid
    totals = counter.watch { [weak self] read in self?.total = read.wholeTotal }
    own = try counter.onIncremented(once: uid) { [weak self] counts in self?.isLiked = counts }
  }

  func stop() {
    totals?.remove()
    own?.remove()
  }

  /// Throws if the rules refuse it. Offline, it returns when the device is online again.
  func toggle() async throws {
    if isLiked == true {
      try await counter?.undo(once: uid)
    } else {
      try await counter?.increment(once: uid)
    }
  }
}
