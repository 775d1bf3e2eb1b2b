/** The event of a drift, as a server in place of Eventarc gets it. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { logger } from "firebase-functions/logger";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import type { CounterReconciliation } from "../../../../admin/src/index.ts";
import { toTimestamp } from "../../counter/fields.ts";
import { DRIFT_EVENT, raiseAlarm } from "./alarm.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Raises an alarm while Eventarc answers with a status. @returns its requests, and what was logged */
async function alarmWith(status: number, environment: Record<string, string> = {}) {
  const received: { url: string | undefined; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    received.push({ url: request.url, body });
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const stubbed = {
    GCLOUD_PROJECT: "demo-alarm",
    CLOUD_EVENTARC_EMULATOR_HOST: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    EVENTARC_CHANNEL: "locations/europe-west1/channels/tally",
    ...environment,
  };
  for (const [name, value] of Object.entries(stubbed)) vi.stubEnv(name, value);
  const log = vi.spyOn(logger, "write").mockReturnValue();
  const reconciliation = { expected: 1, found: 0, drift: 1, corrected: true, asOf: toTimestamp(1_700_000_000_000) };
  await raiseAlarm("drifting", reconciliation as unknown as CounterReconciliation);
  return { received, logged: log.mock.calls.map(([{ message }]) => message) };
}

const drifted = "a counter had drifted from its source, and was corrected";

test("the event is published to the channel of the configuration, and logged", async () => {
  const { received, logged } = await alarmWith(200);
  expect(logged).toEqual([drifted]);
  expect(received.map(({ url }) => url)).toEqual([
    expect.stringMatching(/^\/projects\/[^/]+\/locations\/europe-west1\/channels\/tally:publishEvents$/),
  ]);
  const [event] = JSON.parse(received[0]?.body ?? "").events;
  expect(event).toMatchObject({ type: DRIFT_EVENT, attributes: { subject: { ceString: "drifting" } } });
  expect(JSON.parse(event.textData)).toMatchObject({ counter: "drifting", expected: 1, found: 0, drift: 1 });
});

test("an event that cannot be published is logged, and fails nothing", async () => {
  const { logged } = await alarmWith(403);
  expect(logged).toEqual([drifted, "could not publish the event of a drift; the counter is correct"]);
});

test.each([
  ["", 0],
  ["other.publisher.v1.event", 0],
  [`other.publisher.v1.event,${DRIFT_EVENT}`, 1],
])("is published only if selected in the extension: %j", async (selected, events) => {
  expect((await alarmWith(200, { EXT_SELECTED_EVENTS: selected })).received).toHaveLength(events);
});

test("is not published without a channel", async () => {
  expect((await alarmWith(200, { EVENTARC_CHANNEL: "" })).received).toEqual([]);
});
