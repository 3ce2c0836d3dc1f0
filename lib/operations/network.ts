/** Operations on the network of sandboxes: who may reach what. lib/network lets requests out. Each change is a line. */
import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import {
  type InstanceNetwork,
  type InstanceNetworkInput,
  NETWORK_DEFAULTS,
  type TenantNetwork,
  type TenantNetworkInput,
} from '../contract/schema/network.ts';
import { allowedByBoth } from '../outgoing/network-limits.ts';
import { type UrlRule, WILDCARD } from '../outgoing/url-rules.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { NetworkPolicyRow } from '../registry/network.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { profileOf } from '../workers/protocol/policies.ts';
import { auditContextOf } from './audit-context.ts';

export interface NetworkOperations {
  /** Throws `not_found` and `gone`. */
  instanceNetwork(caller: Caller, id: InstanceId): Promise<InstanceNetwork>;
  /** Throws `forbidden` for what only operators and admins may set. */
  putInstanceNetwork(caller: Caller, id: InstanceId, input: InstanceNetworkInput): Promise<InstanceNetwork>;
  tenantNetwork(caller: Caller, tenant: string): Promise<TenantNetwork>;
  /** It need not have a sandbox yet. Throws `conflict` while it is being forgotten. */
  putTenantNetwork(caller: Caller, tenant: string, input: TenantNetworkInput): Promise<TenantNetwork>;
}

const HOUR_SECONDS = 3600;
const HOURS_A_DAY = 24;
const SHOWN_HOURS = 7 * HOURS_A_DAY;
const SHOWN_HOSTS = 100;
const LONGEST_REASON = 1000;

export function networkOperations(parts: {
  registry: Registry;
  clock: Clock;
  auth: { actors: ActorDirectory };
  /** Writes down what was counted and not written yet. */
  network: { flush(): Promise<void> };
  sandboxes: Pick<Sandboxes, 'live'>;
}): NetworkOperations {
  const { registry, clock, network, auth, sandboxes } = parts;

  const policyOf = async (row: NetworkPolicyRow | null) => {
    if (row !== null) await auth.actors.load([row.updatedBy]);
    return {
      rules: row?.rules?.map(ruleOf) ?? null,
      requests_per_minute: row?.requestsPerMinute ?? null,
      bytes_per_day: row?.bytesPerDay ?? null,
      updated: row?.updated ?? null,
      updated_by: row?.updatedBy ?? null,
      updated_by_name: row === null ? null : auth.actors.nameOf(row.updatedBy),
    };
  };
  const shown = async (row: InstanceRow): Promise<InstanceNetwork> => {
    await network.flush();
    const hour = Math.floor(epochSeconds(clock) / HOUR_SECONDS);
    const since = hour - SHOWN_HOURS;
    const [own, ofTenant, today, reached] = await Promise.all([
      registry.network.policy('sandbox', row.id),
      registry.network.policy('tenant', row.tenant),
      registry.network.bytesSince('sandbox', row.id, hour - (hour % HOURS_A_DAY)),
      registry.network.traffic(row.id, since, SHOWN_HOSTS),
    ]);
    const { sandbox } = NETWORK_DEFAULTS;
    const running = sandboxes.live(row).runningPolicy;
    return {
      ...(await policyOf(own)),
      enabled: reaches(row.policy),
      running_policy: running,
      enabled_now: running !== null && reaches(running) && reaches(row.policy),
      allowed: {
        rules: allowedByBoth(ofTenant?.rules ?? [], own?.rules ?? null).map(ruleOf),
        requests_per_minute: own?.requestsPerMinute ?? sandbox.requestsPerMinute,
        bytes_per_day: own?.bytesPerDay ?? sandbox.bytesPerDay,
      },
      bytes_today: today,
      since: since * HOUR_SECONDS,
      reached: reached.map(({ bytesOut, bytesIn, ...one }) => ({ ...one, bytes_out: bytesOut, bytes_in: bytesIn })),
    };
  };
  const rowOf = (caller: Caller, input: InstanceNetworkInput | TenantNetworkInput): NetworkPolicyRow => ({
    rules: input.rules?.map((rule) => ({ private: false, ...rule })) ?? null,
    requestsPerMinute: input.requests_per_minute,
    bytesPerDay: input.bytes_per_day,
    updated: epochSeconds(clock),
    updatedBy: caller.actor,
  });
  const ofTenant = async (tenant: string): Promise<TenantNetwork> => ({
    tenant,
    ...(await policyOf(await registry.network.policy('tenant', tenant))),
  });

  return {
    instanceNetwork: async (_caller, id) => shown(await requireInstance(parts, id)),

    async putInstanceNetwork(caller, id, input) {
      const row = await requireInstance(parts, id);
      const wrong = caller.role === 'tenant' ? beyondTenant(input) : null;
      if (wrong !== null) throw new WinterdockError('forbidden', wrong);
      const policy = rowOf(caller, input);
      await registry.network.setPolicy(
        { kind: 'sandbox', id, tenant: row.tenant },
        policy,
        ledgerEntry(parts, row, auditContextOf(caller, inWords(policy)), 'network.changed'),
      );
      return shown(row);
    },

    tenantNetwork: (_caller, tenant) => ofTenant(tenant),

    async putTenantNetwork(caller, tenant, input) {
      const policy = rowOf(caller, input);
      const line = ledgerEntry(parts, null, auditContextOf(caller, `${tenant}: ${inWords(policy)}`), 'network.changed');
      await registry.network.setPolicy({ kind: 'tenant', id: tenant, tenant }, policy, { ...line, tenant });
      return ofTenant(tenant);
    },
  };
}

/** Whether what runs under a policy reaches the network at all. */
function reaches(policy: string): boolean {
  return profileOf(policy).capabilities.includes('fetch');
}

/** What a tenant's key may not set, in a sentence; null when it may. */
function beyondTenant({ rules, requests_per_minute, bytes_per_day }: InstanceNetworkInput): string | null {
  const { sandbox } = NETWORK_DEFAULTS;
  if (rules?.some(({ url }) => url === WILDCARD)) return 'Only operators and admins may allow "*".';
  const isMore = (requests_per_minute ?? 0) > sandbox.requestsPerMinute || (bytes_per_day ?? 0) > sandbox.bytesPerDay;
  return isMore ? 'Only operators and admins may set numbers above the server’s.' : null;
}

function ruleOf({ url, methods, private: isPrivate }: UrlRule) {
  return { url, methods: [...methods], private: isPrivate };
}

/** A list as the reason of the ledger's line. */
function inWords({ rules, requestsPerMinute, bytesPerDay }: NetworkPolicyRow): string {
  const list =
    rules === null
      ? 'no list of its own'
      : rules.length === 0
        ? 'nothing'
        : rules.map((one) => `${one.methods.join('|')} ${one.url}${one.private ? ' (private)' : ''}`).join(', ');
  const numbers = `${requestsPerMinute ?? 'default'} requests a minute, ${bytesPerDay ?? 'default'} bytes a day`;
  const text = `${numbers}, ${list}`;
  return text.length > LONGEST_REASON ? `${text.slice(0, LONGEST_REASON - 2)} …` : text;
}
