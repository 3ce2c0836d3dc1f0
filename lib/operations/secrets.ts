/**
 * Operations on secrets of tenants and sandboxes: set, listed without their values, removed. None returns a value, to
 * whatever role.
 */
import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { ParsedSecretInput, Secret } from '../contract/schema.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { SecretKey, SecretRow } from '../registry/secrets.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { withActorNames } from './actor-names.ts';
import { auditContextOf } from './audit-context.ts';

export interface SecretOperations {
  tenantSecrets(caller: Caller, tenant: string): Promise<Secret[]>;
  setTenantSecret(caller: Caller, tenant: string, name: string, input: ParsedSecretInput): Promise<Secret>;
  deleteTenantSecret(caller: Caller, tenant: string, name: string): Promise<void>;
  /** Its own, and those of its tenant that no name of its own replaces. */
  instanceSecrets(caller: Caller, id: InstanceId): Promise<Secret[]>;
  setInstanceSecret(caller: Caller, id: InstanceId, name: string, input: ParsedSecretInput): Promise<Secret>;
  deleteInstanceSecret(caller: Caller, id: InstanceId, name: string): Promise<void>;
}

export function secretOperations(parts: {
  registry: Registry;
  secrets: Secrets;
  clock: Clock;
  auth: { actors: ActorDirectory };
}): SecretOperations {
  const { registry, secrets } = parts;
  const { actors } = parts.auth;

  const shown = async (rows: readonly SecretRow[]): Promise<Secret[]> => {
    const items = rows.map((row) => secretOf(row, secrets.opens(row)));
    return withActorNames(actors, 'updated_by', await withActorNames(actors, 'created_by', items));
  };
  /** Names the host alone: the rest of an address may be a secret too. */
  const lineOf = (caller: Caller, { tenant, instance, name }: SecretKey, type: string, url: string) => {
    const audit = auditContextOf(caller, `${name}: ${new URL(url).host}`);
    return ledgerEntry(parts, instance === '' ? null : { id: instance, tenant }, audit, type, { tenant });
  };
  const set = async (caller: Caller, key: SecretKey, { value, ...input }: ParsedSecretInput): Promise<Secret> => {
    await requireSafe(registry, key.tenant, input.url);
    const line = lineOf(caller, key, 'secret.set', input.url);
    const { row } = await secrets.set({ ...key, ...input }, value, caller.actor, line);
    const [one] = await shown([row]);
    return one as Secret;
  };
  const remove = async (caller: Caller, key: SecretKey): Promise<void> => {
    const row = (await secrets.list(key.tenant, key.instance)).find(({ name }) => name === key.name);
    if (row !== undefined && (await secrets.remove(key, lineOf(caller, key, 'secret.removed', row.url)))) return;
    const whose = key.instance === '' ? `tenant "${key.tenant}"` : `sandbox "${key.instance}"`;
    throw new WinterdockError('not_found', `The ${whose} has no secret "${key.name}" of its own.`);
  };
  const ofInstance = async (id: InstanceId, name: string): Promise<SecretKey> => ({
    tenant: (await requireInstance({ registry }, id)).tenant,
    instance: id,
    name,
  });

  return {
    tenantSecrets: async (_caller, tenant) => shown(await secrets.list(tenant, '')),
    setTenantSecret: (caller, tenant, name, input) => set(caller, { tenant, instance: '', name }, input),
    deleteTenantSecret: (caller, tenant, name) => remove(caller, { tenant, instance: '', name }),
    async instanceSecrets(_caller, id) {
      const { tenant } = await requireInstance({ registry }, id);
      const own = await secrets.list(tenant, id);
      const names = new Set(own.map(({ name }) => name));
      return shown([...own, ...(await secrets.list(tenant, '')).filter(({ name }) => !names.has(name))]);
    },
    setInstanceSecret: async (caller, id, name, input) => set(caller, await ofInstance(id, name), input),
    deleteInstanceSecret: async (caller, id, name) => remove(caller, await ofInstance(id, name)),
  };
}

/** Throws `validation` for an address without TLS, unless the tenant's list has its host as a private one. */
async function requireSafe(registry: Pick<Registry, 'network'>, tenant: string, address: string): Promise<void> {
  const url = new URL(address);
  if (url.protocol === 'https:') return;
  const rules = (await registry.network.policy('tenant', tenant))?.rules ?? [];
  if (rules.some((rule) => rule.private && new URL(rule.url).origin === url.origin)) return;
  const message = 'must begin with https://';
  throw new WinterdockError('validation', `url: ${message}`, {
    extra: { errors: [{ path: 'url', message }] },
    hint: 'Without TLS, a secret is sent only to hosts that the tenant’s network list marks as private.',
  });
}

function secretOf(row: SecretRow, opens: boolean): Omit<Secret, 'created_by_name' | 'updated_by_name'> {
  const { name, instance, url, header, format, created, updated } = row;
  return {
    name,
    of: instance === '' ? 'tenant' : 'sandbox',
    url,
    header,
    format,
    created,
    created_by: row.createdBy,
    updated,
    updated_by: row.updatedBy,
    last_used: row.lastUsed,
    opens,
  };
}
