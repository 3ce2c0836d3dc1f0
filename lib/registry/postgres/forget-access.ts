/** Removes access to a forgotten tenant: people who are limited to it, keys, invitations. */
import { accessRemovalStatements } from '../statements/forget-access.ts';
import {
  type ForgottenIds,
  type LimitedPerson,
  otherTenantsIn,
  type TenantForgettingStore,
} from '../tenant-forgettings.ts';
import type { PostgresDatabase } from './database.ts';

export function openAccessRemoval(
  database: PostgresDatabase,
  addIds: (job: string, more: Partial<ForgottenIds>) => Promise<void>,
): Pick<TenantForgettingStore, 'people' | 'removeAccess'> & {
  limited(tenant: string): Promise<LimitedPerson[]>;
  /** Number of unused invitations that name the tenant. */
  invitations(tenant: string): Promise<number>;
} {
  const { everyLimited, invited, uninvite, uninvitePerson, narrow, closeLinks, removePerson, keysOf, removeKeys } =
    database.with(accessRemovalStatements);
  const limited = async (tenant: string): Promise<LimitedPerson[]> =>
    (await everyLimited().all()).flatMap(({ id, email, tenants }) => {
      const others = otherTenantsIn(tenants === null ? [] : (JSON.parse(tenants) as string[]), tenant);
      return others === null ? [] : [{ id, email, others }];
    });
  const invitationsOf = async (tenant: string) =>
    (await invited().all()).flatMap(({ id, tenants, used }) => {
      const others = otherTenantsIn(tenants ?? [], tenant);
      return others === null ? [] : [{ id, used, others }];
    });

  return {
    limited,
    invitations: async (tenant) => (await invitationsOf(tenant)).filter(({ used }) => used === null).length,
    people: async (tenant) => (await limited(tenant)).map(({ id, others }) => ({ id, others })),
    removeAccess: (job, tenant) =>
      database.write(async () => {
        const people = (await limited(tenant)).filter(({ others }) => others.length === 0);
        const itsKeys = await keysOf().all({ tenant });
        await addIds(job, {
          actors: [...people.map(({ id }) => `user:${id}`), ...itsKeys.map(({ id }) => `key:${id}`)],
        });
        let gone = 0;
        for (const { id, others } of await invitationsOf(tenant)) {
          if (others.length === 0) gone += (await uninvite().run({ id })).changes;
          else await narrow().run({ id, others });
        }
        for (const { id, email } of people) {
          gone += (await uninvitePerson().run({ email })).changes;
          // An unused sign-in link names its person.
          await closeLinks().run({ email });
          await removePerson().run({ id });
        }
        await removeKeys().run({ tenant });
        return { keys: itsKeys.length, people: people.length, invitations: gone };
      }),
  };
}
