/** Operations on variables of guests' environments. A change holds for the next call, without a new wake. */
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { InstanceId } from '../base/ids.ts';
import { READS } from '../contract/access.ts';
import type { EnvPatch, Variable } from '../contract/schema.ts';
import type { Blueprints } from '../copies/blueprints.ts';
import {
  type EnvironmentKind,
  type EnvironmentOwner,
  type EnvironmentRow,
  effectiveVariables,
} from '../registry/environments.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import { VOLUMES } from '../vfs/volumes.ts';
import { auditContextOf } from './audit-context.ts';

export interface EnvironmentOperations {
  /** What its guests find, by name, with whose it is. */
  instanceEnv(caller: Caller, id: InstanceId): Promise<Variable[]>;
  patchInstanceEnv(caller: Caller, id: InstanceId, input: EnvPatch): Promise<Variable[]>;
  tenantEnv(caller: Caller, tenant: string): Promise<Variable[]>;
  patchTenantEnv(caller: Caller, tenant: string, input: EnvPatch): Promise<Variable[]>;
  blueprintEnv(caller: Caller, name: string): Promise<Variable[]>;
  patchBlueprintEnv(caller: Caller, name: string, input: EnvPatch): Promise<Variable[]>;
}

export function environmentOperations(parts: {
  registry: Registry;
  blueprints: Pick<Blueprints, 'get'>;
  clock: Clock;
}): EnvironmentOperations {
  const { registry, clock } = parts;
  const { environments } = registry;

  const of = async (caller: Caller, kind: EnvironmentKind, owner: string): Promise<Variable[]> => {
    const row = await environments.get(kind, owner);
    return shown(caller, row === null ? [] : [row]);
  };
  const change = async (
    caller: Caller,
    owner: EnvironmentOwner,
    { env }: EnvPatch,
    row: Pick<InstanceRow, 'id' | 'tenant'> | null = null,
  ): Promise<void> => {
    const given = Object.entries(env);
    if (given.length === 0) return;
    const set = Object.fromEntries(given.filter(([, value]) => value !== null));
    const remove = given.filter(([, value]) => value === null).map(([name]) => name);
    const reason = inWords(owner, Object.keys(set), remove);
    const line = ledgerEntry({ clock }, row, auditContextOf(caller, reason), 'env.changed', { tenant: owner.tenant });
    await environments.change(owner, { set, remove }, { now: epochSeconds(clock), actor: caller.actor }, line);
  };
  const blueprint = async (name: string): Promise<EnvironmentOwner> => {
    const { tenant } = await parts.blueprints.get(name);
    return { kind: 'blueprint', owner: name, tenant };
  };

  return {
    async instanceEnv(caller, id) {
      await requireInstance({ registry }, id);
      return shown(caller, await environments.of(id));
    },
    async patchInstanceEnv(caller, id, input) {
      const { tenant } = await requireInstance({ registry }, id);
      await change(caller, { kind: 'instance', owner: id, tenant }, input, { id, tenant });
      return shown(caller, await environments.of(id));
    },
    tenantEnv: (caller, tenant) => of(caller, 'tenant', tenant),
    async patchTenantEnv(caller, tenant, input) {
      await change(caller, { kind: 'tenant', owner: tenant, tenant }, input);
      return of(caller, 'tenant', tenant);
    },
    async blueprintEnv(caller, name) {
      await blueprint(name);
      return of(caller, 'blueprint', name);
    },
    async patchBlueprintEnv(caller, name, input) {
      await change(caller, await blueprint(name), input);
      return of(caller, 'blueprint', name);
    },
  };
}

const FROM = { tenant: 'tenant', blueprint: 'blueprint', snapshot: 'snapshot', instance: 'sandbox' } as const;

/** Values are for those who may read all that a sandbox holds: its guests print them. */
function shown({ role }: Caller, rows: readonly EnvironmentRow[]): Variable[] {
  const seesValues = READS[role].length === VOLUMES.length;
  return effectiveVariables(rows).map(({ name, value, from }) => ({
    name,
    value: seesValues ? value : null,
    is_set: value !== null,
    from: FROM[from],
  }));
}

/** Names alone: what a value is, the ledger does not say. */
function inWords({ kind, owner }: EnvironmentOwner, set: string[], removed: string[]): string {
  const whose = kind === 'blueprint' ? `blueprint ${owner}: ` : '';
  const parts = [set.length === 0 ? '' : `set ${list(set)}`, removed.length === 0 ? '' : `removed ${list(removed)}`];
  return `${whose}${parts.filter((part) => part !== '').join('; ')}`;
}

const SHOWN = 10;

function list(names: string[]): string {
  const shownNames = names.slice(0, SHOWN).join(', ');
  return names.length > SHOWN ? `${shownNames} and ${names.length - SHOWN} more` : shownNames;
}
