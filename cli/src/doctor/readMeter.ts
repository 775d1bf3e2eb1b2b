/** What `doctor` costs: it counts its reads as Firestore bills them, and prints the number. */

export interface ReadMeter {
  reads: number;
}

/** What an aggregation costs (https://firebase.google.com/docs/firestore/pricing#aggregation_queries). */
export function perThousand(documents: number): number {
  return Math.max(Math.ceil(documents / 1_000), 1);
}
