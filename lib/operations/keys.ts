/** Operations on keys of programs: list, create, revoke. Each change is a line of the ledger. */

import type { ActorDirectory } from '../auth/actor-directory.ts';
import { type ApiKeys, prefixOf } from '../auth/api-keys.ts';
import type { Caller } from '../auth/caller.ts';
import { ROLES } from '../auth/roles.ts';
import { roleText } from '../auth/sign-ins.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { CreatedKey, Key, KeyInput } from '../contract/schema/access.ts';
import type { KeyRow } from '../registry/keys.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { LedgerEntry } from '../registry/types.ts';
import { withActorName, withActorNames } from './actor-names.ts';
import { auditContextOf } from './audit-context.ts';

export interface KeyOperations {
  listKeys(caller: Caller): Promise<Key[]>;
  createKey(caller: Caller, input: KeyInput): Promise<CreatedKey>;
  /** Takes effect at once, for open streams too. */
  revokeKey(caller: Caller, id: string): Promise<void>;
}

export function keyOperations(parts: { auth: { keys: ApiKeys; actors: ActorDirectory }; clock: Clock }): KeyOperations {
  const { keys, actors } = parts.auth;

  const entry = (caller: Caller, type: string, reason: string, tenant: string | null): LedgerEntry => ({
    ...ledgerEntry(parts, null, auditContextOf(caller, reason), type),
    tenant,
  });

  return {
    listKeys: async () => withActorNames(actors, 'created_by', (await keys.list()).map(keyOf)),

    async createKey(caller, { name, role, tenant = null, expires = null, max_call_s: maxCallSeconds = null }) {
      if (expires !== null && expires <= epochSeconds(parts.clock)) {
        throw new WinterdockError('validation', 'expires: must be in the future', {
          extra: { errors: [{ path: 'expires', message: 'must be in the future' }] },
        });
      }
      const values = { name, role, tenant, expires, maxCallSeconds, createdBy: caller.actor };
      const [row, key] = await keys.make(values, ({ id }) =>
        entry(caller, 'key.created', `${prefixOf(id)}: ${wordsOf(role, tenant)}`, tenant),
      );
      return { ...(await withActorName(actors, 'created_by', keyOf(row))), key };
    },

    async revokeKey(caller, id) {
      const row = await keys.get(id);
      const revoked = entry(caller, 'key.revoked', prefixOf(id), row?.tenant ?? null);
      if (row !== null && (await keys.revoke(id, revoked))) return;
      throw new WinterdockError('not_found', `There is no key "${id}".`);
    },
  };
}

function keyOf({
  id,
  name,
  role,
  tenant,
  created,
  createdBy,
  expires,
  maxCallSeconds,
  lastUsed,
}: KeyRow): Omit<Key, 'created_by_name'> {
  return {
    id,
    name,
    role: ROLES.find((known) => known === role) ?? 'viewer',
    tenant,
    prefix: prefixOf(id),
    created,
    created_by: createdBy,
    expires,
    max_call_s: maxCallSeconds,
    last_used: lastUsed,
  };
}

function wordsOf(role: string, tenant: string | null): string {
  return roleText({ role, tenants: tenant === null ? null : [tenant] });
}
