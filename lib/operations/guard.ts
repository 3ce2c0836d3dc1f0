/**
 * The one guard before the operations: applies the table of lib/contract/access.ts to every call, keeps tenants apart
 * and narrows queries to what the caller may see. An id of another tenant answers exactly like an unknown one: the same
 * lookup, the same error.
 */
import type { Caller } from '../auth/caller.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import {
  needsReason,
  type OperationName,
  OWNED,
  type Owned,
  READS,
  RULES,
  type Rule,
  roleRefusal,
  volumeRefusal,
} from '../contract/access.ts';
import type { Registry } from '../registry/registry.ts';
import { VOLUMES, type Volume } from '../vfs/volumes.ts';
import type { Operations } from './operations.ts';
import type { RefusalRecorder } from './refusals.ts';
import { unknownId } from './unknown-id.ts';

/** The tenant, or all the tenants, that a thing belongs to: all of them must be the caller's. Null: no such thing. */
type Owner = string | readonly string[] | null;
/** Looks up the owner of an id, by kind. Takes as long for an unknown id as for a known one. */
export type OwnerLookups = Readonly<Record<Owned, (id: InstanceId) => Promise<Owner> | Owner>>;

type Input = Record<string, unknown>;
type Operation = (caller: Caller, ...args: unknown[]) => Promise<unknown>;

export interface Guard {
  readonly operations: Operations;
  /**
   * Asks the role question of a request before anything that it sent is read; its operation then does not ask it again.
   * Throws `forbidden`.
   */
  admit(caller: Caller, operation: OperationName): Promise<void>;
}

/** The lookups in a registry. */
export function ownersIn({ copies, instances, jobs, webhooks }: Registry): OwnerLookups {
  return {
    instance: (id) => instances.tenantOf(id),
    snapshot: (id) => copies.snapshotTenant(id),
    job: (id) => jobs.tenantsOf(id),
    webhook: (id) => webhooks.tenantOf(id),
  };
}

/** Wraps every operation. `recordRefusal` is awaited before a refusal is answered. Throws when one has no rule. */
export function createGuard(operations: Operations, owners: OwnerLookups, recordRefusal: RefusalRecorder): Guard {
  /** The operation that a caller was admitted to. A caller is of one request, and its rights never change. */
  const admitted = new WeakMap<Caller, OperationName>();

  const refuse = async (caller: Caller, name: OperationName, refusal: string | null): Promise<void> => {
    if (refusal === null) return;
    await recordRefusal(caller, name, refusal);
    throw new WinterdockError('forbidden', refusal);
  };

  const guard = (name: OperationName, operation: Operation): Operation => {
    const rule = RULES[name];
    return async (caller, ...args) => {
      if (admitted.get(caller) !== name) await refuse(caller, name, roleRefusal(caller, name));
      const input = inputOf(args);
      await refuse(caller, name, contentsRefusal(caller, rule, args, input) ?? personRefusal(caller, rule, args));
      requireReason(caller, name, input);
      const narrowed = rule.contents === 'searched' ? withinReadable(caller, args, input) : args;
      if (caller.tenants === null) return operation(caller, ...narrowed);
      return operation(caller, ...(await withinTenants(caller.tenants, rule, narrowed, owners)));
    };
  };

  const guarded: Record<string, Operation> = {};
  for (const [name, operation] of Object.entries(operations)) {
    if (!Object.hasOwn(RULES, name)) throw new Error(`The operation ${name} has no rule in lib/contract/access.ts.`);
    guarded[name] = guard(name as OperationName, operation as Operation);
  }
  return {
    operations: guarded as unknown as Operations,
    async admit(caller, name) {
      await refuse(caller, name, roleRefusal(caller, name));
      admitted.set(caller, name);
    },
  };
}

/** The first argument that is an object of fields: the query or the body. */
function inputOf(args: readonly unknown[]): Input | null {
  return (args.find(isInput) as Input | undefined) ?? null;
}

function isInput(value: unknown): value is Input {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function contentsRefusal(caller: Caller, rule: Rule, args: unknown[], input: Input | null): string | null {
  const volume = rule.contents === 'named' ? args[1] : rule.contents === 'searched' ? input?.volume : undefined;
  return volume === undefined ? null : volumeRefusal(caller, volume as Volume);
}

function personRefusal(caller: Caller, rule: Rule, args: unknown[]): string | null {
  if (rule.about !== 'person') return null;
  const id = String(args[0]);
  const isOwn = id === 'me' || caller.actor === `user:${id}`;
  return isOwn || rule.others?.includes(caller.role) ? null : 'You may do this only for yourself.';
}

function requireReason(caller: Caller, name: OperationName, input: Input | null): void {
  if (!needsReason(caller, name)) return;
  const reason = input?.reason;
  if (typeof reason === 'string' && reason.trim() !== '') return;
  throw new WinterdockError('validation', 'This needs a reason: it goes into the ledger.', {
    extra: { errors: [{ path: 'reason', message: `is needed from the role ${caller.role}` }] },
  });
}

/** Narrows a search over everything to what the caller may read: all three volumes, or one, as a search names one. */
function withinReadable(caller: Caller, args: unknown[], input: Input | null): unknown[] {
  const reads: readonly Volume[] = READS[caller.role];
  if (input === null || input.volume !== undefined || reads.length === VOLUMES.length) return args;
  return args.map((arg) => (arg === input ? { ...input, volume: reads[0] } : arg));
}

async function withinTenants(
  tenants: readonly string[],
  rule: Rule,
  args: unknown[],
  owners: OwnerLookups,
): Promise<unknown[]> {
  for (const arg of args) {
    if (isInput(arg) && typeof arg.tenant === 'string') refuseForeign(tenants, arg.tenant);
  }
  const { about } = rule;
  const id = String(args[0]);
  if (about === 'tenant' && !tenants.includes(id)) throw unknownId('tenant', id);
  if (isOwned(about)) await refuseUnknown(tenants, about, id, owners);
  for (const [member, kind] of Object.entries(rule.names ?? {})) {
    const named = inputOf(args)?.[member];
    if (typeof named === 'string') await refuseUnknown(tenants, kind, named, owners);
  }
  const only = tenants.length === 1 ? tenants[0] : undefined;
  if (about !== 'list' || only === undefined || !isInput(args[0]) || args[0].tenant !== undefined) return args;
  return [{ ...args[0], tenant: only }, ...args.slice(1)];
}

function isOwned(about: Rule['about']): about is Owned {
  return (OWNED as readonly string[]).includes(about);
}

function refuseForeign(tenants: readonly string[], tenant: string): void {
  if (tenants.includes(tenant)) return;
  throw new WinterdockError('forbidden', `You may not act for the tenant "${tenant}".`);
}

/** `id`: as the operation takes it; here the types of its arguments are erased. */
async function refuseUnknown(tenants: readonly string[], kind: Owned, id: string, owners: OwnerLookups): Promise<void> {
  const owner = await owners[kind](id as InstanceId);
  const all = typeof owner === 'string' ? [owner] : owner;
  if (all === null || all.length === 0 || !all.every((one) => tenants.includes(one))) throw unknownId(kind, id);
}
