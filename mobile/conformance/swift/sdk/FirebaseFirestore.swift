// Declarations of ours, for a type check on Linux: what Tally.swift uses of the module FirebaseFirestore 12.19, as Swift 6.2
// and newer import its Objective-C headers. Not the SDK. Below them is the least that a run needs: documents in memory,
// transactions on a queue of their own and completions on the main queue, as the SDK has them.
//
// What a header says, and how it is written here:
// - NS_SWIFT_SENDABLE: `@unchecked Sendable`. Firestore, WriteBatch, Transaction, TransactionOptions and ListenerRegistration
//   are not marked.
// - Every imported declaration counts as `@preconcurrency`.
// - A completion handler of a method that also imports as `async` is `@Sendable` since Swift 6.2 (SE-0463), not with
//   -D OLD_ASYNC. Listeners and both blocks of runTransaction, which has swift_async(none), are not.
// - The `async` form does not leave the caller's actor: `nonisolated(nonsending)`. With -D OLD_ASYNC it is plain `async`, as
//   compilers before 6.2 see it.
// - An ignored result never warns.
// - NSErrorPointer is AutoreleasingUnsafeMutablePointer<NSError?>? on Apple's systems; Linux has none, so a plain pointer.
@_exported import class FirebaseCore.Timestamp
import Dispatch
import Foundation

#if OLD_ASYNC
  public typealias ReadCompletion = (DocumentSnapshot?, (any Error)?) -> Void
  public typealias CommitCompletion = ((any Error)?) -> Void
#else
  public typealias ReadCompletion = @Sendable (DocumentSnapshot?, (any Error)?) -> Void
  public typealias CommitCompletion = @Sendable ((any Error)?) -> Void
#endif

public let FirestoreErrorDomain = "FIRFirestoreErrorDomain"

/// NS_ERROR_ENUM: a struct that holds an NSError, and its codes.
public struct FirestoreErrorCode: Error {
  public enum Code: Int, Sendable {
    case OK = 0
    case cancelled = 1
    case unknown = 2
    case invalidArgument = 3
    case deadlineExceeded = 4
    case notFound = 5
    case alreadyExists = 6
    case permissionDenied = 7
    case resourceExhausted = 8
    case failedPrecondition = 9
    case aborted = 10
    case outOfRange = 11
    case unimplemented = 12
    case `internal` = 13
    case unavailable = 14
    case dataLoss = 15
    case unauthenticated = 16
  }

  public let code: Code

  public init(_ code: Code) {
    self.code = code
  }
}

/// NS_ENUM(NSUInteger)
public enum FirestoreSource: UInt, Sendable {
  case `default` = 0
  case server = 1
  case cache = 2
}

/// NS_ENUM(NSInteger)
public enum ServerTimestampBehavior: Int, Sendable {
  case none = 0
  case estimate = 1
  case previous = 2
}

/// An Objective-C protocol, `<NSObject>`.
public protocol ListenerRegistration: NSObjectProtocol {
  func remove()
}

open class SnapshotMetadata: NSObject, @unchecked Sendable {
  public let hasPendingWrites: Bool
  public let isFromCache: Bool

  init(hasPendingWrites: Bool, isFromCache: Bool) {
    self.hasPendingWrites = hasPendingWrites
    self.isFromCache = isFromCache
    super.init()
  }
}

open class FieldValue: NSObject, @unchecked Sendable {
  enum Kind {
    case delete
    case serverTimestamp
    case arrayUnion([Any])
    case whole(Int64)
    case fraction(Double)
  }

  let kind: Kind

  init(_ kind: Kind) {
    self.kind = kind
    super.init()
  }

  open class func delete() -> FieldValue { return FieldValue(.delete) }
  open class func serverTimestamp() -> FieldValue { return FieldValue(.serverTimestamp) }
  open class func arrayUnion(_ elements: [Any]) -> FieldValue { return FieldValue(.arrayUnion(elements)) }
  open class func increment(_ d: Double) -> FieldValue { return FieldValue(.fraction(d)) }
  open class func increment(_ l: Int64) -> FieldValue { return FieldValue(.whole(l)) }
}

open class DocumentSnapshot: NSObject, @unchecked Sendable {
  let fields: [String: Any]?
  public let reference: DocumentReference
  public let metadata: SnapshotMetadata

  init(_ reference: DocumentReference, _ fields: [String: Any]?) {
    self.reference = reference
    self.fields = fields
    self.metadata = SnapshotMetadata(hasPendingWrites: false, isFromCache: false)
    super.init()
  }

