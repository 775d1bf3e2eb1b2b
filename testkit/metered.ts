/** What code costs that uses the Admin SDK: a client that connects to the emulator through a meter. */
import type { Firestore } from "firebase-admin/firestore";
import { adminAt } from "./clients.ts";
import { type Inspection, startProxy } from "./grpcProxy.ts";
import { type MeterReading, meter, type Usage } from "./meter.ts";

interface Metered extends MeterReading {
  readonly firestore: Firestore;
  /** What is used while an action runs. */
  usedBy(act: () => Promise<unknown>): Promise<Usage>;
  close(): Promise<void>;
}

/** @param inspections  others that see or change the messages before the meter */
export async function metered(...inspections: readonly Inspection[]): Promise<Metered> {
  const { reading, inspection } = meter();
  const proxy = await startProxy(process.env.FIRESTORE_EMULATOR_HOST as string, [...inspections, inspection]);
  const { firestore, close } = adminAt(proxy.address);
  return {
    ...reading,
    firestore: firestore as unknown as Firestore,
    async usedBy(act) {
      const before = { ...reading.usage };
      await act();
      const { reads, writes, deletes } = reading.usage;
      return { reads: reads - before.reads, writes: writes - before.writes, deletes: deletes - before.deletes };
    },
    close: () => close().finally(proxy.close),
  };
}
