/** Operations on webhooks: who is told of ledger lines. lib/webhooks tells them. Each change is a ledger line. */
import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { SecretSealer } from '../base/sealed-secrets.ts';
import type {
  DeliveriesQuery,
  Webhook,
  WebhookDelivery,
  WebhookInput,
  WebhookPatchInput,
  WebhooksQuery,
  WebhookWithSecret,
} from '../contract/schema.ts';
import type { AddressPolicy } from '../outgoing/address-policy.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerEntry } from '../registry/types.ts';
import type { DeliveryRow, WebhookPatch, WebhookRow } from '../registry/webhooks.ts';
import type { WebhookCourier } from '../webhooks/courier.ts';
import { newWebhookSecret, OLD_SECRET_SECONDS } from '../webhooks/signature.ts';
import { withActorName } from './actor-names.ts';
import { auditContextOf } from './audit-context.ts';
import type { ListPage } from './list-page.ts';
import { unknownId } from './unknown-id.ts';

/** Each costs its share of every line. */
const MOST_WEBHOOKS = 100;
/** Waiting deliveries are counted up to this number. */
const MOST_COUNTED = 1000;

export interface WebhookOperations {
  listWebhooks(caller: Caller, query: WebhooksQuery): Promise<Webhook[]>;
  createWebhook(caller: Caller, input: WebhookInput): Promise<WebhookWithSecret>;
  getWebhook(caller: Caller, id: string): Promise<Webhook>;
  patchWebhook(caller: Caller, id: string, input: WebhookPatchInput): Promise<Webhook>;
  deleteWebhook(caller: Caller, id: string): Promise<void>;
  /** The secret before signs too for a day. */
  rotateWebhookSecret(caller: Caller, id: string): Promise<WebhookWithSecret>;
  /** Answers when the receiver has, or not in time. */
  testWebhook(caller: Caller, id: string): Promise<WebhookDelivery>;
  webhookDeliveries(caller: Caller, id: string, query: DeliveriesQuery): Promise<ListPage<WebhookDelivery>>;
  resendDelivery(caller: Caller, id: string, delivery: string): Promise<WebhookDelivery>;
}

