// A list of posts with likes, in SwiftUI. A row watches while it is on the screen.
import Combine
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

  private var label: String {
    let heart = likes.isLiked == true ? "♥ " : "♡ "
    guard let total = likes.total else { return heart }
    return heart + String(total)
  }

  var body: some View {
    HStack {
      Text(post.title)
      Spacer()
      Button(label) {
        Task { await likes.toggle() }
      }
      .disabled(likes.isLiked == nil)
      .foregroundStyle(likes.hasFailed ? .red : .primary)
    }
    // Not in `body`, which runs at every change.
    .onAppear { likes.start(post.id, uid) }
    .onDisappear { likes.stop() }
  }
}

/// The likes of one post.
@MainActor
private final class PostLikes: ObservableObject {
  @Published private(set) var total: Int?
  @Published private(set) var isLiked: Bool?
  @Published private(set) var hasFailed = false
  private var counter: TallyCounter?
  private var uid = ""
  private var totals: TallyWatch?
  private var own: TallyEntryWatch?

  func start(_ post: String, _ uid: String) {
    stop()
    do {
      let counter = try TallyCounter.of(Firestore.firestore(), "likes:" + post)
      self.counter = counter
      self.uid = uid
      totals = counter.watch(onError: { [weak self] _ in self?.hasFailed = true }) { [weak self] read in
        self?.total = read.wholeTotal
      }
      own = try counter.onIncremented(once: uid, onError: { [weak self] _ in self?.hasFailed = true }) { [weak self] counts in
        self?.isLiked = counts
      }
    } catch {
      hasFailed = true
    }
  }

  func stop() {
    totals?.remove()
    own?.remove()
  }

  /// Offline, it returns when the device is online again.
  func toggle() async {
    hasFailed = false
    do {
      if isLiked == true {
        try await counter?.undo(once: uid)
      } else {
        try await counter?.increment(once: uid)
      }
    } catch {
      hasFailed = true
    }
  }
}
