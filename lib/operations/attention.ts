/**
 * Operations on what needs a person: what the sources have found, what was acknowledged of it, and acknowledging. Who
 * may not ask a source does not see what it found. Knows no source.
 */
import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import { mayDo } from '../contract/access.ts';
import type { AcknowledgeInput, Attention, AttentionQuery } from '../contract/schema/attention.ts';
import { attentionMarks } from '../health/attention-marks.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { type AskedOperations, ATTENTION_SOURCES } from './attention-sources.ts';
import { auditContextOf } from './audit-context.ts';

export interface AttentionOperations {
  /** What is wrong before what comes near a wall; what is acknowledged too. */
  attention(caller: Caller, query: AttentionQuery): Promise<Attention[]>;
  /** For everybody who sees it, with a line of the ledger. Throws `not_found` when it is over or not theirs to see. */
  acknowledge(caller: Caller, id: string, input: AcknowledgeInput): Promise<Attention>;
  /** Takes it back, also of what is over. Throws `not_found` when it is not acknowledged. */
  unacknowledge(caller: Caller, id: string): Promise<void>;
}

/** `asked`: the operations that sources ask; called when somebody asks, not before. */
export function attentionOperations(
  parts: {
    auth: { actors: ActorDirectory };
    clock: Clock;
    config: Pick<Config, 'store'>;
    registry: Pick<Registry, 'facts'>;
  },
  asked: () => AskedOperations,
): AttentionOperations {
  const { clock, config, registry } = parts;
  const { actors } = parts.auth;
  const marks = attentionMarks(registry, clock);

  const found = async (caller: Caller, tenant: string | null): Promise<Omit<Attention, 'acknowledged'>[]> => {
    const operations = asked();
    let counts: ReturnType<AskedOperations['counts']> | null = null;
    const question = {
      ...{ caller, operations, tenant, now: epochSeconds(clock), hasReplica: config.store.replica !== null },
      counts() {
        counts ??= operations.counts(caller);
        return counts;
      },
    };
    const sources = ATTENTION_SOURCES.filter(({ needs }) => mayDo(caller, needs));
    const rows = await Promise.all(
      sources.map(async ({ kind, read }) => (await read(question)).map((row) => ({ kind, ...row }))),
    );
    return rows
      .flat()
      .filter((row) => tenant === null || row.tenant === tenant)
      .sort((one, other) => Number(one.level === 'warning') - Number(other.level === 'warning'));
  };

  const attention = async (caller: Caller, { tenant }: AttentionQuery): Promise<Attention[]> => {
    const own = caller.tenants?.length === 1 ? caller.tenants[0] : undefined;
    const [rows, known] = await Promise.all([found(caller, tenant ?? own ?? null), marks.list()]);
    const markOf = ({ id, tenant: of, since }: Omit<Attention, 'acknowledged'>) =>
      // An acknowledgement is not of what began after it.
      known.find((mark) => mark.key === id && mark.tenant === of && (since === null || since <= mark.at)) ?? null;
    const marked = rows.map((row) => ({ row, mark: markOf(row) }));
    await actors.load(marked.flatMap(({ mark }) => (mark === null ? [] : [mark.by])));
    return marked.map(({ row, mark }) => {
      if (mark === null) return { ...row, acknowledged: null };
      const { by, at, until, reason } = mark;
      return { ...row, acknowledged: { actor: by, actor_name: actors.nameOf(by), at, until, reason } };
    });
  };

  const lineOf = (caller: Caller, type: string, tenant: string | null, words: string) => ({
    ...ledgerEntry(parts, null, auditContextOf(caller, words), type),
    tenant,
  });
  /** Whoever is of some tenants decides nothing about more than one. */
  const requireSight = ({ tenants }: Caller, tenant: string | null) => {
    if (tenants === null || tenant !== null) return;
    throw new WinterdockError('forbidden', 'It is about more than one tenant, and you are of some.');
  };

  return {
    attention,
    async acknowledge(caller, id, { until = null, reason = '' }) {
      const row = (await attention(caller, {})).find((one) => one.id === id);
      if (row === undefined) {
        throw new WinterdockError('not_found', `Nothing that needs anybody has the id "${id}".`, {
          hint: 'It may be over by now: GET /api/attention has what there is.',
        });
      }
      requireSight(caller, row.tenant);
      if (until !== null && until <= epochSeconds(clock))
        throw new WinterdockError('validation', 'until: it must be later than now', {
          extra: { errors: [{ path: 'until', message: 'must be later than now' }] },
        });
      const line = lineOf(caller, 'attention.acknowledged', row.tenant, reason === '' ? id : `${id}: ${reason}`);
      const said = reason === '' ? null : reason;
      await marks.put({ key: id, tenant: row.tenant, by: caller.actor, until, reason: said }, line);
      const now = await attention(caller, {});
      return now.find((one) => one.id === id) ?? row;
    },
    async unacknowledge(caller, id) {
      const { tenants } = caller;
      const mark = (await marks.list()).find(
        ({ key, tenant }) => key === id && (tenants === null || (tenant !== null && tenants.includes(tenant))),
      );
      const isRemoved =
        mark !== undefined &&
        (await marks.remove(
          id,
          ({ tenant }) => tenant === mark.tenant,
          lineOf(caller, 'attention.reopened', mark.tenant, id),
        ));
      if (!isRemoved) throw new WinterdockError('not_found', `Nothing with the id "${id}" is acknowledged.`);
    },
  };
}
