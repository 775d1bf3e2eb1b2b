// What an app would write. With -D DEINIT, also what many apps write.
import FirebaseFirestore
import Foundation

@MainActor
final class Screen {
  private var label = ""
  private var liked = false
  private var watch: TallyWatch?
  private var like: TallyEntryWatch?

  func appear() throws {
    let views = try TallyCounter.of(Firestore.firestore(), "views:home")
    watch = views.watch(onError: { [weak self] error in self?.label = "\(error)" }) { [weak self] shown in
      self?.label = "\(shown.wholeTotal) views, \(shown.pending)"
    }
    like = try views.onIncremented(once: "user") { [weak self] counts in self?.liked = counts }
    Task { try await views.increment() }
  }

  func tap() async {
    do {
      let likes = try TallyCounter.of(Firestore.firestore(), "likes:home", collection: "counters")
      if liked { try await likes.undo(once: "user") } else { try await likes.increment(by: 1, once: "user") }
      label = "\(try await likes.get().total)"
    } catch let error as TallyError where error.code == "counter/permission-denied" {
      label = error.localizedDescription
    } catch {
      label = "\(error)"
    }
  }

  func disappear() {
    watch?.remove()
    like?.remove()
  }

  #if DEINIT
    deinit {
      watch?.remove()
      like?.remove()
    }
  #endif
}
