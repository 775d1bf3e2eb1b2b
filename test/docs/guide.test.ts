/**
 * What docs/guide.md says: every code block runs unchanged on the emulators, with the rules on, and does what its
 * section claims; every edit of the rules is enough, and needed. The expectations stand here, by the section's title.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { initializeTestEnvironment } from "@firebase/rules-unit-testing";
import { Firestore as AdminFirestore } from "@google-cloud/firestore";
import { deleteApp, getApps } from "firebase/app";
import { type Auth, signOut } from "firebase/auth";
import { disableNetwork, enableNetwork, type Firestore, setLogLevel } from "firebase/firestore";
import { deleteApp as deleteServerApp, getApps as getServerApps } from "firebase-admin/app";
import {
  counter,
  counterRank,
  getCounter,
  getExactCounter,
  hasIncremented,
  incrementCounter,
  undoIncrement,
} from "firestore-tally";
import { counter as serverCounter, incrementCounter as serverIncrement } from "firestore-tally/admin";
import { prepareFirestore, type TestFirestore } from "firestore-tally/testing";
import { createElement, type FunctionComponent } from "react";
import { renderToString } from "react-dom/server";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { cuttingProxy } from "../../testkit/tcpProxy.ts";

setLogLevel("silent");

const { GCLOUD_PROJECT = "", FIRESTORE_EMULATOR_HOST = "", FIREBASE_AUTH_EMULATOR_HOST = "" } = process.env;
const guide = readFileSync("docs/guide.md", "utf8");
const defaultRules = readFileSync("firestore.rules", "utf8");
const GENERATED = "test/guide.generated";
const run = promisify(execFile);

// ── The guide, in parts ───────────────────────────────────────────────────────────────────────────────────────────

interface Section {
  readonly title: string;
  /** By the name in their first line. */
  readonly files: Record<string, string>;
  /** Functions and matches for the rules. */
  readonly edits: readonly string[];
}

const sections: Section[] = guide
  .split(/^## /m)
  .slice(1)
  .map((text) => {
    const title = text.slice(0, text.indexOf("\n"));
    const files: Record<string, string> = {};
    const edits: string[] = [];
    for (const [, language = "", code = ""] of text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)) {
      const name = /^\/\/ (\S+\.(tsx?))\n/.exec(code);
      if (language === "rules") edits.push(...code.trim().split("\n\n"));
      else if (name?.[1] && name[2] === language) files[name[1]] = code;
      else throw new Error(`${title}: a block is neither rules nor a file named in its first line:\n${code}`);
    }
    return { title, files, edits };
  });

const setUp = sections.find(({ title }) => title === "Set up")?.files ?? {};