  open var exists: Bool { return fields != nil }
  open var documentID: String { return reference.documentID }
  open func data() -> [String: Any]? { return fields }
  open func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any]? { return fields }

  open func get(_ field: Any) -> Any? {
    guard let name = field as? String else { return nil }
    return fields?[name]
  }

  open func get(_ field: Any, serverTimestampBehavior: ServerTimestampBehavior) -> Any? {
    return get(field)
  }
}

open class DocumentReference: NSObject, @unchecked Sendable {
  public let firestore: Firestore
  public let path: String

  init(_ firestore: Firestore, _ path: String) {
    self.firestore = firestore
    self.path = path
    super.init()
  }

  open var documentID: String { return path.components(separatedBy: "/").last ?? "" }

  @preconcurrency
  open func getDocument(completion: @escaping ReadCompletion) {
    let read = firestore.read(self)
    firestore.callbacks.async { completion(read, nil) }
  }

  @preconcurrency
  open func getDocument(
    source: FirestoreSource, completion: @escaping ReadCompletion
  ) {
    getDocument(completion: completion)
  }

  #if OLD_ASYNC
    open func getDocument() async throws -> DocumentSnapshot {
      let firestore = Held(self.firestore)
      try await Task.sleep(nanoseconds: firestore.value.readDelay)
      return firestore.value.read(self)
    }
    open func getDocument(source: FirestoreSource) async throws -> DocumentSnapshot { return firestore.read(self) }
  #else
    nonisolated(nonsending)
    open func getDocument() async throws -> DocumentSnapshot {
      let firestore = Held(self.firestore)
      try await Task.sleep(nanoseconds: firestore.value.readDelay)
      return firestore.value.read(self)
    }

    nonisolated(nonsending)
    open func getDocument(source: FirestoreSource) async throws -> DocumentSnapshot { return firestore.read(self) }
  #endif

  @preconcurrency @discardableResult
  open func addSnapshotListener(
    includeMetadataChanges: Bool, listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    return firestore.listen(self, listener)
  }

  @preconcurrency @discardableResult
  open func addSnapshotListener(
    _ listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    return firestore.listen(self, listener)
  }
}

open class Transaction: NSObject {
  let firestore: Firestore
  var writes: [Write] = []

  init(_ firestore: Firestore) {
    self.firestore = firestore
    super.init()
  }

  open func getDocument(_ document: DocumentReference) throws -> DocumentSnapshot {
    return firestore.read(document)
  }

  @discardableResult
  open func setData(_ data: [String: Any], forDocument document: DocumentReference) -> Transaction {
    return setData(data, forDocument: document, merge: false)
  }

  @discardableResult
  open func setData(_ data: [String: Any], forDocument document: DocumentReference, merge: Bool) -> Transaction {
    writes.append(Write(path: document.path, fields: data, merge: merge))
    return self
  }

  @discardableResult
  open func deleteDocument(_ document: DocumentReference) -> Transaction {
    writes.append(Write(path: document.path, fields: nil, merge: false))
    return self
  }
}

open class TransactionOptions: NSObject {
  open var maxAttempts: Int = 5

  public override init() {
    super.init()
  }
}

open class WriteBatch: NSObject {
  let firestore: Firestore
  var writes: [Write] = []

  init(_ firestore: Firestore) {
    self.firestore = firestore
    super.init()
  }

  @discardableResult
  open func setData(_ data: [String: Any], forDocument document: DocumentReference) -> WriteBatch {
    return setData(data, forDocument: document, merge: false)
  }

  @discardableResult
  open func setData(_ data: [String: Any], forDocument document: DocumentReference, merge: Bool) -> WriteBatch {
    writes.append(Write(path: document.path, fields: data, merge: merge))
    return self
  }

  @discardableResult
  open func deleteDocument(_ document: DocumentReference) -> WriteBatch {
    writes.append(Write(path: document.path, fields: nil, merge: false))
    return self
  }

  open func commit() {
    _ = firestore.queue(writes)
  }

  @preconcurrency
  open func commit(completion: CommitCompletion? = nil) {
    let failed = firestore.queue(writes)
    firestore.callbacks.async { completion?(failed) }
  }

  #if OLD_ASYNC
    open func commit() async throws { if let failed = firestore.queue(writes) { throw failed } }
  #else
    nonisolated(nonsending)
    open func commit() async throws { if let failed = firestore.queue(writes) { throw failed } }
  #endif
}

open class Firestore: NSObject {
  static let only = Firestore()

