/**
 * The one guard before the operations: holds every call to the table of access.ts, keeps tenants apart and narrows what
 * is asked to what the caller may see. What another tenant has answers exactly like what nobody has: the same lookup,
 * the same error.
 */
import type { Caller } from '../auth/caller.ts';
import { WinterdockError } from '../base/errors.ts';
import { needsReason, OWNED, type Owned, READS, RULES, type Rule, roleRefusal } from '../contract/access.ts';
import { asVolume, VOLUMES, type Volume } from '../vfs/volumes.ts';
import type { Operations } from './operations.ts';
import type { Refused } from './refusals.ts';
import { unknownId } from './unknown-id.ts';

/**
 * Of whom something is: of one tenant, or of several at once, who then must all be the caller's. Null: of nobody in
 * particular.
 */
type Owner = string | readonly string[] | null;
/**
 * Says whose a thing is, null also when there is none of that id. Takes as long for a known id as for an unknown one.
 */
export type Owners = Readonly<Record<Owned, (id: string) => Promise<Owner> | Owner>>;

type Input = Record<string, unknown>;
type Operation = (caller: Caller, ...args: unknown[]) => Promise<unknown>;

/** Wraps every operation. `refused` is told when a role forbids one. Throws when one of them has no rule. */
export function guardOperations(operations: Operations, owners: Owners, refused: Refused): Operations {
  const guarded: Record<string, Operation> = {};
  for (const [name, operation] of Object.entries(operations)) {
    if (!Object.hasOwn(RULES, name)) throw new Error(`The operation ${name} has no rule in lib/contract/access.ts.`);
    guarded[name] = guardOne(name as keyof Operations, operation as Operation, owners, refused);
  }
  return guarded as unknown as Operations;
}

function guardOne(name: keyof Operations, operation: Operation, owners: Owners, refused: Refused): Operation {
  const rule = RULES[name];
  return async (caller, ...args) => {
    const input = inputOf(args);
    const refusal = refusalOf(caller, name, rule, args, input);
    if (refusal !== null) {
      await refused(caller, name, refusal);
      throw new WinterdockError('forbidden', refusal);
    }
    requireReason(caller, name, input);
    const asked = rule.contents === 'searched' ? searched(caller, args, input) : args;
    if (caller.tenants === null) return operation(caller, ...asked);
    return operation(caller, ...(await withinTenants(caller.tenants, rule, asked, owners)));
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

function refusalOf(
  caller: Caller,
  name: keyof Operations,
  rule: Rule,
  args: unknown[],
  input: Input | null,
): string | null {
  const volume = rule.contents === 'named' ? args[1] : rule.contents === 'searched' ? input?.volume : undefined;
  const refusal = roleRefusal(caller, name, volume === undefined ? {} : { volume: asVolume(String(volume)) });
  if (refusal !== null || rule.about !== 'person') return refusal;
  const id = String(args[0]);
  const own = id === 'me' || caller.actor === `user:${id}`;
  return own || rule.others?.includes(caller.role) ? null : 'You may do this only for yourself.';
}

function requireReason(caller: Caller, name: keyof Operations, input: Input | null): void {
  if (!needsReason(caller, name)) return;
  const reason = input?.reason;
  if (typeof reason === 'string' && reason.trim() !== '') return;
  throw new WinterdockError('validation', 'This needs a reason: it goes into the ledger.', {
    extra: { errors: [{ path: 'reason', message: `is needed from the role ${caller.role}` }] },
  });
}

/**
 * A search over everything is one over what the caller may read; more than one volume of three there is no word for.
 */
function searched(caller: Caller, args: unknown[], input: Input | null): unknown[] {
  const reads: readonly Volume[] = READS[caller.role];
  if (input === null || input.volume !== undefined || reads.length === VOLUMES.length) return args;
  return args.map((arg) => (arg === input ? { ...input, volume: reads[0] } : arg));
}

async function withinTenants(
  tenants: readonly string[],
  rule: Rule,
  args: unknown[],
  owners: Owners,
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

async function refuseUnknown(tenants: readonly string[], kind: Owned, id: string, owners: Owners): Promise<void> {
  const owner = await owners[kind](id);
  const all = typeof owner === 'string' ? [owner] : owner;
  if (all === null || all.length === 0 || !all.every((one) => tenants.includes(one))) throw unknownId(kind, id);
}
