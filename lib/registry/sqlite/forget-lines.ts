/** Removes the texts from a forgotten tenant's ledger lines. Knows nothing of signatures. */
import { setImmediate } from 'node:timers/promises';
import { CHAIN_START } from '../chain.ts';
import { lineBlankingStatements } from '../statements/forget-lines.ts';
import type { LineToBlank, TenantForgettingStore } from '../tenant-forgettings.ts';
import type { RegistryDatabase } from './database.ts';
import type { ForgottenIds } from './forgotten-ids.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

/** Line numbers examined before other work runs. */
const SPAN = 5000;
/** The columns that decide whether a line concerns the tenant. */
interface Candidate {
  seq: number;
  tenant: string | null;
  type: string;
  actor: string;
  reason: string | null;
  requestId: string | null;
}

export function openLineBlanking(
  database: RegistryDatabase,
  ledger: LedgerTable,
  idsOf: (job: string) => ForgottenIds,
): Pick<SyncMethods<TenantForgettingStore>, 'toBlank' | 'blank' | 'notes'> {
  const { candidates, hashAt, sealedAt, blank, notes } = lineBlankingStatements(database);
  return {
    toBlank(job, tenant, seq, limit) {
      const about = idsOf(job);
      const to = seq + SPAN;
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
        const found = notes().all({ job, after, limit: SPAN });
        yield found.flatMap(({ note }) => note ?? []);
        const last = found.at(-1);
        if (last === undefined || found.length < SPAN) return;
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

/**
 * True when a line without a tenant is about one of its people or jobs. The first line of a job has its request's id,
 * and names the job.
 */
function concerns({ type, actor, reason, requestId }: Candidate, { actors, jobs }: ForgottenIds): boolean {
  if (actors.includes(actor) || (requestId !== null && jobs.includes(requestId))) return true;
  return type === 'job.started' && reason !== null && jobs.some((id) => reason.includes(id));
}