  let lock = NSRecursiveLock()
  var documents: [String: [String: Any]] = [:]
  var listeners: [Listener] = []
  /// settings.dispatchQueue
  var callbacks = DispatchQueue.main
  /// What happens to the next commits: the first of them to the next, and so on.
  var faults: [Fault] = []
  /// How long a read from the server takes, in nanoseconds.
  var readDelay: UInt64 = 0
  let transactions = DispatchQueue(label: "com.google.firebase.firestore.transaction", attributes: .concurrent)

  open class func firestore() -> Firestore { return only }

  open func document(_ documentPath: String) -> DocumentReference {
    let parts = documentPath.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    // The SDK raises an Objective-C exception, which ends the app.
    precondition(parts.count % 2 == 0 && !parts.contains { $0.isEmpty }, "invalid document path: \(documentPath)")
    return DocumentReference(self, documentPath)
  }

  open func batch() -> WriteBatch { return WriteBatch(self) }

  @preconcurrency
  open func runTransaction(
    _ updateBlock: @escaping (Transaction, UnsafeMutablePointer<NSError?>?) -> Any?,
    completion: @escaping (Any?, (any Error)?) -> Void
  ) {
    runTransaction(with: nil, block: updateBlock, completion: completion)
  }

  @preconcurrency
  open func runTransaction(
    with options: TransactionOptions?, block updateBlock: @escaping (Transaction, UnsafeMutablePointer<NSError?>?) -> Any?,
    completion: @escaping (Any?, (any Error)?) -> Void
  ) {
    let blocks = Blocks(update: updateBlock, completion: completion)
    let own = Held(Transaction(self))
    transactions.async {
      var failure: NSError?
      let result = Held(blocks.update(own.value, &failure))
      let firestore = own.value.firestore
      let failed = failure ?? firestore.commit(own.value.writes)
      firestore.callbacks.async { blocks.completion(failed == nil ? result.value : nil, failed) }
    }
  }
}

// --- In memory; the SDK has none of these ---

public enum Fault {
  case none
  case refused(FirestoreErrorCode.Code)
  case answerLost(FirestoreErrorCode.Code)
}

struct Write {
  let path: String
  let fields: [String: Any]?
  let merge: Bool
}

struct Held<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}

struct Blocks: @unchecked Sendable {
  let update: (Transaction, UnsafeMutablePointer<NSError?>?) -> Any?
  let completion: (Any?, (any Error)?) -> Void
}

final class Listener: NSObject, ListenerRegistration, @unchecked Sendable {
  let reference: DocumentReference
  let call: (DocumentSnapshot?, (any Error)?) -> Void
  var isRemoved = false

  init(_ reference: DocumentReference, _ call: @escaping (DocumentSnapshot?, (any Error)?) -> Void) {
    self.reference = reference
    self.call = call
    super.init()
  }

  func remove() {
    isRemoved = true
  }

  func show() {
    reference.firestore.callbacks.async {
      if !self.isRemoved { self.call(self.reference.firestore.read(self.reference), nil) }
    }
  }
}

extension Firestore {
  func read(_ reference: DocumentReference) -> DocumentSnapshot {
    lock.lock()
    defer { lock.unlock() }
    return DocumentSnapshot(reference, documents[reference.path])
  }