/** Does to the rules what the guide tells the reader to do. */
function edited(rules: string, edits: readonly string[]): string {
  return edits.reduce((text, edit) => {
    const name = /^function (\w+)\(/.exec(edit)?.[1];
    const place = name ? new RegExp(`^ {4}function ${name}\\([^}]*\\}\n`, "m") : /(?=^ {4}match \/counters)/m;
    const policy = text.slice(0, text.indexOf("── Counters ──"));
    if (!/^(function|match) /.test(edit) || !place.test(name ? policy : text)) {
      throw new Error(`there is no place in firestore.rules for this edit:\n${edit}`);
    }
    return text.replace(place, () => `${edit}\n\n`);
  }, rules);
}

// ── Where a section runs ──────────────────────────────────────────────────────────────────────────────────────────

/** `suite`: default rules, or edited ones, and the functions run. The others are projects of their own, without functions. */
type Rules = "suite" | "edited suite" | "edited" | "unedited";

/** The files of a section in a folder of their own, and the project they talk to. */
interface Place {
  readonly folder: string;
  readonly db: Firestore;
  /** Imports a block. */
  file<T>(name: string): Promise<T>;
  /** The sum of the shards, past the rules, and how many writes it took. */
  shards(id: string): Promise<{ sum: number; writes: number }>;
  /** The published total, once it is the sum of the shards. */
  total(id: string): Promise<number>;
  documents(collection: string): Promise<number>;
  /** The next user of `userId` is another one. */
  anotherUser(): Promise<void>;
}

type Open = (rules: Rules, host?: string) => Promise<Place>;

let suite: TestFirestore;

/** @param host  another address of Firestore: a proxy's */
async function open({ title, files, edits }: Section, rules: Rules, host = FIRESTORE_EMULATOR_HOST): Promise<Place> {
  await close();
  const name = title.toLowerCase().replaceAll(" ", "-");
  const inSuite = rules === "suite" || rules === "edited suite";
  const projectId = inSuite ? GCLOUD_PROJECT : `demo-guide-${name}-${rules}`;
  const folder = write({ title, files, edits }, rules, projectId, host);
  const admin = new AdminFirestore({ projectId });
  const text = rules.startsWith("edited") ? edited(defaultRules, edits) : defaultRules;
  if (inSuite) {
    suite = await prepareFirestore({ rules: text });
  } else {
    const [hostname = "", port] = FIRESTORE_EMULATOR_HOST.split(":");
    const firestore = { host: hostname, port: Number(port), rules: text };
    const environment = await initializeTestEnvironment({ projectId, firestore });
    await environment.clearFirestore();
    await environment.cleanup();
  }
  const file = <T>(name: string) => import(/* @vite-ignore */ `${process.cwd()}/${folder}/${name}`) as Promise<T>;
  const { auth, db } = await file<{ auth?: Auth; db: Firestore }>("firebase.ts");
  return {
    folder,
    db,
    file,
    async shards(id) {
      const { docs } = await admin.collection(`counters/${id}/shards`).get();
      const sumOf = (field: string) => docs.reduce((sum, shard) => sum + (shard.get(field) ?? 0), 0);
      return { sum: sumOf("count"), writes: sumOf("writes") };
    },
    total: (id) => suite.settled({ path: `counters/${id}` }, 20_000),
    documents: async (collection) => (await admin.collection(collection).count().get()).data().count,
    anotherUser: async () => auth && (await signOut(auth)),
  };
}

/** Writes the files of a section, unchanged but for what connects the app to the emulators. @returns the folder */
function write({ title, files }: Section, rules: Rules, projectId: string, host: string): string {
  const folder = `${GENERATED}/${title.toLowerCase().replaceAll(" ", "-")}-${rules.replace(" ", "-")}`;
  const all: Record<string, string> = { ...setUp, ...files };
  mkdirSync(folder, { recursive: true });
  const [hostname, port] = host.split(":");
  // Unless a block connects by itself.
  if (!Object.values(files).some((code) => code.includes("connectFirestoreEmulator"))) {
    all["firebase.ts"] += [
      'import { connectFirestoreEmulator } from "firebase/firestore";',
      `connectFirestoreEmulator(db, "${hostname}", ${port});`,
    ].join("\n");
    if (all["firebase.ts"]?.includes("export const auth")) {
      all["firebase.ts"] += [
        '\nimport { connectAuthEmulator } from "firebase/auth";',
        `connectAuthEmulator(auth, "http://${FIREBASE_AUTH_EMULATOR_HOST}", { disableWarnings: true });`,
      ].join("\n");
    }
  }
  all["firebaseConfig.ts"] = `export const firebaseConfig = ${JSON.stringify({ projectId, apiKey: "any" })};\n`;
  for (const [name, code] of Object.entries(all)) writeFileSync(`${folder}/${name}`, code);
  return folder;
}

/** Every block makes the default apps: one place at a time. */
async function close(): Promise<void> {
  await Promise.all([...getApps().map(deleteApp), ...getServerApps().map(deleteServerApp)]);
}

const until = (check: () => void | Promise<void>) => vi.waitFor(check, 20_000);

async function refused(attempt: Promise<unknown>): Promise<void> {
  await expect(attempt).rejects.toMatchObject({ code: expect.stringContaining("permission-denied") });
}

beforeAll(async () => {
  rmSync(GENERATED, { recursive: true, force: true });
  mkdirSync(GENERATED, { recursive: true });
  writeFileSync(`${GENERATED}/.gitignore`, "*\n");
  suite = await prepareFirestore({ rules: defaultRules });
  // Other tests count in the same groups.
  await suite.clear();
});
afterEach(close);
afterAll(async () => {
  rmSync(GENERATED, { recursive: true, force: true });
  // And will, in a moment.
  suite = await prepareFirestore({ rules: defaultRules });
  await suite.settled({ path: "counters/views:home" });
  await suite.clear();
});

// ── What each section claims ──────────────────────────────────────────────────────────────────────────────────────

interface Expectation {
  /** The blocks it has, in order. */
  readonly files: readonly string[];
  /** The functions and matches of the rules that it edits. */
  readonly edits?: readonly string[];
  claims(open: Open): Promise<void>;
}

const expectations: Record<string, Expectation> = {
  "Set up": {
    files: ["firebase.ts", "server.ts"],
    async claims(open) {
      const { file, total, anotherUser } = await open("suite");
      const { userId } = await file<{ userId(): Promise<string> }>("firebase.ts");
      const user = await userId();
      expect(await userId()).toBe(user);
      await anotherUser();
      expect(await userId()).not.toBe(user);
      const { db } = await file<{ db: FirebaseFirestore.Firestore }>("server.ts");
      await serverIncrement(serverCounter(db, "guide:setup"));
      expect(await total("guide:setup")).toBe(1);
    },
  },

  Likes: {
    files: ["likes.ts", "LikeButton.tsx"],
    async claims(open) {
      const { file, total, shards, db, anotherUser } = await open("suite");
      const { like, unlike, watchLikes } = await file<{
        like(post: string): Promise<void>;
        unlike(post: string): Promise<void>;
        watchLikes(post: string, show: (state: object) => void): Promise<() => void>;
      }>("likes.ts");
      let button: object = {};
      const stop = await watchLikes("post", (state) => {
        button = { ...button, ...state };
      });
      await until(() => expect(button).toEqual({ total: 0, liked: false }));
      const liking = like("post");
      await until(() => expect(button).toEqual({ total: 1, liked: true }));
      await liking;
      await like("post");
      expect((await shards("likes:post")).sum).toBe(1);
      await refused(incrementCounter(counter(db, "likes:post")));
      await unlike("post");
      await unlike("post");
      await until(() => expect(button).toEqual({ total: 0, liked: false }));
      await like("post");
      stop();
      await anotherUser();
      await like("post");
      expect(await total("likes:post")).toBe(2);

      const { LikeButton } = await file<{ LikeButton: FunctionComponent<Record<string, unknown>> }>("LikeButton.tsx");
      const html = renderToString(createElement(LikeButton, { post: "post", user: "ada", initialTotal: 7 }));
      expect(html.replaceAll("<!-- -->", "")).toBe('<button type="button" disabled="">♡ 7</button>');
    },
  },

  Views: {
    files: ["views.ts", "comments.ts"],
    edits: ["match /posts/{post}/comments/{comment}"],
    async claims(open) {
      const { file, total } = await open("suite");
      const { countView, showViews } = await file<{
        countView(page: string): Promise<void>;
        showViews(page: string, label: object): () => void;
      }>("views.ts");
      await Promise.all([countView("guide"), countView("guide")]);
      const label = { textContent: "" };
      const stop = showViews("guide", label);
      await countView("guide");
      await until(() => expect(label.textContent).toBe("3 views"));
      stop();
      expect(await total("views:guide")).toBe(3);

      // A connection that is cut after the commit.
      const proxy = await cuttingProxy(FIRESTORE_EMULATOR_HOST);
      const cut = await open("edited", proxy.address);
      const { comment } = await cut.file<{ comment(post: string, text: string): Promise<string> }>("comments.ts");
      await comment("post", "first");
      proxy.withhold();
      const second = comment("post", "second");
      await until(async () => expect((await cut.shards("comments:post")).sum).toBe(2));
      proxy.cut();
      await second;
      expect((await cut.shards("comments:post")).sum).toBe(2);
      expect(await cut.documents("posts/post/comments")).toBe(2);
      // Refused for good: the comment is too long, so it does not count either.
      await refused(comment("post", "x".repeat(1_001)));
      await refused(incrementCounter(counter(cut.db, "comments:post"), -1));
      expect((await cut.shards("comments:post")).sum).toBe(2);
      await close();
      await proxy.close();

      const unedited = await open("unedited");
      const refusing = await unedited.file<{ comment(post: string, text: string): Promise<string> }>("comments.ts");
      await refused(refusing.comment("post", "first"));
      expect((await unedited.shards("comments:post")).sum).toBe(0);
    },
  },

  Comments: {
    files: ["discussion.ts"],
    edits: ["function isAllowedAmount", "match /posts/{post}"],
    // The parameters that the section names are those of scripts/test.ts.
    async claims(open) {
      type Discussion = {
        comment(post: string, text: string): Promise<string>;
        removeComment(post: string, id: string): Promise<void>;
        watchNumber(post: string, show: (comments: number) => void): () => void;
        mostDiscussed(most: number): Promise<{ id: string; comments: number }[]>;
      };
      const counting = await open("edited suite");
      const { db: server } = await counting.file<{ db: FirebaseFirestore.Firestore }>("server.ts");
      await Promise.all(["lively", "quiet"].map((post) => server.doc(`posts/${post}`).set({ title: post })));
      const { comment, removeComment, watchNumber, mostDiscussed } = await counting.file<Discussion>("discussion.ts");
      let number: number | undefined;
      const stop = watchNumber("lively", (comments) => {
        number = comments;
      });
      await comment("quiet", "hello");
      const [first = ""] = await Promise.all(["a", "b", "c"].map((text) => comment("lively", text)));
      await until(() => expect(number).toBe(3));
      await removeComment("lively", first);
      await until(() => expect(number).toBe(2));
      stop();
      await until(async () =>
        expect(await mostDiscussed(2)).toEqual([
          { id: "lively", comments: 2 },
          { id: "quiet", comments: 1 },
        ]),
      );
      expect((await server.doc("posts/lively").get()).data()).toEqual({ title: "lively", comments: 2 });
      await counting.anotherUser();
      const [other] = (await server.collection("posts/quiet/comments").get()).docs;
      await refused(removeComment("quiet", other?.id ?? ""));
      await refused(comment("quiet", "x".repeat(1_001)));
      await refused(incrementCounter(counter(counting.db, "comments:lively")));

      const unedited = await open("unedited");
      await refused((await unedited.file<Discussion>("discussion.ts")).comment("lively", "hello"));
      await incrementCounter(counter(unedited.db, "comments:lively"));
    },
  },

  Votes: {
    files: ["votes.ts"],
    edits: ["function isAllowedKeyedAmount"],
    async claims(open) {
      type Votes = {
        vote(id: string, by: number): Promise<void>;
        withdrawVote(id: string): Promise<void>;
        myVote(id: string): Promise<number>;
      };
      const { file, shards, db, anotherUser } = await open("edited");
      const { vote, withdrawVote, myVote } = await file<Votes>("votes.ts");
      const { userId } = await file<{ userId(): Promise<string> }>("firebase.ts");
      const expectVote = async (mine: number, sum: number) =>
        expect([await myVote("42"), (await shards("votes:42")).sum]).toEqual([mine, sum]);
      await expectVote(0, 0);
      await vote("42", 1);
      await vote("42", 1);
      await expectVote(1, 1);
      await vote("42", -1);
      await expectVote(-1, -1);
      await anotherUser();
      await vote("42", -1);
      await expectVote(-1, -2);
      await withdrawVote("42");
      await withdrawVote("42");
      await expectVote(0, -1);
      // No more than that: not twice at once, and no dislikes.
      await refused(vote("42", 2));
      await refused(incrementCounter(counter(db, "likes:post"), -1, { key: await userId() }));

      const unedited = await open("unedited");
      const refusing = await unedited.file<Votes>("votes.ts");
      await refusing.vote("42", 1);
      await refused(refusing.vote("42", -1));
      // What the section says of a device that stops between the two commits.
      expect([await refusing.myVote("42"), (await unedited.shards("votes:42")).sum]).toEqual([0, 0]);
    },
  },

  Downloads: {
    files: ["downloads.ts"],
    edits: ["function isAllowedAmount"],
    async claims(open) {
      const { file, total } = await open("suite");
      const { countDownload, countDownloadOnce } = await file<{
        countDownload(file: string): Promise<void>;
        countDownloadOnce(file: string, requestId: string): Promise<void>;
      }>("downloads.ts");
      await Promise.all(Array.from({ length: 5 }, () => countDownload("setup.exe")));
      await Promise.all(["a", "b", "a"].map((request) => countDownloadOnce("setup.exe", request)));
      await countDownloadOnce("setup.exe", "b");
      expect(await total("downloads:setup.exe")).toBe(7);
      await onlyTheServer(open, "downloads");
    },
  },

  Scores: {
    files: ["score.ts", "leaderboard.ts"],
    edits: ["function isAllowedAmount"],
    async claims(open) {
      type Score = { startGame(): Promise<{ hit(points: number): void; end(): Promise<void> }> };
      type User = { userId(): Promise<string> };
      const { file, shards, db } = await open("edited");
      const game = await (await file<Score>("score.ts")).startGame();
      for (let hits = 0; hits < 25; hits++) game.hit(6);
      await game.end();
      const own = `score:${await (await file<User>("firebase.ts")).userId()}`;
      expect(await shards(own)).toEqual({ sum: 150, writes: 2 });
      for (const by of [101, -1, 1.5]) await refused(incrementCounter(counter(db, own), by));
      await refused(incrementCounter(counter(db, "score:somebody"), 1));
      await refused(incrementCounter(counter(db, "views:home"), 2));
      await incrementCounter(counter(db, "views:home"));

      const unedited = await open("unedited");
      const log = vi.spyOn(console, "error").mockImplementation(() => {});
      const refusing = await (await unedited.file<Score>("score.ts")).startGame();
      refusing.hit(6);
      await refused(refusing.end());
      // It is kept, and refused again.
      await refused(refusing.end());
      expect(log).toHaveBeenCalledTimes(2);
      log.mockRestore();

      const board = await open("suite");
      const server = await board.file<{ db: FirebaseFirestore.Firestore }>("server.ts");
      for (const [user, points] of Object.entries({ ada: 70, bob: 90, cleo: 70, dan: 10 })) {
        await serverIncrement(serverCounter(server.db, `score:${user}`), points);
        await board.total(`score:${user}`);
      }
      const { leaders, rankOf } = await board.file<{
        leaders(limit: number): Promise<object[]>;
        rankOf(user: string): Promise<number | undefined>;
      }>("leaderboard.ts");
      expect(await leaders(1)).toEqual([{ user: "bob", total: 90 }]);
      expect(await leaders(10)).toHaveLength(4);
      const ranks = await Promise.all(["bob", "ada", "cleo", "dan", "eve"].map(rankOf));
      expect(ranks).toEqual([1, 2, 2, 4, undefined]);
    },
  },

  Ratings: {
    files: ["ratings.ts"],
    edits: ["function isKeyed", "function isAllowedKeyedAmount"],
    async claims(open) {
      type Ratings = {
        rate(item: string, stars: number): Promise<void>;
        unrate(item: string): Promise<void>;
        averageOf(item: string): Promise<number | undefined>;
      };
      const { file, shards, db, anotherUser } = await open("edited");
      const { rate, unrate } = await file<Ratings>("ratings.ts");
      const sums = async () => [(await shards("ratingSum:x")).sum, (await shards("ratingCount:x")).sum];
      await rate("x", 5);
      await rate("x", 1);
      expect(await sums()).toEqual([5, 1]);
      await anotherUser();
      for (const stars of [0.5, 6, -1]) await refused(rate("x", stars));
      await rate("x", 2);
      expect(await sums()).toEqual([7, 2]);
      await unrate("x");
      await unrate("x");
      expect(await sums()).toEqual([5, 1]);
      await rate("x", 4);
      expect(await sums()).toEqual([9, 2]);
      // Without a key it is nobody's, and a like is still worth 1.
      await refused(incrementCounter(counter(db, "ratingCount:x"), 1));
      await refused(incrementCounter(counter(db, "likes:x"), 5, { key: "somebody" }));

      const unedited = await open("unedited");
      await refused((await unedited.file<Ratings>("ratings.ts")).rate("x", 5));

      const published = await open("suite");
      const { averageOf } = await published.file<Ratings>("ratings.ts");
      expect(await averageOf("y")).toBeUndefined();
      const server = await published.file<{ db: FirebaseFirestore.Firestore }>("server.ts");
      await serverIncrement(serverCounter(server.db, "ratingSum:y"), 9);
      await serverIncrement(serverCounter(server.db, "ratingCount:y"), 2);
      await Promise.all([published.total("ratingSum:y"), published.total("ratingCount:y")]);
      expect(await averageOf("y")).toBe(4.5);
    },
  },

  Stock: {
    files: ["stock.ts"],
    edits: ["function isAllowedAmount"],
    async claims(open) {
      const { file, shards, total } = await open("suite");
      const left = async () => (await shards("stock:shoes")).sum;
      const stock = await file<{
        open(item: string, initial: number): Promise<void>;
        sell(item: string, quantity: number, orderId: string): Promise<boolean>;
        recount(item: string, counted: number): Promise<void>;
      }>("stock.ts");
      await stock.open("shoes", 5);
      await stock.open("shoes", 500);
      expect(await left()).toBe(5);
      expect(await stock.sell("shoes", 4, "order1")).toBe(true);
      expect(await stock.sell("shoes", 4, "order1")).toBe(true);
      expect(await stock.sell("shoes", 2, "order2")).toBe(false);
      expect(await left()).toBe(1);
      // Both see the last one: no reservation.
      expect(await Promise.all([stock.sell("shoes", 1, "order3"), stock.sell("shoes", 1, "order4")])).toEqual([
        true,
        true,
      ]);
      expect(await left()).toBe(-1);
      await stock.recount("shoes", 40);
      expect(await left()).toBe(40);
      expect(await stock.sell("shoes", 4, "order1")).toBe(true);
      expect(await total("stock:shoes")).toBe(40);
      await onlyTheServer(open, "stock");
    },
  },

  Charts: {
    files: ["charts.ts"],
    async claims(open) {
      const { file, db, total } = await open("suite");
      const { totals, viewsPerHour } = await file<{
        totals(page: string): Promise<{ x: Date; y: number }[]>;
        viewsPerHour(page: string): Promise<{ x: Date; y: number }[]>;
      }>("charts.ts");
      const { db: server } = await file<{ db: FirebaseFirestore.Firestore }>("server.ts");
      expect(await totals("charted")).toEqual([]);
      const times: Date[] = [];
      // As if there had been a view five hours ago, and one two hours ago.
      for (const hours of [5, 2, 0]) {
        await incrementCounter(counter(db, "views:charted"));
        expect(await total("views:charted")).toBe(times.length + 1);
        const ref = server.doc("counters/views:charted");
        const { seconds } = (await ref.get()).get("asOf");
        times.push(new Date((seconds - hours * 3_600) * 1_000));
        await ref.update({ asOf: times.at(-1) });
      }
      expect(await totals("charted")).toEqual(times.map((x, n) => ({ x, y: n + 1 })));
      const bars = times.slice(1).map((time) => ({ x: new Date(Math.floor(+time / 3_600_000) * 3_600_000), y: 1 }));
      expect(await viewsPerHour("charted")).toEqual(bars);
    },
  },

  Repair: {
    files: ["posts.ts", "alarms.ts"],
    async claims(open) {
      const { file, total, documents } = await open("suite");
      const { db } = await file<{ db: FirebaseFirestore.Firestore }>("server.ts");
      const { nameSource, recountPosts, publishPost, withdrawPost } = await file<{
        nameSource(): Promise<void>;
        recountPosts(): Promise<string>;
        publishPost(id: string, text: string): Promise<void>;
        withdrawPost(id: string): Promise<void>;
      }>("posts.ts");
      for (let n = 0; n < 30; n++) {
        await db.doc(`posts/old${n}`).set({ state: n % 3 === 0 ? "draft" : "published" });
      }
      await nameSource();
      await nameSource();
      // While posts are published and withdrawn.
      const publishing = Promise.all(Array.from({ length: 20 }, (_, n) => publishPost(`new${n}`, "…")));
      await recountPosts();
      await publishing;
      const withdrawing = Promise.all(Array.from({ length: 5 }, (_, n) => withdrawPost(`new${n}`)));
      expect(await recountPosts()).toMatch(/^\d+ posts, all counted$/);
      await withdrawing;
      expect(await recountPosts()).toBe("35 posts, all counted");
      await db.doc("posts/new7").delete();
      expect(await recountPosts()).toBe("34 posts, -1 of them not counted before");
      expect(await total("posts:published")).toBe(34);
      await expect(withdrawPost("new7")).rejects.toThrow();
      expect(await recountPosts()).toBe("34 posts, all counted");

      const { drifted } = await file<{ drifted: { run(event: object): Promise<void> } }>("alarms.ts");
      const data = { counter: "posts:published", expected: 34, found: 35, drift: -1, asOf: new Date().toISOString() };
      await Promise.all([drifted.run({ id: "one", data }), drifted.run({ id: "one", data })]);
      expect(await documents("alarms")).toBe(1);
      expect((await db.doc("alarms/one").get()).data()).toEqual(data);
      expect((await db.collection("counters/posts:published/corrections").get()).size).toBeGreaterThanOrEqual(2);
    },
  },

  Offline: {
    files: ["firebase.ts", "claps.ts"],
    async claims(open) {
      const { file, total, db } = await open("suite");
      const { clap, showClaps } = await file<{
        clap(talk: string, failed: (error: unknown) => void): void;
        showClaps(talk: string, show: (text: string) => void): () => void;
      }>("claps.ts");
      const shown: string[] = [];
      const failed = vi.fn();
      await disableNetwork(db);
      const other = counter(db, "votes:keynote");
      for (const attempt of [getCounter, getExactCounter, counterRank]) {
        await expect(attempt(other)).rejects.toMatchObject({ code: "unavailable" });
      }
      for (const attempt of [hasIncremented, undoIncrement]) {
        await expect(attempt(other, "ada")).rejects.toMatchObject({ code: "unavailable" });
      }
      const stop = showClaps("keynote", (text) => shown.push(text));
      clap("keynote", failed);
      clap("keynote", failed);
      await until(() => expect(shown.at(-1)).toBe("2, sending, offline"));
      await enableNetwork(db);
      await until(() => expect(shown.at(-1)).toBe("2"));
      expect(await total("claps:keynote")).toBe(2);
      expect(failed).not.toHaveBeenCalled();
      stop();
    },
  },

  "Testing your app": {
    files: ["views.test.ts"],
    async claims(open) {
      const { folder } = await open("suite");
      await close();
      const { stdout } = await run("vitest", ["run", "--root", folder], { env: { ...process.env, NO_COLOR: "1" } });
      expect(stdout).toMatch(/Tests +1 passed/);
    },
  },
};

/** The edit closes a group to clients, and nothing else. */
async function onlyTheServer(open: Open, group: string): Promise<void> {
  const unedited = await open("unedited");
  await incrementCounter(counter(unedited.db, `${group}:x`));
  const edited = await open("edited");
  await refused(incrementCounter(counter(edited.db, `${group}:x`)));
  await incrementCounter(counter(edited.db, "views:x"));
  await refused(incrementCounter(counter(edited.db, "views:x"), 2));
}

// ── The tests ─────────────────────────────────────────────────────────────────────────────────────────────────────

test("every section of the guide has an expectation, for each of its blocks; and the reverse", () => {
  const nameOf = (edit: string) => edit.split(/[ (]/, 2).join(" ");
  const inGuide = sections.map(({ title, files, edits }) => [title, Object.keys(files), edits.map(nameOf)]);
  const expected = Object.entries(expectations).map(([title, { files, edits = [] }]) => [title, files, edits]);
  expect(inGuide).toEqual(expected);
});

test("every block type-checks against the package as it is built", async () => {
  for (const section of sections) write(section, "suite", GCLOUD_PROJECT, FIRESTORE_EMULATOR_HOST);
  const config = {
    extends: "../../tsconfig.json",
    // Not the sources: what users install.
    compilerOptions: { paths: {}, jsx: "react-jsx", customConditions: [] },
    include: ["**/*"],
    exclude: [],
  };
  writeFileSync(`${GENERATED}/tsconfig.json`, JSON.stringify(config));
  const { stdout } = await run("tsc", ["-p", GENERATED]).catch((error) => error);
  expect(stdout).toBe("");
});

describe("the claims of", () => {
  for (const section of sections) {
    test(section.title, async () => {
      const opened = new Set<Rules>();
      await expectations[section.title]?.claims((rules, host) => {
        opened.add(rules === "edited suite" ? "edited" : rules);
        return open(section, rules, host);
      });
      // The edit is proven to be enough, and to be needed.
      if (section.edits.length > 0) expect([...opened]).toEqual(expect.arrayContaining(["edited", "unedited"]));
    });
  }
});

test("every link of the guide leads somewhere", () => {
  for (const [, link = ""] of guide.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
    const [file = "", heading] = link.split("#", 2);
    const path = file ? `docs/${file}` : "docs/guide.md";
    expect(existsSync(path), link).toBe(true);
    const headings = [...readFileSync(path, "utf8").matchAll(/^##+ (.*)$/gm)].map(([, title = ""]) => title);
    if (heading) expect(headings.map((title) => title.toLowerCase().replaceAll(" ", "-"))).toContain(heading);
  }
});
