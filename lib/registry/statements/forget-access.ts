/** Statements over access to a tenant that is forgotten. */
import { eq, isNotNull, or, placeholder } from '../../../db/drizzle.ts';
import { invitations, keys, user, verification } from '../../../db/schema.ts';
import { boundValue } from './bound-values.ts';
import { contains, rowid } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export function accessRemovalStatements(database: StatementMaker) {
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
  return {
    everyLimited,
    invited,
    uninvite,
    uninvitePerson,
    narrow,
    closeLinks,
    removePerson,
    keysOf,
    removeKeys,
  };
}
