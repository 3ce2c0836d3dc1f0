/** How an entry of the ledger is made. Knows nothing of what happened. */
import type { Clock } from '../base/clock.ts';
import { boundedText } from '../base/errors.ts';
import type { InstanceRow, LedgerEntry } from './types.ts';

/** Who did it, by what way and why. */
type Cause = Pick<LedgerEntry, 'trigger' | 'actor' | 'via' | 'reason' | 'requestId' | 'address'>;

/** A ledger entry, about a sandbox or about none. Every entry of the engine and of the API is made here. */
export function ledgerEntry(
  { clock }: { clock: Clock },
  row: Pick<InstanceRow, 'id' | 'tenant'> | null,
  cause: Cause,
  type: string,
  extra: Partial<LedgerEntry> = {},
): LedgerEntry {
  return {
    timeMs: clock.now(),
    instance: row?.id ?? null,
    tenant: row?.tenant ?? null,
    type,
    from: null,
    to: null,
    trigger: cause.trigger,
    actor: cause.actor,
    via: cause.via,
    source: null,
    tookMs: null,
    reason: cause.reason,
    error: null,
    requestId: cause.requestId,
    address: cause.address,
    ...extra,
  };
}

/** The members of an entry, each a column of a line. */
const MEMBERS = [
  'timeMs',
  'instance',
  'tenant',
  'type',
  'from',
  'to',
  'trigger',
  'actor',
  'via',
  'source',
  'tookMs',
  'reason',
  'error',
  'requestId',
  'address',
] as const satisfies readonly (keyof LedgerEntry)[];

/**
 * The entry as it will be read back: lone surrogates are replaced, and the hash must cover the stored text. Each text
 * is bounded, for the ledger keeps what a guest may have written.
 */
export function storedEntry(entry: LedgerEntry): LedgerEntry {
  const kept: Record<string, unknown> = {};
  for (const member of MEMBERS) {
    const value = entry[member];
    kept[member] = typeof value === 'string' ? boundedText(value).toWellFormed() : value;
  }
  return kept as unknown as LedgerEntry;
}
