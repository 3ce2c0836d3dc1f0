/**
 * Webhooks and their deliveries. A trigger removes the deliveries of a removed webhook. Knows nothing of what is sent
 * or when it is tried.
 */

import { isNumberPosition, readCursor, writeCursor } from '../cursor.ts';
import { tooManyWebhooks } from '../registry-errors.ts';
import { webhookStatements } from '../statements/webhooks.ts';
import type { LedgerEntry } from '../types.ts';
import type { DeliveryRow, WebhookRow, WebhookStore } from '../webhooks.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

const UNTRIED = { state: 'pending', attempts: 0, attemptedMs: null, tookMs: null, status: null, error: null } as const;

export function openWebhooks(database: PostgresDatabase, ledger: LedgerTable): WebhookStore {
  const statements = database.with(webhookStatements);

  /** Runs `work` and appends the line in one transaction. Without a result nothing is written. */
  const logged = <T>(entry: LedgerEntry, work: () => Promise<T | null>): Promise<T | null> =>
    ledger.logged(async (append) => {
      const done = await work();
      if (done !== null) await append([entry]);
      return done;
    });
  const get = async (id: string): Promise<WebhookRow | null> => (await statements.get().get({ id })) ?? null;
  const getDelivery = async (id: string): Promise<DeliveryRow | null> =>
    (await statements.getDelivery().get({ id })) ?? null;

  return {
    async add(webhook, most, entry) {
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
      await logged(entry, async () => {
        if (((await statements.count().get())?.n ?? 0) >= most) throw tooManyWebhooks(most);
        return statements.insert().run({ ...row });
      });
      return row;
    },
    get,
    tenantOf: async (id) => (await statements.tenantOf().get({ id }))?.tenant ?? null,
    list: async () => await statements.list().all(),
    change: (id, patch, nowMs, entry) =>
      logged(entry, async () => {
        const row = await get(id);
        if (row === null) return null;
        const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
        const after: WebhookRow = { ...row, ...given };
        if (after.enabled && !row.enabled) {
          Object.assign(after, { offReason: null, failures: 0, failingSinceMs: null });
          await statements.hasten().run({ webhook: id, nowMs });
        }
        await statements.update().run({ ...after });
        return after;
      }),
    reseal: (changes) =>
      database.write(async () => {
        let changed = 0;
        for (const { from, to } of changes) {
          const row = await get(from.id);
          if (row === null || row.secret !== from.secret || row.oldSecret !== from.oldSecret) continue;
          await statements.update().run({ ...row, ...to });
          changed += 1;
        }
        return changed;
      }),
    remove: async (id, entry) =>
      (await logged(entry, async () => ((await statements.remove().run({ id })).changes === 1 ? true : null))) ?? false,

    async plan(steps) {
      if (steps.length === 0) return [];
      return database.write(async () => {
        const made: (typeof steps)[number][] = [];
        for (const step of steps) {
          const { webhook, from, to, deliveries } = step;
          if ((await statements.move().run({ id: webhook, from, to })).changes === 0) continue;
          for (const one of deliveries) await statements.insertDelivery().run({ ...UNTRIED, ...one });
          made.push(step);
        }
        return made;
      });
    },
    pending: async (webhook, most) => (await statements.pending().all({ webhook, most })).length,
    due: async (webhook, nowMs, limit) => await statements.due().all({ webhook, nowMs, limit }),
    earliest: async (webhook) => (await statements.earliest().get({ webhook }))?.nextMs ?? null,
    async recordAttempt({ id, webhook }, attempt, health, keep, off) {
      const record = async () => {
        await statements.recordAttempt().run({ id, ...attempt, one: 1 });
        await statements.recordHealth().run({ id: webhook, ...health });
        const surplus = await statements.surplus().get({ webhook, keep });
        if (surplus !== undefined) await statements.removeEnded().run({ webhook, seq: surplus.seq });
        return true;
      };
      if (off === null) {
        await database.write(record);
        return;
      }
      await logged(off.ledger, async () => {
        await record();
        return (await statements.turnOff().run({ id: webhook, reason: off.reason })).changes === 1 ? true : null;
      });
    },
    hasten: async (webhook, nowMs) =>
      await database.write(async () => void (await statements.hasten().run({ webhook, nowMs }))),
    async hastenAhead(webhook, nowMs, longestMs) {
      const values = { webhook, nowMs, latestMs: nowMs + longestMs };
      if ((await statements.ahead().get(values)) === undefined) return;
      await database.write(async () => void (await statements.hastenAhead().run(values)));
    },
    async addTest(delivery, entry) {
      // As it stays when the server ends before the answer.
      const row: DeliveryRow = {
        ...UNTRIED,
        ...delivery,
        state: 'failed',
        error: 'The server ended before an answer.',
      };
      await logged(entry, () => statements.insertDelivery().run({ ...row }));
      return row;
    },
    getDelivery,
    async deliveries(webhook, state, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isNumberPosition);
      const values = { webhook, seq: before, limit: limit + 1 };
      const found =
        state === undefined
          ? await statements.deliveries().all(values)
          : await statements.inState().all({ ...values, state });
      const last = found.length > limit ? found[limit - 1] : undefined;
      return {
        rows: found.slice(0, limit).map(({ seq: _number, ...row }) => row),
        next: last === undefined ? null : writeCursor([last.seq]),
      };
    },
    resend: (id, nowMs, entry) =>
      logged(entry, async () =>
        (await statements.resend().run({ id, nowMs })).changes === 1 ? await getDelivery(id) : null,
      ),
  };
}
