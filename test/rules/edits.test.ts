/** Edits of the rules: the effects of careless ones, and of those that docs/security.md advises. */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { withPolicy } from "../../testkit/rules.ts";
import { ADMIN, database } from "./rest.ts";
import { add, ago, double, increment, like, merge, NOW, set, unlike } from "./writes.ts";

const RULES = readFileSync("firestore.rules", "utf8");
const PROJECT = `demo-tally-edits-${process.pid}`;
const [ACCEPTED, REFUSED] = [200, 403];

/** The default rules with one function replaced. */
const edited = (edit: string) => withPolicy(RULES, edit);

let projects = 0;
const withRules = (rules: string) => database(`${PROJECT}-${projects++}`, rules);

describe.concurrent("a careless edit of the rules", () => {
  test("that allows everything, anywhere in them, opens the counters too", async () => {
    const all = "match /{document=**} { allow read, write: if request.auth != null; }\n";
    const open = await withRules(RULES.replace(/^ {4}match \/counters/m, (match) => `    ${all}${match}`));
    expect(await open.commit(null, [set("counters/views:x", { total: 1 })])).toBe(REFUSED);
    expect(await open.commit("alice", [set("counters/views:x", { total: 1 })])).toBe(ACCEPTED);
    expect(await open.commit("alice", [set("counters/views:x/shards/base", { count: 1e6 })])).toBe(ACCEPTED);
    expect(await open.call("bob", "GET", "counters/views:x/tallyEntries")).toMatchObject({ status: ACCEPTED });
  });

  test("that allows any positive amount lets one write fill a shard, which then refuses everyone", async () => {
    const any = await withRules(edited("function isAllowedAmount(by) { return by > 0; }"));
    expect(await any.commit(null, [increment("counters/views:x/shards/0", { count: add(2 ** 53 - 1) })])).toBe(
      ACCEPTED,
    );
    expect(await any.commit(null, [increment("counters/views:x/shards/0")])).toBe(REFUSED);
    expect(await any.commit(null, [increment("counters/views:x/shards/1", { count: add(double("Infinity")) })])).toBe(
      REFUSED,
    );
  });

  test("that allows fractions does not block increments by 1", async () => {
    const any = await withRules(edited("function isAllowedAmount(by) { return by == 1 || by == 31.99; }"));
    // A shard of integers accepts no double, and only a server makes a shard of doubles.
    expect(await any.commit(null, [increment("counters/views:x/shards/0", { count: add(31.99) })])).toBe(REFUSED);
    expect(await any.commit(null, [increment("counters/views:x/shards/0")])).toBe(ACCEPTED);
  });

  test("that counts nothing once per user closes likes", async () => {
    const none = await withRules(edited("function countsOncePerUser() { return false; }"));
    expect(await none.commit(null, [increment("counters/likes:x/shards/0")])).toBe(REFUSED);
    expect(await none.commit("alice", like("counters/likes:x", "alice"))).toBe(REFUSED);
  });
});

describe.concurrent("the edits that docs/security.md advises:", () => {
  const document = readFileSync("docs/security.md", "utf8");
  /** The database with the rules block below a heading. */
  const advice = (heading: string, also = (text: string) => text) => {
    const section = document.split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`));
    const block = /^```rules\n([\s\S]*?)\n```$/m.exec(section ?? "")?.[1];
    if (!block) throw new Error(`docs/security.md has no rules under "${heading}"`);
    return withRules(also(edited(block)));
  };

  test("only the ids you use", async () => {
    const rules = await advice("Only the ids you use");
    expect(await rules.commit(null, [increment("counters/views:home-1/shards/0")])).toBe(ACCEPTED);
    for (const id of ["views:", "junk:home", "home", "views:BUY NOW", `views:${"x".repeat(41)}`, "views:a\nb"]) {
      expect(await rules.commit(null, [increment(`counters/${id}/shards/0`)]), id).toBe(REFUSED);
    }
  });

  test("only the counters your server has made", async () => {
    const rules = await advice("Only the counters your server has made");
    expect(await rules.commit(null, [increment("counters/views:made/shards/0")])).toBe(REFUSED);
    await rules.commit(ADMIN, [set("counters/views:made", { total: 0 })]);
    expect(await rules.commit(null, [increment("counters/views:made/shards/0")])).toBe(ACCEPTED);
    expect(await rules.commit(null, [increment("counters/views:other/shards/0")])).toBe(REFUSED);
  });

  test("only so often per user", async () => {
    const rules = await advice("Only so often per user", (text) =>
      text.replace("in ['views']", "in ['views', 'claps']").replace("limit in []", "limit in ['claps']"),
    );
    const clap = increment("counters/claps:x/shards/0");
    const document = { referenceValue: `${rules.documents}/${clap.path}` };
    const payment = (slot: number) =>
      merge("tallyLimits/claps/tallyUses/alice", {
        slot,
        slots: { [slot]: NOW },
        for: document,
        expireAt: ago(-2 * 86_400),
      });
    expect(await rules.commit("alice", [clap])).toBe(REFUSED);
    for (let slot = 0; slot < 10; slot++) {
      expect(await rules.commit("alice", [payment(slot), increment(clap.path)])).toBe(ACCEPTED);
    }
    for (const slot of [0, 9, 10])
      expect(await rules.commit("alice", [payment(slot), increment(clap.path)])).toBe(REFUSED);
    expect(await rules.commit(null, [increment("counters/views:x/shards/0")])).toBe(ACCEPTED);
  });

  test("only accounts with a verified address", async () => {
    const rules = await advice("Only accounts with a verified address");
    expect(await rules.commit("alice", like("counters/likes:x", "alice"))).toBe(REFUSED);
    expect(await rules.commit({ uid: "bob", email_verified: false }, like("counters/likes:x", "bob"))).toBe(REFUSED);
    expect(await rules.commit({ uid: "carol", email_verified: true }, like("counters/likes:x", "carol"))).toBe(
      ACCEPTED,
    );
    // An undo needs no verified address.
    expect(await rules.commit("carol", unlike("counters/likes:x", "carol"))).toBe(ACCEPTED);
  });
});
