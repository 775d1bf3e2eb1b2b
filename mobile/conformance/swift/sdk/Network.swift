// Declarations of ours, for a type check on Linux: what Tally.swift uses of Apple's framework Network. The device has one.
import Dispatch

public struct NWPath: Sendable {
  public enum Status: Sendable {
    case satisfied
    case unsatisfied
    case requiresConnection
  }

  public let status: Status
}

public final class NWPathMonitor: @unchecked Sendable {
  public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?

  public init() {}

  public func start(queue: DispatchQueue) {
    queue.async { self.pathUpdateHandler?(NWPath(status: .satisfied)) }
  }
}
