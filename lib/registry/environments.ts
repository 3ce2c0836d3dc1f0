/**
 * Variables of guests' environments: those of the tenant, the blueprint, the sandbox, each over the one before, and the
 * names that a snapshot carries. Knows nothing of calls.
 */
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { LedgerEntry } from './types.ts';

/** Whose variables they are, the weaker ones first. */
export const ENVIRONMENT_KINDS = ['snapshot', 'tenant', 'blueprint', 'instance'] as const;
export type EnvironmentKind = (typeof ENVIRONMENT_KINDS)[number];

/** Values by name. Null: the name came from elsewhere without its value, which somebody has to give. */
export type Variables = Readonly<Record<string, string | null>>;

export interface EnvironmentOwner {
  kind: EnvironmentKind;
  /** Name of the tenant or blueprint, id of the snapshot or sandbox. */
  owner: string;
  /** Null for a blueprint without one. */
  tenant: string | null;
}

export interface EnvironmentRow extends EnvironmentOwner {
  variables: Variables;
  /** Epoch seconds. */
  updated: number;
  updatedBy: string;
}

/** One variable as a guest gets it, and whose it is. Null: no value of that name is known. */
export interface EffectiveVariable {
  name: string;
  value: string | null;
  from: EnvironmentKind;
}

export interface EnvironmentStore {
  /** The variables of one owner, or null. */
  get(kind: EnvironmentKind, owner: string): Promise<EnvironmentRow | null>;
  /** Rows that apply to an instance, the weaker ones first. */
  of(instance: InstanceId): Promise<EnvironmentRow[]>;
  /**
   * Sets values, and removes the names in `remove`, with the ledger line. Throws `validation` when there would be too
   * many.
   */
  change(
    owner: EnvironmentOwner,
    change: { set: Variables; remove: readonly string[] },
    by: { now: number; actor: string },
    ledger: LedgerEntry,
  ): Promise<EnvironmentRow>;
  /** Adds names without a value, except those that are there already. No line: it is part of what made the owner. */
  want(owner: EnvironmentOwner, names: readonly string[], by: { now: number; actor: string }): Promise<void>;
}

const MOST_VARIABLES = 100;
const MOST_BYTES = 32 * 1024;

/**
 * Throws `validation` when these are more than one owner may have: 100 variables, and 32 KiB of names and values in
 * UTF-8.
 */
export function requireSmall(variables: Variables): void {
  const entries = Object.entries(variables);
  const bytes = entries.reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value ?? ''),
    0,
  );
  const message =
    entries.length > MOST_VARIABLES
      ? `would be ${entries.length} variables, of at most ${MOST_VARIABLES}`
      : bytes > MOST_BYTES
        ? `would be ${bytes} bytes, of at most ${MOST_BYTES}`
        : null;
  if (message === null) return;
  throw new WinterdockError('validation', `env: ${message}`, {
    extra: { errors: [{ path: 'env', message }] },
    hint: 'Keep what is larger in a file of the sandbox.',
  });
}

/** The names that leave with a copy of a sandbox: those that its guests find, with a value or without. */
export function carriedNames(rows: readonly Pick<EnvironmentRow, 'kind' | 'variables'>[]): string[] {
  return effectiveVariables(rows)
    .map(({ name }) => name)
    .slice(0, MOST_VARIABLES);
}

/** The variables of a guest by name, from rows with the weaker ones first. A name without a value is weaker still. */
export function effectiveVariables(rows: readonly Pick<EnvironmentRow, 'kind' | 'variables'>[]): EffectiveVariable[] {
  const byName = new Map<string, EffectiveVariable>();
  for (const { kind, variables } of rows) {
    for (const [name, value] of Object.entries(variables)) {
      if (value !== null || (byName.get(name)?.value ?? null) === null) byName.set(name, { name, value, from: kind });
    }
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