  func listen(
    _ reference: DocumentReference, _ call: @escaping (DocumentSnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    let listener = Listener(reference, call)
    lock.lock()
    listeners.append(listener)
    lock.unlock()
    listener.show()
    return listener
  }

  /// The queue repeats a write that may be accepted later.
  func queue(_ writes: [Write]) -> NSError? {
    var failed = commit(writes)
    while let error = failed, Firestore.isRepeated(FirestoreErrorCode.Code(rawValue: error.code)) { failed = commit(writes) }
    return failed
  }

  static func isRepeated(_ code: FirestoreErrorCode.Code?) -> Bool {
    return code == .unavailable || code == .deadlineExceeded || code == .aborted
  }

  /// A commit as the server takes it: a fault that is due, then what the rules refuse, then the writes.
  func commit(_ writes: [Write]) -> NSError? {
    if writes.isEmpty { return nil }
    lock.lock()
    defer { lock.unlock() }
    let fault = faults.isEmpty ? nil : faults.removeFirst()
    if case .refused(let code)? = fault { return Firestore.error(code) }
    if writes.contains(where: isRefused) { return Firestore.error(.permissionDenied) }
    apply(writes)
    if case .answerLost(let code)? = fault { return Firestore.error(code) }
    return nil
  }

  static func error(_ code: FirestoreErrorCode.Code) -> NSError {
    return NSError(domain: FirestoreErrorDomain, code: code.rawValue)
  }

  /// The rules, as far as a client can run into them: a nonce counts once, an entry is not written over, and a generation of
  /// the counter document takes four until the next has begun. A document without one is closed.
  func isRefused(_ write: Write) -> Bool {
    let old = documents[write.path]
    if write.path.contains("/tallyEntries/") { return write.fields != nil && old != nil }
    guard let direct = write.fields?["direct"] as? [String: Any] else { return isReplayed(write.fields, old) }
    let known = old?["direct"] as? [String: Any]
    let generation = (direct["generation"] as? NSNumber)?.int64Value ?? 0
    let current = (known?["generation"] as? NSNumber)?.int64Value ?? 0
    let slot = (known?["marks"] as? [String: Any])?[String(generation % 8)] as? [String: Any]
    let size = (slot?["nonces"] as? [Any])?.count ?? 0
    return (old != nil && known == nil) || generation < current || size >= 4 || isReplayed(direct, known)
  }

  func isReplayed(_ fields: [String: Any]?, _ old: [String: Any]?) -> Bool {
    for (slot, mark) in (fields?["marks"] as? [String: Any]) ?? [:] {
      guard let value = (mark as? [String: Any])?["nonces"] as? FieldValue, case .arrayUnion(let new) = value.kind else { continue }
      let known = ((old?["marks"] as? [String: Any])?[slot] as? [String: Any])?["nonces"] as? [Data] ?? []
      if new.contains(where: { one in known.contains { $0 == one as? Data } }) { return true }
    }
    return false
  }

  func apply(_ writes: [Write]) {
    lock.lock()
    for write in writes {
      if let fields = write.fields {
        documents[write.path] = Firestore.merged(documents[write.path], fields, write.merge) as? [String: Any]
      } else {
        documents[write.path] = nil
      }
    }
    let paths = Set(writes.map { $0.path })
    let shown = listeners.filter { paths.contains($0.reference.path) }
    lock.unlock()
    for listener in shown { listener.show() }
  }

  static func merged(_ old: Any?, _ new: Any, _ merge: Bool) -> Any? {
    if let value = new as? FieldValue { return applied(value, old) }
    guard let fields = new as? [String: Any] else { return new }
    var result: [String: Any] = [:]
    if merge, let before = old as? [String: Any] { result = before }
    for (name, value) in fields { result[name] = merged(result[name], value, merge) }
    return result
  }

  static func applied(_ value: FieldValue, _ old: Any?) -> Any? {
    switch value.kind {
    case .delete: return nil
    case .serverTimestamp: return Timestamp(date: Date())
    case .arrayUnion(let elements): return ((old as? [Any]) ?? []) + elements
    case .whole(let by):
      // The server caps a sum that no integer holds.
      let (sum, isTooLarge) = ((old as? NSNumber)?.int64Value ?? 0).addingReportingOverflow(by)
      return NSNumber(value: isTooLarge ? (by < 0 ? Int64.min : Int64.max) : sum)
    case .fraction(let by): return NSNumber(value: ((old as? NSNumber)?.doubleValue ?? 0) + by)
    }
  }

  /// For the programs: what a counter has counted, in its document and in its shards.
  public func countInMemory(_ path: String) -> Int64 {
    lock.lock()
    defer { lock.unlock() }
    let direct = documents[path]?["direct"] as? [String: Any]
    var sum = (direct?["count"] as? NSNumber)?.int64Value ?? 0
    for (name, fields) in documents where name.hasPrefix(path + "/shards/") {
      sum += (fields["count"] as? NSNumber)?.int64Value ?? 0
    }
    return sum
  }

  /// For the programs: the next commits are refused, or committed without the answer arriving.
  public func failInMemory(_ faults: [Fault]) {
    lock.lock()
    self.faults = faults
    lock.unlock()
  }

  /// For the programs: a round trip, in nanoseconds.
  public func delayReadsInMemory(_ nanoseconds: UInt64) {
    readDelay = nanoseconds
  }

  /// For the programs: settings.dispatchQueue
  public func callBackInMemory(on queue: DispatchQueue) {
    callbacks = queue
  }

  /// For the programs: what the functions publish.
  public func publishInMemory(_ path: String, _ fields: [String: Any]) {
    apply([Write(path: path, fields: fields, merge: true)])
  }
}
