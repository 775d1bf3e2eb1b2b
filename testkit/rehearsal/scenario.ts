/** What a project is like before a deployment: what exists, and what its owner or Google refuses. */

export type ApiEdition = "STANDARD" | "ENTERPRISE";

export interface Scenario {
  /** The databases that exist, by id. */
  readonly databases: Readonly<Record<string, { readonly locationId: string; readonly databaseEdition?: ApiEdition }>>;
  /** The roles of accounts, by email. Of accounts that are missing here, and that no deployment creates, nothing is known. */
  readonly accounts: Readonly<Record<string, readonly string[]>>;
  /**
   * Whether the default account of Compute Engine is an editor. Organizations of May 2024 and later forbid it:
   * https://cloud.google.com/resource-manager/docs/secure-by-default-organizations
   */
  readonly defaultAccountIsEditor: boolean;
  /** Permissions that the user who deploys lacks. */
  readonly missingPermissions: readonly string[];
  /** Whether the organization forbids public functions. */
  readonly orgForbidsPublic: boolean;
  readonly failures: readonly Failure[];
}

/** An answer in the place of the right one. */
export interface Failure {
  /** Of `METHOD host/path`. */
  readonly match: RegExp;
  readonly status: number;
  readonly message: string;
  /** How often; without it, always. */
  readonly times?: number;
}

/** A project in daily use, with a database in the CLI's default location. */
export const DEFAULT_SCENARIO: Scenario = {
  databases: { "(default)": { locationId: "nam5" } },
  accounts: {},
  defaultAccountIsEditor: true,
  missingPermissions: [],
  orgForbidsPublic: false,
  failures: [],
};