export function webhookOperations(parts: {
  registry: Pick<Registry, 'ledger' | 'webhooks'>;
  courier: Pick<WebhookCourier, 'changed' | 'test'>;
  guard: AddressPolicy;
  sealer: SecretSealer;
  clock: Clock;
  auth: { actors: ActorDirectory };
}): WebhookOperations {
  const { registry, courier, guard, sealer, clock } = parts;
  const { webhooks } = registry;

  /** Names the webhook and the host: the rest of an address may be a secret. */
  const lineOf = (caller: Caller, row: Pick<WebhookRow, 'id' | 'url' | 'tenant'>, type: string): LedgerEntry => ({
    ...ledgerEntry(parts, null, auditContextOf(caller, `${row.id}: ${new URL(row.url).host}`), type),
    tenant: row.tenant,
  });
  const rowOf = async (id: string): Promise<WebhookRow> => {
    const row = await webhooks.get(id);
    if (row === null) throw unknownId('webhook', id);
    return row;
  };
  const shown = async (row: WebhookRow): Promise<Webhook> => {
    const webhook = webhookOf(row, await webhooks.pending(row.id, MOST_COUNTED), epochSeconds(clock));
    return withActorName(parts.auth.actors, 'created_by', webhook);
  };
  const change = async (row: WebhookRow, patch: WebhookPatch, line: LedgerEntry): Promise<WebhookRow> => {
    const changed = await webhooks.change(row.id, patch, clock.now(), line);
    if (changed === null) throw unknownId('webhook', row.id);
    courier.changed();
    return changed;
  };

  return {
    async listWebhooks({ tenants }, { tenant }) {
      const rows = (await webhooks.list()).filter(
        (row) =>
          (tenant === undefined || row.tenant === tenant) &&
          (tenants === null || (row.tenant !== null && tenants.includes(row.tenant))),
      );
      return Promise.all(rows.map(shown));
    },

    async createWebhook(caller, { name, url, tenant = null, types = null }) {
      if (tenant === null && caller.tenants !== null) {
        throw new WinterdockError('validation', 'tenant: is required, because you may not act for all tenants', {
          extra: { errors: [{ path: 'tenant', message: 'is needed' }] },
        });
      }
      const id = newId('hook');
      const secret = newWebhookSecret();
      const values = { id, name, url: guard.parse(url).href, tenant, types, secret: sealer.seal(secret, id) };
      const cursor = await registry.ledger.lastSeq();
      const row = await webhooks.add(
        { ...values, cursor, created: epochSeconds(clock), createdBy: caller.actor },
        MOST_WEBHOOKS,
        lineOf(caller, values, 'webhook.created'),
      );
      courier.changed();
      return { ...(await shown(row)), secret };
    },

    getWebhook: async (_caller, id) => shown(await rowOf(id)),

    async patchWebhook(caller, id, { resume_from: resumeFrom, url, ...rest }) {
      const row = await rowOf(id);
      const patch: WebhookPatch = { ...rest };
      if (url !== undefined) patch.url = guard.parse(url).href;
      const isTurnedOn = rest.enabled === true && !row.enabled;
      if (isTurnedOn && resumeFrom === 'now') patch.cursor = await registry.ledger.lastSeq();
      if (rest.enabled === false) patch.offReason = null;
      return shown(await change(row, patch, lineOf(caller, { ...row, ...patch }, 'webhook.changed')));
    },

    async deleteWebhook(caller, id) {
      const row = await rowOf(id);
      if (!(await webhooks.remove(id, lineOf(caller, row, 'webhook.removed')))) throw unknownId('webhook', id);
    },

    async rotateWebhookSecret(caller, id) {
      const row = await rowOf(id);
      const secret = newWebhookSecret();
      const patch = {
        secret: sealer.seal(secret, id),
        oldSecret: row.secret,
        oldSecretUntil: epochSeconds(clock) + OLD_SECRET_SECONDS,
      };
      return { ...(await shown(await change(row, patch, lineOf(caller, row, 'webhook.secret_rotated')))), secret };
    },

    async testWebhook(caller, id) {
      const row = await rowOf(id);
      return webhookDeliveryOf(await courier.test(row, lineOf(caller, row, 'webhook.tested')));
    },

    async webhookDeliveries(_caller, id, { state, limit, cursor }) {
      await rowOf(id);
      const { rows, next } = await webhooks.deliveries(id, state, limit, cursor);
      return { items: rows.map(webhookDeliveryOf), next };
    },

    async resendDelivery(caller, id, delivery) {
      const row = await rowOf(id);
      const known = await webhooks.getDelivery(delivery);
      if (known === null || known.webhook !== id) {
        throw new WinterdockError('not_found', `The webhook "${id}" has no delivery "${delivery}".`);
      }
      if (known.line === null) {
        throw new WinterdockError('conflict', 'A test is not sent again.', { hint: 'Send a new one.' });
      }
      if (!row.enabled) {
        throw new WinterdockError('conflict', `The webhook "${id}" is off.`, { hint: 'Turn it on first.' });
      }
      const again = await webhooks.resend(delivery, clock.now(), lineOf(caller, row, 'webhook.resent'));
      if (again === null) throw new WinterdockError('not_found', `There is no delivery "${delivery}" any more.`);
      courier.changed();
      return webhookDeliveryOf(again);
    },
  };
}

function webhookOf(row: WebhookRow, pending: number, now: number): Omit<Webhook, 'created_by_name'> {
  const { id, name, url, tenant, types, enabled, failures, created } = row;
  return {
    id,
    name,
    url,
    tenant,
    types: types === null ? null : [...types],
    enabled,
    off_reason: row.offReason,
    failures,
    failing_since_ms: row.failingSinceMs,
    last_success_ms: row.lastSuccessMs,
    pending,
    old_secret_until: (row.oldSecretUntil ?? 0) > now ? row.oldSecretUntil : null,
    created,
    created_by: row.createdBy,
  };
}

function webhookDeliveryOf({ id, webhook, line, type, state, attempts, status, error, ...row }: DeliveryRow) {
  return {
    id,
    webhook,
    seq: line,
    type,
    state,
    attempts,
    created_ms: row.createdMs,
    next_ms: row.nextMs,
    attempted_ms: row.attemptedMs,
    took_ms: row.tookMs,
    status,
    error,
  } satisfies WebhookDelivery;
}
