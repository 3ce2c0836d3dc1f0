/**
 * Webhooks and their deliveries. A trigger removes the deliveries of a removed webhook. Knows nothing of what is sent
 * or when it is tried.
 */

import { isNumberPosition, pageByNumber, readCursor } from '../cursor.ts';
import { changedWebhook, newDelivery, newWebhook } from '../new-rows.ts';
import { tooManyWebhooks } from '../registry-errors.ts';
import { webhookStatements } from '../statements/webhooks.ts';
import type { DeliveryRow, WebhookRow, WebhookStore } from '../webhooks.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

export function openWebhooks(database: PostgresDatabase, ledger: LedgerTable): WebhookStore {
  const statements = database.with(webhookStatements);

  const get = async (id: string): Promise<WebhookRow | null> => (await statements.get().get({ id })) ?? null;
  const getDelivery = async (id: string): Promise<DeliveryRow | null> =>
    (await statements.getDelivery().get({ id })) ?? null;

  return {
    async add(webhook, most, entry) {
      const row = newWebhook(webhook);
      await ledger.recorded([entry], async () => {
        if (((await statements.count().get())?.n ?? 0) >= most) throw tooManyWebhooks(most);
        return statements.insert().run({ ...row });
      });
      return row;
    },
    get,
    tenantOf: async (id) => (await statements.tenantOf().get({ id }))?.tenant ?? null,
    list: async () => await statements.list().all(),
    change: (id, patch, nowMs, entry) =>
      ledger.recorded([entry], async () => {
        const row = await get(id);
        if (row === null) return null;
        const after = changedWebhook(row, patch);
        if (after.enabled && !row.enabled) await statements.hasten().run({ webhook: id, nowMs });
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
    remove: (id, entry) => ledger.recorded([entry], async () => (await statements.remove().run({ id })).changes === 1),

    async plan(steps) {
      if (steps.length === 0) return [];
      return database.write(async () => {
        const made: (typeof steps)[number][] = [];
        for (const step of steps) {
          const { webhook, from, to, deliveries } = step;
          if ((await statements.move().run({ id: webhook, from, to })).changes === 0) continue;
          for (const one of deliveries) await statements.insertDelivery().run({ ...newDelivery(one) });
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
      await ledger.recorded([off.ledger], async () => {
        await record();
        return (await statements.turnOff().run({ id: webhook, reason: off.reason })).changes === 1;
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
      const error = 'The server ended before an answer.';
      const row: DeliveryRow = { ...newDelivery(delivery), state: 'failed', error };
      await ledger.recorded([entry], () => statements.insertDelivery().run({ ...row }));
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
      return pageByNumber(found, limit);
    },
    resend: (id, nowMs, entry) =>
      ledger.recorded([entry], async () =>
        (await statements.resend().run({ id, nowMs })).changes === 1 ? await getDelivery(id) : null,
      ),
  };
}
