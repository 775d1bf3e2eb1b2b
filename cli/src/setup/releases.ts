/** What each version changes for deployed clients, newest last. `upgrade` prints it first. */

interface Release {
  readonly version: string;
  /** One sentence for each change that a deployed client notices. */
  readonly clients: readonly string[];
}

export const RELEASES: readonly Release[] = [{ version: "0.1.0", clients: [] }];

/** What changes for clients from one version to another. */
export function changesFor(from: string, to: string, releases = RELEASES): string[] {
  const isAfter = (one: string, other: string) => compareVersions(one, other) > 0;
  const between = releases.filter(({ version }) => isAfter(version, from) && !isAfter(version, to));
  return between.flatMap(({ version, clients }) => clients.map((change) => `${version}: ${change}`));
}

/** @returns more than 0 if the first is newer */
function compareVersions(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}
