/**
 * A day on which counters made by hand are adopted: old apps and new ones count all the time, but for quiet phases in which shards are
 * folded. The functions are killed again and again, and so is the command, once.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { counter, incrementCounter } from "firestore-tally";
import * as server from "firestore-tally/admin";
import { randomFor } from "../../core/testing/random.ts";
import { cliProject } from "../../testkit/cli.ts";
import { admin, client } from "../../testkit/clients.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { createByHand, oldPage, oldServer, openToOldApps } from "../adopting/recipe.ts";
import type { HostedFaults } from "./hosted.ts";

export interface AdoptionResult {
  readonly acknowledged: number;
  /** Errors of increments, by the app that has made them. */
  readonly refused: readonly string[];
  /** Counters whose sum, published total or total in an old app is not what was acknowledged. */
  readonly wrong: readonly string[];
  readonly kills: number;
  /** Events and tasks that the functions have handled. */
  readonly invocations: number;
  readonly publishes: number;
  readonly seconds: number;
}

const COUNTERS = 4;
const SHARDS = 10;
/** What each counter has before. */
const BEFORE = 1_000;
/** Longer than the cool-down of five seconds, the polls before it and the fold. */
const QUIET_MS = 12_000;
/** Of each kind. */
const APPS = 2;
/** How long an app waits between two increments, on average. */
const PAUSE_MS = 100;

/** @param increments  how many are made in all: a fifth each before and during the adoption, and three fifths after it */
export async function runAdoption(environment: HostedFaults, increments: number): Promise<AdoptionResult> {
  const start = performance.now();
  // On a busy machine several increments overtake the transaction of a page.
  await openToOldApps(readFileSync("firestore.rules", "utf8"), "by >= -9 && by <= 1");
  const { json, start: startProcess, db } = cliProject(process.env.GCLOUD_PROJECT as string);
  const ids = Array.from({ length: COUNTERS }, (_, n) => `hits:day${n}`);
  const expected = new Map(ids.map((id) => [id, BEFORE]));
  await Promise.all(ids.map((id) => createByHand(id, SHARDS, BEFORE / SHARDS)));

  const old = Array.from({ length: APPS }, () => [oldPage, oldServer]).flatMap((open) =>
    open.flatMap((app) => [app("increment", SHARDS), app("transaction", SHARDS)]),
  );
  const pages = Array.from({ length: APPS }, () => client());
  const apps = [
    ...old.map(({ name, increment }) => ({ name: `old ${name}`, increment })),
    ...pages.map((page) => ({ name: "new page", increment: (id: string) => incrementCounter(counter(page.db, id)) })),
    { name: "new server", increment: (id: string) => server.incrementCounter(server.counter(admin, id)) },
  ];
  const random = randomFor(Date.now(), "adoption");
  const refused: string[] = [];
  let acknowledged = 0;
  const countSome = async (some: number) => {
    let left = some;
    const work = async ({ name, increment }: (typeof apps)[number]) => {
      while (left-- > 0) {
        const id = random.pick(ids);
        try {
          await increment(id);
          acknowledged++;
          expected.set(id, (expected.get(id) ?? 0) + 1);
        } catch (error) {
          refused.push(`${name}: ${error}`);
        }
        await sleep(2 * PAUSE_MS * Math.random());
      }
    };
    await Promise.all(apps.map(work));
  };

  const before = environment.handled();
  const killing = environment.killAgainAndAgain();
  const part = Math.ceil(increments / 5);
  await countSome(part);
  await sleep(QUIET_MS);
  const killed = startProcess("adopt", ...ids, "--yes");
  await Promise.all([
    countSome(part),
    sleep(1_000 * Math.random())
      .then(() => killed.process.kill("SIGKILL"))
      .then(() => killed.ended)
      .then(() => json("adopt", "--yes")),
  ]);
  for (let n = 0; n < 3; n++) {
    await countSome(part);
    await sleep(QUIET_MS);
  }
  const kills = await killing.end();

  const findWrong = async () => {
    const found = ids.map(async (id) => {
      const totals = [await sumOfIncrements(id), (await readPublished(id))?.total, await old[0]?.total(id)];
      const isRight = totals.every((total) => total === expected.get(id));
      return isRight ? [] : [`${id}: ${totals.join()} of ${expected.get(id)}`];
    });
    return (await Promise.all(found)).flat();
  };
  await until(async () => (await findWrong()).length === 0, "all totals").catch(() => undefined);
  const published = await Promise.all(ids.map(readPublished));
  const result = {
    ...{ acknowledged, refused, kills, wrong: await findWrong() },
    invocations: environment.handled() - before,
    publishes: published.reduce((sum, one) => sum + (one?.publishes ?? 0), 0),
    seconds: Math.round((performance.now() - start) / 1_000),
  };
  await Promise.all([...old, ...pages].map((app) => app.close()));
  await db.terminate();
  return result;
}
