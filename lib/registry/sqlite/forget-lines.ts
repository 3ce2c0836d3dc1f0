/** Removes the texts from a forgotten tenant's ledger lines. Knows nothing of signatures. */
import { setImmediate } from 'node:timers/promises';
import { CHAIN_START } from '../chain.ts';
import { lineBlankingStatements } from '../statements/forget-lines.ts';
import {
  concerns,
  type ForgottenIds,
  LINES_EXAMINED,
  type LineToBlank,
  type TenantForgettingStore,
} from '../tenant-forgettings.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

export function openLineBlanking(
  database: RegistryDatabase,
  ledger: LedgerTable,
  idsOf: (job: string) => ForgottenIds,
): Pick<SyncMethods<TenantForgettingStore>, 'toBlank' | 'blank' | 'notes'> {
  const { candidates, hashAt, sealedAt, blank, notes } = lineBlankingStatements(database);
  return {
    toBlank(job, tenant, seq, limit) {
      const about = idsOf(job);
      const to = seq + LINES_EXAMINED;
      const found = candidates().all({ after: seq, to, job, tenant, limit });
      const lines = found
        .filter((line) => line.tenant !== null || concerns(line, about))
        .flatMap(({ seq: at }): LineToBlank[] => {
          const [line] = ledger.chain(at - 1, 1);
          const previous = at === 1 ? CHAIN_START.hash : hashOf(at - 1);
          return line === undefined || previous === null ? [] : [{ line, previous }];
        });
      const last = found.length === limit ? found.at(-1) : undefined;
      if (last !== undefined) return { lines, next: last.seq };
      return { lines, next: to >= ledger.lastSeq() ? null : to };
    },
    blank(given) {
      database.write(() => {
        for (const { seq, note } of given) blank().run({ seq, blanked: note });
      });
    },
    async *notes(job) {
      for (let after = 0; ; ) {
        const found = notes().all({ job, after, limit: LINES_EXAMINED });
        yield found.flatMap(({ note }) => note ?? []);
        const last = found.at(-1);
        if (last === undefined || found.length < LINES_EXAMINED) return;
        after = last.seq;
        await setImmediate();
      }
    },
  };

  /** The hash of a line that exists, or of the last line of a dropped month. */
  function hashOf(seq: number): string | null {
    return hashAt().get({ seq })?.hash ?? sealedAt().get({ seq })?.hash ?? null;
  }
}
