/** Statements over webhooks and their deliveries. */
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
import { boundColumns, boundValue } from './bound-values.ts';
import { plusBound } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const { seq: _, ...WEBHOOK } = getTableColumns(webhooks);
const { seq, ...DELIVERY } = getTableColumns(webhookDeliveries);
export function webhookStatements(database: StatementMaker) {
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
