/**
 * Webhooks and their deliveries. A trigger removes the deliveries of a removed webhook. Knows nothing of what is sent
 * or when it is tried.
 */
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  isNotNull,
  lt,
  lte,
  max,
  ne,
  or,
  placeholder,
} from '../../../db/drizzle.ts';
import { webhookDeliveries, webhooks } from '../../../db/schema.ts';
import { WinterdockError } from '../../base/errors.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { LedgerEntry } from '../types.ts';
import type { DeliveryRow, WebhookRow, WebhookStore } from '../webhooks.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import { plusBound } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

const { seq: _, ...WEBHOOK } = getTableColumns(webhooks);
const { seq, ...DELIVERY } = getTableColumns(webhookDeliveries);
const UNTRIED = { state: 'pending', attempts: 0, attemptedMs: null, tookMs: null, status: null, error: null } as const;

export function openWebhooks(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<WebhookStore> {
  const statements = webhookStatements(database);

  /** Runs `work` and appends the line in one transaction. Without a result nothing is written. */
  const logged = <T>(entry: LedgerEntry, work: () => T | null): T | null => {
    const [result, lines] = database.write(() => {
      const done = work();
      return [done, done === null ? [] : ledger.append([entry])] as const;
    });
    ledger.announce(lines);
    return result;
  };
  const get = (id: string): WebhookRow | null => statements.get().get({ id }) ?? null;
  const getDelivery = (id: string): DeliveryRow | null => statements.getDelivery().get({ id }) ?? null;

  return {
    add(webhook, most, entry) {
      const row: WebhookRow = {
        ...webhook,
        oldSecret: null,
        oldSecretUntil: null,
        enabled: true,
        offReason: null,
        failures: 0,
        failingSinceMs: null,
        lastSuccessMs: null,
      };
      logged(entry, () => {
        if ((statements.count().get()?.n ?? 0) >= most) throw tooMany(most);
        return statements.insert().run({ ...row });
      });
      return row;
    },
    get,
    tenantOf: (id) => statements.tenantOf().get({ id })?.tenant ?? null,
    list: () => statements.list().all(),
    change: (id, patch, nowMs, entry) =>
      logged(entry, () => {
        const row = get(id);
        if (row === null) return null;
        const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
        const after: WebhookRow = { ...row, ...given };
        if (after.enabled && !row.enabled) {
          Object.assign(after, { offReason: null, failures: 0, failingSinceMs: null });
          statements.hasten().run({ webhook: id, nowMs });
        }
        statements.update().run({ ...after });
        return after;
      }),
    reseal: (changes) =>
      database.write(
        () =>
          changes.filter(({ from: { id, ...from }, to }) => {
            const row = get(id);
            if (row === null || row.secret !== from.secret || row.oldSecret !== from.oldSecret) return false;
            statements.update().run({ ...row, ...to });
            return true;
          }).length,
      ),
    remove: (id, entry) => logged(entry, () => (statements.remove().run({ id }).changes === 1 ? true : null)) ?? false,

    plan(steps) {
      if (steps.length === 0) return [];
      return database.writeWithoutSync(() =>
        steps.filter(({ webhook, from, to, deliveries }) => {
          if (statements.move().run({ id: webhook, from, to }).changes === 0) return false;
          for (const one of deliveries) statements.insertDelivery().run({ ...UNTRIED, ...one });
          return true;
        }),
      );
    },
    pending: (webhook, most) => statements.pending().all({ webhook, most }).length,
    due: (webhook, nowMs, limit) => statements.due().all({ webhook, nowMs, limit }),
    earliest: (webhook) => statements.earliest().get({ webhook })?.nextMs ?? null,
    recordAttempt({ id, webhook }, attempt, health, keep, off) {
      const record = () => {
        statements.recordAttempt().run({ id, ...attempt, one: 1 });
        statements.recordHealth().run({ id: webhook, ...health });
        const surplus = statements.surplus().get({ webhook, keep });
        if (surplus !== undefined) statements.removeEnded().run({ webhook, seq: surplus.seq });
        return true;
      };
      if (off === null) {
        database.writeWithoutSync(record);
        return;
      }
      logged(off.ledger, () => {
        record();
        return statements.turnOff().run({ id: webhook, reason: off.reason }).changes === 1 ? true : null;
      });
    },
    hasten: (webhook, nowMs) => database.writeWithoutSync(() => void statements.hasten().run({ webhook, nowMs })),
    hastenAhead(webhook, nowMs, longestMs) {
      const values = { webhook, nowMs, latestMs: nowMs + longestMs };
      if (statements.ahead().get(values) === undefined) return;
      database.writeWithoutSync(() => void statements.hastenAhead().run(values));
    },
    addTest(delivery, entry) {
      // As it stays when the server ends before the answer.
      const row: DeliveryRow = {
        ...UNTRIED,
        ...delivery,
        state: 'failed',
        error: 'The server ended before an answer.',
      };
      logged(entry, () => statements.insertDelivery().run({ ...row }));
      return row;
    },
    getDelivery,
    deliveries(webhook, state, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isPosition);
      const values = { webhook, seq: before, limit: limit + 1 };
      const found =
        state === undefined ? statements.deliveries().all(values) : statements.inState().all({ ...values, state });
      const last = found.length > limit ? found[limit - 1] : undefined;
      return {
        rows: found.slice(0, limit).map(({ seq: _number, ...row }) => row),
        next: last === undefined ? null : writeCursor([last.seq]),
      };
    },
    resend: (id, nowMs, entry) =>
      logged(entry, () => (statements.resend().run({ id, nowMs }).changes === 1 ? getDelivery(id) : null)),
  };
}

