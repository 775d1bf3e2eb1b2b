import fc from "fast-check";
import { expect, test } from "vitest";
import { addressOf, createAddressLimit, createLimit } from "./rateLimit.ts";

test("in any window, an address gets its burst and the rate times the window at most", () => {
  const requests = fc.array(fc.record({ after: fc.nat(3_000), events: fc.integer({ min: 1, max: 250 }) }));
  fc.assert(
    fc.property(requests, fc.integer({ min: 1, max: 50 }), (list, rate) => {
      const waitFor = createLimit({ perSecond: rate });
      const accepted: { at: number; events: number }[] = [];
      let now = 0;
      for (const { after, events } of list) {
        now += after;
        if (waitFor("a", events, now) === 0) accepted.push({ at: now, events });
      }
      for (const [index, { at: from }] of accepted.entries()) {
        let sum = 0;
        for (const { at, events } of accepted.slice(index)) {
          // The last batch may be larger than what was left, and delays the next ones.
          expect(sum).toBeLessThanOrEqual(10 * rate + ((at - from) * rate) / 1_000 + 1e-6);
          sum += events;
        }
      }
    }),
  );
});

test("a refused address is accepted after the time that it was told, and not a second before", () => {
  const waitFor = createLimit({ perSecond: 10 });
  expect(waitFor("a", 100, 0)).toBe(0);
  expect(waitFor("a", 20, 0)).toBe(2_000);
  expect(waitFor("a", 20, 1_000)).toBe(1_000);
  expect(waitFor("a", 20, 2_000)).toBe(0);
  expect(waitFor("b", 100, 2_000)).toBe(0);
});

test("a batch as large as the burst is accepted after the request itself was charged", () => {
  const waitFor = createLimit({ perSecond: 10 });
  expect(waitFor("a", 1, 0)).toBe(0);
  expect(waitFor("a", 100, 0)).toBe(0);
});

test("a batch larger than the burst is accepted once, and paid for later", () => {
  const waitFor = createLimit({ perSecond: 10 });
  expect(waitFor("a", 300, 0)).toBe(0);
  expect(waitFor("a", 1, 0)).toBe(20_100);
});

test("what is given back can be taken again, up to the burst", () => {
  const waitFor = createLimit({ perSecond: 10 });
  expect(waitFor("a", 100, 0)).toBe(0);
  expect(waitFor("a", -30, 0)).toBe(0);
  expect(waitFor("a", 31, 0)).toBe(100);
  expect(waitFor("a", -1_000, 0)).toBe(0);
  expect([waitFor("a", 100, 0), waitFor("a", 1, 0)]).toEqual([0, 100]);
});

test("the addresses of one site count as one, and those of a network as ten", () => {
  const waitFor = createAddressLimit({ perSecond: 1 }, { perSecond: 1_000 });
  const burst = (address: string) => waitFor(address, 10, 0) === 0;
  expect(burst("2001:db8:0:7::1")).toBe(true);
  expect(burst("2001:db8:0:7:ffff::2")).toBe(false);
  expect(burst("2001:db8::7:0:0:0:9")).toBe(false);
  for (let site = 8; site < 17; site++) expect(burst(`2001:db8::${site}:0:0:0:9`)).toBe(true);
  expect(burst("2001:db8::ff:0:0:0:9")).toBe(false);
  expect(burst("2001:DB8:1:7::1%eth0")).toBe(true);
  const few = createAddressLimit({ perSecond: 1 }, { perSecond: 10 });
  const sites = [1, 2, 3].map((site) => few(`2001:db8::${site}:0:0:0:9`, 10, 0) === 0);
  expect(sites).toEqual([true, true, false]);
  expect(["::1", "fe80::1%0", "1.2.3.4", "::ffff:1.2.3.4"].map(burst)).toEqual([true, true, true, false]);
});

test("all addresses together have a limit, and an address that it refuses keeps its own", () => {
  const waitFor = createAddressLimit({ perSecond: 10 }, { perSecond: 20 });
  expect(["a", "b", "c"].map((address) => waitFor(address, 100, 0))).toEqual([0, 0, 5_000]);
  expect(waitFor("c", 100, 10_000)).toBe(0);
});

test("the address is what the front end has appended, not what the sender has written", () => {
  expect(addressOf("9.9.9.9, 1.2.3.4", "10.0.0.1")).toBe("1.2.3.4");
  expect(addressOf("1.2.3.4", "10.0.0.1")).toBe("1.2.3.4");
  expect(addressOf("", "10.0.0.1")).toBe("10.0.0.1");
  expect(addressOf(undefined, undefined)).toBe("");
});
