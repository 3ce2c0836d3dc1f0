/** Removes access to a forgotten tenant: people who are limited to it, keys, invitations. */
import { eq, isNotNull, or, placeholder } from '../../../db/drizzle.ts';
import { invitations, keys, user, verification } from '../../../db/schema.ts';
import type { TenantForgettingStore } from '../tenant-forgettings.ts';
import { boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { ForgottenIds } from './forgotten-ids.ts';
import { contains, rowid } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

/** People who are limited to some tenants, with this one among them. */
interface Limited {
  id: string;
  email: string;
  others: string[];
}

export function openAccessRemoval(
  database: RegistryDatabase,
  addIds: (job: string, more: Partial<ForgottenIds>) => void,
): Pick<SyncMethods<TenantForgettingStore>, 'people' | 'removeAccess'> & {
  limited(tenant: string): Limited[];
  /** Number of unused invitations that name the tenant. */
  invitations(tenant: string): number;
} {
  const everyLimited = database.statement((queries) =>
    queries
      .select({ id: user.id, email: user.email, tenants: user.tenants })
      .from(user)
      .where(isNotNull(user.tenants))
      .orderBy(rowid(user))
      .prepare(),
  );
  const invited = database.statement((queries) =>
    queries
      .select({ id: invitations.id, tenants: invitations.tenants, used: invitations.used })
      .from(invitations)
      .where(isNotNull(invitations.tenants))
      .prepare(),
  );
  const uninvite = database.statement((queries) =>
    queries
      .delete(invitations)
      .where(eq(invitations.id, placeholder('id')))
      .prepare(),
  );
  const uninvitePerson = database.statement((queries) =>
    queries
      .delete(invitations)
      .where(eq(invitations.email, placeholder('email')))
      .prepare(),
  );
  const narrow = database.statement((queries) =>
    queries
      .update(invitations)
      .set({ tenants: boundValue('others') })
      .where(eq(invitations.id, placeholder('id')))
      .prepare(),
  );
  const closeLinks = database.statement((queries) =>
    queries
      .delete(verification)
      .where(or(contains(verification.identifier, 'email'), contains(verification.value, 'email')))
      .prepare(),
  );
  const removePerson = database.statement((queries) =>
    queries
      .delete(user)
      .where(eq(user.id, placeholder('id')))
      .prepare(),
  );
  const keysOf = database.statement((queries) =>
    queries
      .select({ id: keys.id })
      .from(keys)
      .where(eq(keys.tenant, placeholder('tenant')))
      .prepare(),
  );
  const removeKeys = database.statement((queries) =>
    queries
      .delete(keys)
      .where(eq(keys.tenant, placeholder('tenant')))
      .prepare(),
  );

  const limited = (tenant: string): Limited[] =>
    everyLimited()
      .all()
      .flatMap(({ id, email, tenants }) => {
        const others = othersIn(tenants === null ? [] : (JSON.parse(tenants) as string[]), tenant);
        return others === null ? [] : [{ id, email, others }];
      });
  const invitationsOf = (tenant: string) =>
    invited()
      .all()
      .flatMap(({ id, tenants, used }) => {
        const others = othersIn(tenants ?? [], tenant);
        return others === null ? [] : [{ id, used, others }];
      });

  return {
    limited,
    invitations: (tenant) => invitationsOf(tenant).filter(({ used }) => used === null).length,
    people: (tenant) => limited(tenant).map(({ id, others }) => ({ id, others })),
    removeAccess: (job, tenant) =>
      database.write(() => {
        const people = limited(tenant).filter(({ others }) => others.length === 0);
        const itsKeys = keysOf().all({ tenant });
        addIds(job, { actors: [...people.map(({ id }) => `user:${id}`), ...itsKeys.map(({ id }) => `key:${id}`)] });
        let gone = 0;
        for (const { id, others } of invitationsOf(tenant)) {
          if (others.length === 0) gone += uninvite().run({ id }).changes;
          else narrow().run({ id, others });
        }
        for (const { id, email } of people) {
          gone += uninvitePerson().run({ email }).changes;
          // An unused sign-in link names its person.
          closeLinks().run({ email });
          removePerson().run({ id });
        }
        removeKeys().run({ tenant });
        return { keys: itsKeys.length, people: people.length, invitations: gone };
      }),
  };
}

/** The other tenants of a list that has `tenant`; null when it does not have it. */
function othersIn(tenants: readonly string[], tenant: string): string[] | null {
  return tenants.includes(tenant) ? tenants.filter((one) => one !== tenant) : null;
}