function isPosition(position: unknown[]): position is [number] {
  return position.length === 1 && Number.isSafeInteger(position[0]);
}

function tooMany(most: number): WinterdockError {
  return new WinterdockError('quota_exceeded', `There are ${most} webhooks already, the most that are allowed.`, {
    hint: 'Remove one that is not needed.',
    extra: { quota: 'webhooks', limit: most },
  });
}

function webhookStatements(database: RegistryDatabase) {
  const isIt = eq(webhooks.id, placeholder('id'));
  const isOf = eq(webhookDeliveries.webhook, placeholder('webhook'));
  const isDelivery = eq(webhookDeliveries.id, placeholder('id'));
  const { state, nextMs, attempts, attemptedMs } = webhookDeliveries;
  const { id: _id, tenant: _tenant, created: _created, createdBy: _createdBy, ...MUTABLE } = WEBHOOK;
  const isAhead = and(
    isOf,
    isNotNull(nextMs),
    gt(nextMs, placeholder('nowMs')),
    or(eq(attempts, 0).inlineParams(), gt(attemptedMs, placeholder('nowMs')), gt(nextMs, placeholder('latestMs'))),
  );
  const page = (...where: Parameters<typeof and>) =>
    database.statement((queries) =>
      queries
        .select({ ...DELIVERY, seq })
        .from(webhookDeliveries)
        .where(and(isOf, lt(seq, placeholder('seq')), ...where))
        .orderBy(desc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    );
  return {
    insert: database.statement((queries) => queries.insert(webhooks).values(boundColumns(WEBHOOK)).prepare()),
    update: database.statement((queries) => queries.update(webhooks).set(boundColumns(MUTABLE)).where(isIt).prepare()),
    remove: database.statement((queries) => queries.delete(webhooks).where(isIt).prepare()),
    get: database.statement((queries) => queries.select(WEBHOOK).from(webhooks).where(isIt).prepare()),
    tenantOf: database.statement((queries) =>
      queries
        .select({ tenant: max(webhooks.tenant) })
        .from(webhooks)
        .where(isIt)
        .prepare(),
    ),
    list: database.statement((queries) => queries.select(WEBHOOK).from(webhooks).orderBy(asc(webhooks.seq)).prepare()),
    count: database.statement((queries) => queries.select({ n: count() }).from(webhooks).prepare()),
    move: database.statement((queries) =>
      queries
        .update(webhooks)
        .set({ cursor: boundValue('to') })
        .where(and(isIt, eq(webhooks.cursor, placeholder('from')), eq(webhooks.enabled, true).inlineParams()))
        .prepare(),
    ),
    recordHealth: database.statement((queries) =>
      queries
        .update(webhooks)
        .set({
          failures: boundValue('failures'),
          failingSinceMs: boundValue('failingSinceMs'),
          lastSuccessMs: boundValue('lastSuccessMs'),
        })
        .where(isIt)
        .prepare(),
    ),
    turnOff: database.statement((queries) =>
      queries
        .update(webhooks)
        .set({ enabled: false, offReason: boundValue('reason') })
        .where(and(isIt, eq(webhooks.enabled, true).inlineParams()))
        .prepare(),
    ),

    insertDelivery: database.statement((queries) =>
      queries.insert(webhookDeliveries).values(boundColumns(DELIVERY)).onConflictDoNothing().prepare(),
    ),
    getDelivery: database.statement((queries) =>
      queries.select(DELIVERY).from(webhookDeliveries).where(isDelivery).prepare(),
    ),
    pending: database.statement((queries) =>
      queries
        .select({ seq })
        .from(webhookDeliveries)
        .where(and(isOf, isNotNull(nextMs)))
        .limit(placeholder('most'))
        .prepare(),
    ),
    due: database.statement((queries) =>
      queries
        .select(DELIVERY)
        .from(webhookDeliveries)
        .where(and(isOf, isNotNull(nextMs), lte(nextMs, placeholder('nowMs'))))
        .orderBy(asc(nextMs), asc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    earliest: database.statement((queries) =>
      queries
        .select({ nextMs })
        .from(webhookDeliveries)
        .where(and(isOf, isNotNull(nextMs)))
        .orderBy(asc(nextMs))
        .limit(1)
        .prepare(),
    ),
    recordAttempt: database.statement((queries) =>
      queries
        .update(webhookDeliveries)
        .set({
          state: boundValue('state'),
          nextMs: boundValue('nextMs'),
          attemptedMs: boundValue('attemptedMs'),
          tookMs: boundValue('tookMs'),
          status: boundValue('status'),
          error: boundValue('error'),
          attempts: plusBound(webhookDeliveries.attempts, 'one'),
        })
        .where(isDelivery)
        .prepare(),
    ),
    hasten: database.statement((queries) =>
      queries
        .update(webhookDeliveries)
        .set({ nextMs: boundValue('nowMs') })
        .where(and(isOf, isNotNull(nextMs), gt(nextMs, placeholder('nowMs'))))
        .prepare(),
    ),
    ahead: database.statement((queries) =>
      queries.select({ seq }).from(webhookDeliveries).where(isAhead).limit(1).prepare(),
    ),
    hastenAhead: database.statement((queries) =>
      queries
        .update(webhookDeliveries)
        .set({ nextMs: boundValue('nowMs') })
        .where(isAhead)
        .prepare(),
    ),
    /** The newest of those that ended that is one too many. */
    surplus: database.statement((queries) =>
      queries
        .select({ seq })
        .from(webhookDeliveries)
        .where(and(isOf, ne(state, 'pending').inlineParams()))
        .orderBy(desc(seq))
        .limit(1)
        .offset(placeholder('keep'))
        .prepare(),
    ),
    removeEnded: database.statement((queries) =>
      queries
        .delete(webhookDeliveries)
        .where(and(isOf, ne(state, 'pending').inlineParams(), lte(seq, placeholder('seq'))))
        .prepare(),
    ),
    deliveries: page(),
    inState: page(eq(state, placeholder('state'))),
    resend: database.statement((queries) =>
      queries
        .update(webhookDeliveries)
        .set({ state: 'pending', attempts: 0, nextMs: boundValue('nowMs') })
        .where(isDelivery)
        .prepare(),
    ),
  };
}
