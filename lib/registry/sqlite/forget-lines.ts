/** Removes the texts from a forgotten tenant's ledger lines. Knows nothing of signatures. */
import { setImmediate } from 'node:timers/promises';
import { and, eq, gt, isNotNull, isNull, lte, ne, notInArray, or, placeholder } from '../../../db/drizzle.ts';
import { events, ledgerSegments } from '../../../db/schema.ts';
import { CHAIN_START } from '../chain.ts';
import type { LineToBlank, TenantForgettingStore } from '../tenant-forgettings.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { ForgottenIds } from './forgotten-ids.ts';
import type { LedgerTable } from './ledger.ts';
import { jsonMember, selectBy } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

/** Line numbers examined before other work runs. */
const SPAN = 5000;
/** Types of a forgetting's own lines, which keep their texts. */
const OWN_TYPES = ['tenant.forgetting', 'tenant.forgotten'];
const { reason, error, requestId, address, blanked } = events;

/** Lines with more content than ids that are not about the forgetting `job`. */
export const HAS_TEXTS = and(
  isNull(blanked),
  notInArray(events.type, OWN_TYPES),
  or(isNotNull(reason), isNotNull(error), isNotNull(address), ne(requestId, placeholder('job'))),
);

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
  const candidates = database.statement((queries) =>
    queries
      .select({ seq: events.seq, tenant: events.tenant, type: events.type, actor: events.actor, reason, requestId })
      .from(events)
      .where(
        and(
          gt(events.seq, placeholder('after')),
          lte(events.seq, placeholder('to')),
          HAS_TEXTS,
          or(eq(events.tenant, placeholder('tenant')), isNull(events.tenant)),
        ),
      )
      .orderBy(events.seq)
      .limit(placeholder('limit'))
      .prepare(),
  );
  const hashAt = database.statement((queries) =>
    queries
      .select({ hash: events.hash })
      .from(events)
      .where(eq(events.seq, placeholder('seq')))
      .prepare(),
  );
  const sealedAt = database.statement((queries) =>
    queries
      .select({ hash: ledgerSegments.lastHash })
      .from(ledgerSegments)
      .where(eq(ledgerSegments.lastSeq, placeholder('seq')))
      .prepare(),
  );
  const blank = database.statement((queries) =>
    queries
      .update(events)
      .set({ reason: null, error: null, requestId: null, address: null, ...boundColumns({ blanked }) })
      .where(and(eq(events.seq, placeholder('seq')), isNull(blanked)))
      .prepare(),
  );
  const notes = database.statement((queries) =>
    selectBy(queries, { seq: events.seq, note: blanked }, events, 'events_blanked')
      .where(
        and(
          isNotNull(blanked),
          gt(events.seq, placeholder('after')),
          eq(jsonMember(blanked, 'by'), placeholder('job')),
        ),
      )
      .orderBy(events.seq)
      .limit(placeholder('limit'))
      .prepare(),
  );

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
