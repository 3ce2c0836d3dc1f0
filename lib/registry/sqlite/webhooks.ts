/**
 * Webhooks and their deliveries. A trigger removes the deliveries of a removed webhook. Knows nothing of what is sent
 * or when it is tried.
 */

import { isNumberPosition, pageByNumber, readCursor } from '../cursor.ts';
import { changedWebhook, newDelivery, newWebhook } from '../new-rows.ts';
import { tooManyWebhooks } from '../registry-errors.ts';
import { webhookStatements } from '../statements/webhooks.ts';
import type { LedgerEntry } from '../types.ts';
import type { DeliveryRow, WebhookRow, WebhookStore } from '../webhooks.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

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
      const row = newWebhook(webhook);
      logged(entry, () => {
        if ((statements.count().get()?.n ?? 0) >= most) throw tooManyWebhooks(most);
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
        const after = changedWebhook(row, patch);
        if (after.enabled && !row.enabled) statements.hasten().run({ webhook: id, nowMs });
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
          for (const one of deliveries) statements.insertDelivery().run({ ...newDelivery(one) });
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
      const error = 'The server ended before an answer.';
      const row: DeliveryRow = { ...newDelivery(delivery), state: 'failed', error };
      logged(entry, () => statements.insertDelivery().run({ ...row }));
      return row;
    },
    getDelivery,
    deliveries(webhook, state, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isNumberPosition);
      const values = { webhook, seq: before, limit: limit + 1 };
      const found =
        state === undefined ? statements.deliveries().all(values) : statements.inState().all({ ...values, state });
      return pageByNumber(found, limit);
    },
    resend: (id, nowMs, entry) =>
      logged(entry, () => (statements.resend().run({ id, nowMs }).changes === 1 ? getDelivery(id) : null)),
  };
}
