/** Removes access to a forgotten tenant: people who are limited to it, keys, invitations. */
import { accessRemovalStatements } from '../statements/forget-access.ts';
import {
  type ForgottenIds,
  type LimitedPerson,
  otherTenantsIn,
  type TenantForgettingStore,
} from '../tenant-forgettings.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';

export function openAccessRemoval(
  database: RegistryDatabase,
  addIds: (job: string, more: Partial<ForgottenIds>) => void,
): Pick<SyncMethods<TenantForgettingStore>, 'people' | 'removeAccess'> & {
  limited(tenant: string): LimitedPerson[];
  /** Number of unused invitations that name the tenant. */
  invitations(tenant: string): number;
} {
  const { everyLimited, invited, uninvite, uninvitePerson, narrow, closeLinks, removePerson, keysOf, removeKeys } =
    accessRemovalStatements(database);
  const limited = (tenant: string): LimitedPerson[] =>
    everyLimited()
      .all()
      .flatMap(({ id, email, tenants }) => {
        const others = otherTenantsIn(tenants === null ? [] : (JSON.parse(tenants) as string[]), tenant);
        return others === null ? [] : [{ id, email, others }];
      });
  const invitationsOf = (tenant: string) =>
    invited()
      .all()
      .flatMap(({ id, tenants, used }) => {
        const others = otherTenantsIn(tenants ?? [], tenant);
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
