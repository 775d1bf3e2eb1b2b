/*
 * Answers each line of standard input with one line: what the planner of Tally.swift does with it. mobile/conformance/run.ts
 * makes the lines from docs/vectors.json and compares the answers. Conformance.kt and conformance.dart do the same.
 */
import Foundation

final class Conformance {
  private var now: Int64 = 0
  private lazy var counts = TallyShardCount { [unowned self] in self.now }
  private var sent: [TallySentWrite] = []
  private var totals = TallyTotal()
  private var own: [TallyOwnIncrement] = []

  func answer(_ words: [String]) -> String {
    switch words[0] {
    case "name":
      return "\(TallyPlanner.isValidName(integers(words[1])))"
    case "plan":
      return plan(words)
    case "direct":
      return direct(words)
    case "target":
      return target(words)
    case "refusal":
      return TallyPlanner.judgeRefusal(
        words[1] == "true", words[2] == "true", Int64(words[3]), Int64(words[4])!, words[5] == "true")
    case "shardCount":
      return shardCount(words)
    case "total":
      return total(words)
    default:
      return "unknown: \(words[0])"
    }
  }

  /// call, counter, shard or shards to choose from, amount, once, time, random numbers, whether it removes marks
  private func plan(_ words: [String]) -> String {
    var numbers = words[7].split(separator: " ").map { Double($0)! }
    let random = { numbers.removeFirst() }
    let isUndo = words[1] == "undo"
    let shard = isUndo ? words[3] : TallyPlanner.randomShard(Double(words[3])!, random)
    let amount = Int64(words[4])!
    let once = words[5] == "" ? nil : words[5]
    let plan = TallyPlanner.planIncrement(
      words[2], shard, isUndo ? -amount : amount, Int64(words[6])!, random, once, isUndo)
    return TallyPlanner.writes(plan, words[8] == "true").map(written).joined(separator: "\t")
  }

  /// call, counter, generation, whether it creates the document, its group then, amount, once, random numbers
  private func direct(_ words: [String]) -> String {
    var numbers = words[8].split(separator: " ").map { Double($0)! }
    let random = { numbers.removeFirst() }
    let isUndo = words[1] == "undo"
    let amount = Int64(words[6])!
    let group = words[4] == "true" ? words[5] : nil
    let once = words[7] == "" ? nil : words[7]
    let plan = TallyPlanner.planDirect(
      words[2], Int64(words[3])!, group, isUndo ? -amount : amount, random, once, isUndo)
    return TallyPlanner.writes(plan, false).map(written).joined(separator: "\t")
  }

  /// whether it is open, the generation, its marks, the milliseconds since the one before
  private func target(_ words: [String]) -> String {
    let target = TallyPlanner.directTarget(words[1] == "true", Int64(words[2])!, Int64(words[3])!, Int64(words[4])!)
    var joins = "shard"
    if let generation = target.generation { joins = "\(generation)" }
    return "\(joins) \(target.room) \(target.shards)"
  }

  private func integers(_ text: String) -> [Int] {
    return text.split(separator: " ").map { Int($0)! }
  }

  private func written(_ write: TallyWrite) -> String {
    let kind = write.fields == nil ? "delete" : write.merge ? "merge" : "create"
    return ([kind, write.path] + leaves("", write.fields ?? [:]).sorted()).joined(separator: " ")
  }

  private func leaves(_ prefix: String, _ fields: [String: TallyValue]) -> [String] {
    return fields.flatMap { name, value -> [String] in
      let field = prefix + name
      switch value {
      case .text(let text): return ["\(field)=text:\(text)"]
      case .whole(let number): return ["\(field)=whole:\(number)"]
      case .flag(let isTrue): return ["\(field)=flag:\(isTrue)"]
      case .increment(let by): return ["\(field)=increment:\(by)"]
      case .serverTime: return ["\(field)=serverTime"]
      case .append(let bytes): return ["\(field)=append:\(bytes.map(String.init).joined(separator: ","))"]
      case .fields(let inner): return leaves(field + ".", inner)
      case .delete: return ["\(field)=delete"]
      }
    }
  }

  /// what, time; for an update the shard count, whether it grows, how long the read took; for an answer whether it is a refusal
  private func shardCount(_ words: [String]) -> String {
    if words[1] == "begin" {
      counts = TallyShardCount { [unowned self] in self.now }
      sent = []
    } else {
      now = Int64(words[2])!
    }
    switch words[1] {
    case "update": counts.update(Double(words[3]), words[4] == "true", Int64(words[5]))
    case "sent": sent.append(counts.writeSent())
    case "answered": counts.writeAnswered(sent[Int(words[4])!], words[3] == "true")
    case "countTimeout": return "\(counts.countTimeout())"
    default: break
    }
    return "\(counts.shardsToChooseFrom()) \(counts.isStale(false)) \(counts.isContended())"
  }

  /// what, and its numbers: an amount; an increment, its time and the round trip; an increment; an increment and whether it is
  /// direct; a total, its time, its source, the increments whose marks it has, and those whose marks may be gone
  private func total(_ words: [String]) -> String {
    switch words[1] {
    case "begin":
      totals = TallyTotal()
      own = []
    case "made": own.append(totals.incrementMade(Int64(words[2])!))
    case "committed":
      let latest = TallyPlanner.latestCommit(instant(words[3]), Int64(words[4])!)
      totals.incrementCommitted(own[Int(words[2])!], latest)
    case "refused": totals.incrementRefused(own[Int(words[2])!])
    case "planned":
      let which = Int(words[2])!
      totals.incrementPlanned(own[which], planOf(which, words[3] == "true"))
    case "read":
      let has = integers(words[5])
      let gone = integers(words[6])
      totals.totalRead(Double(words[2])!, instant(words[3]), words[4] == "true") { plan in
        return gone.contains(plan.nonce[0]) ? nil : has.contains(plan.nonce[0])
      }
    default: break
    }
    return "\(totals.total()) \(totals.isPending())"
  }

  /// The plan of an increment, whose nonce is its number.
  private func planOf(_ which: Int, _ isDirect: Bool) -> TallyPlan {
    let random = { Double(which) / 256 }
    if isDirect { return TallyPlanner.planDirect("c/x", 0, nil, 1, random, nil, false) }
    return TallyPlanner.planIncrement("c/x", "0", 1, 0, random, nil, false)
  }

  /// Microseconds, by way of a timestamp's seconds and nanoseconds.
  private func instant(_ word: String) -> Int64 {
    let micros = Int64(word)!
    return TallyPlanner.micros(micros / 1_000_000, micros % 1_000_000 * 1_000 + 999)
  }
}

let conformance = Conformance()
while let line = readLine() {
  print(conformance.answer(line.components(separatedBy: "\t")))
}
