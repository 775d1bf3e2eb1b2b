/** The parameter `REGIONS`: the databases that count the same counters. */
import type { Millis } from "../../counter/time.ts";
import { invalidParameter, listItems } from "../../shared/parameters.ts";

/** The database of another region. */
export interface Region {
  readonly name: string;
  /** The project; `undefined` for that of the functions. */
  readonly project: string | undefined;
  readonly database: string;
}

export interface Regions {
  /** The name of the region whose database these functions serve. */
  readonly own: string;
  readonly others: readonly Region[];
}

/** The regions, and the least time between two exchanges of a counter with them. */
export interface RegionSettings extends Regions {
  readonly exchangeInterval: Millis;
}

const FORM =
  'regions such as "us=(default), eu=tally-eu", each with a name of its own in lower case; ' +
  'in several projects, all are named with theirs: "us=my-project/(default), eu=other-project/(default)"';

/**
 * Parses a list such as `us=(default), eu=tally-eu`, or `us=my-project/(default), eu=other-project/(default)`.
 *
 * @param database  the parameter `DATABASE_ID`: the region with this database, in this project, is the functions' own
 * @returns         `undefined` for an empty list
 * @throws CounterError `counter/invalid-config`
 */
export function parseRegions(list: string, database: string, project = ""): Regions | undefined {
  const items = listItems(list);
  if (items.length === 0) return undefined;
  const regions = items.map((item): Region => {
    const parts = /^(?<name>[a-z][a-z0-9-]*)=(?:(?<project>[^/=]+)\/)?(?<database>[^/=]+)$/.exec(item)?.groups;
    if (!parts?.name || !parts.database) throw invalidParameter("REGIONS", item, FORM);
    return { name: parts.name, project: parts.project, database: parts.database };
  });
  const names = new Set(regions.map(({ name }) => name));
  const databases = new Set(regions.map((region) => `${region.project ?? ""}/${region.database}`));
  // In another project, a database without one would be another.
  const isMixed = new Set(regions.map((region) => region.project === undefined)).size > 1;
  if (isMixed || names.size < regions.length || databases.size < regions.length) {
    throw invalidParameter("REGIONS", list, FORM);
  }
  const own = regions.find((region) => region.database === database && (region.project ?? project) === project);
  if (!own) throw invalidParameter("REGIONS", list, `${FORM}; one of them must have DATABASE_ID, ${database}`);
  return { own: own.name, others: regions.filter((region) => region !== own) };
}
