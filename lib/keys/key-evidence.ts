/** What a registry that a server may be using says of keys, and what was made with them. Changes nothing. */
import type { RegistryDriver, SealedRows } from '../registry/driver.ts';
import { KEYS_FACT, type KnownKeys, parseKnownKeys } from './known-keys.ts';

export interface KeyEvidence extends SealedRows {
  /** Null where nothing is known of any key. */
  known: KnownKeys | null;
  /** Who sealed the last month of the ledger that is sealed; null when none is. */
  lastSealer: string | null;
}

/** Null when there is no registry, or nothing in it. Throws the errors of its database. */
export async function readKeyEvidence(driver: RegistryDriver): Promise<KeyEvidence | null> {
  if ((await driver.presence()).kind !== 'there') return null;
  const moment = await driver.inspect();
  try {
    return {
      ...(await moment.sealed()),
      known: parseKnownKeys(await moment.fact(KEYS_FACT)),
      lastSealer: moment.chained ? ((await moment.segments.list()).at(-1)?.issuer ?? null) : null,
    };
  } finally {
    await moment.close();
  }
}
