/** The lines of the ledger that tell of an epoch. Pure. */
import type { LedgerLine } from '../registry/types.ts';

export const EPOCH_BEGUN = 'ledger.epoch_begun';

export interface EpochLine {
  epoch: number;
  seq: number;
  timeMs: number;
  actor: string;
  /** From where the ledger goes on, what the head before it was, and why. */
  reason: string;
}

/** What a line tells of an epoch, or null when it tells of none. */
export function epochLineOf(line: LedgerLine): EpochLine | null {
  if (line.type !== EPOCH_BEGUN) return null;
  const { seq, timeMs, actor } = line;
  const reason = line.reason ?? '';
  const number = /^epoch (\d+) begins /.exec(reason)?.[1];
  return number === undefined ? null : { epoch: Number(number), seq, timeMs, actor, reason };
}
