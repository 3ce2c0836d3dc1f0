/** Removes the texts from a forgotten tenant's ledger lines. Knows nothing of signatures. */
import { CHAIN_START } from '../chain.ts';
import { lineBlankingStatements } from '../statements/forget-lines.ts';
import {
  concerns,
  type ForgottenIds,
  LINES_EXAMINED,
  type LineToBlank,
  type TenantForgettingStore,
} from '../tenant-forgettings.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

export function openLineBlanking(
  database: PostgresDatabase,
  ledger: LedgerTable,
  idsOf: (job: string) => Promise<ForgottenIds>,
): Pick<TenantForgettingStore, 'toBlank' | 'blank' | 'notes'> {
  const { candidates, hashAt, sealedAt, blank, notes } = database.with(lineBlankingStatements);
  return {
    async toBlank(job, tenant, seq, limit) {
      const about = await idsOf(job);
      const to = seq + LINES_EXAMINED;
      const found = await candidates().all({ after: seq, to, job, tenant, limit });
      const lines: LineToBlank[] = [];
      for (const one of found) {
        if (one.tenant === null && !concerns(one, about)) continue;
        const [line] = await ledger.chain(one.seq - 1, 1);
        const previous = one.seq === 1 ? CHAIN_START.hash : await hashOf(one.seq - 1);
        if (line !== undefined && previous !== null) lines.push({ line, previous });
      }
      const last = found.length === limit ? found.at(-1) : undefined;
      if (last !== undefined) return { lines, next: last.seq };
      return { lines, next: to >= (await ledger.lastSeq()) ? null : to };
    },
    async blank(given) {
      await database.write(async () => {
        for (const { seq, note } of given) await blank().run({ seq, blanked: note });
      });
    },
    notes: async (job) => notesOf(job),
  };

  async function* notesOf(job: string): AsyncGenerator<string[]> {
    for (let after = 0; ; ) {
      const found = await notes().all({ job, after, limit: LINES_EXAMINED });
      yield found.flatMap(({ note }) => note ?? []);
      const last = found.at(-1);
      if (last === undefined || found.length < LINES_EXAMINED) return;
      after = last.seq;
    }
  }

  /** The hash of a line that exists, or of the last line of a dropped month. */
  async function hashOf(seq: number): Promise<string | null> {
    return (await hashAt().get({ seq }))?.hash ?? (await sealedAt().get({ seq }))?.hash ?? null;
  }
}
