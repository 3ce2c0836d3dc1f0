/** The ledger lines that describe an epoch. Pure. */
import type { LedgerLine } from '../registry/types.ts';

export const EPOCH_BEGUN = 'ledger.epoch_begun';

export interface EpochLine {
  epoch: number;
  seq: number;
  timeMs: number;
  actor: string;
  /** Where the ledger continues, the previous head, and why. */
  reason: string;
}

/** The epoch that a line describes, or null. */
export function epochLineOf(line: LedgerLine): EpochLine | null {
  if (line.type !== EPOCH_BEGUN) return null;
  const { seq, timeMs, actor } = line;
  const reason = line.reason ?? '';
  const number = /^epoch (\d+) begins /.exec(reason)?.[1];
  return number === undefined ? null : { epoch: Number(number), seq, timeMs, actor, reason };
}
