/**
 * Tables of the auth library (better-auth with its admin plugin), as its own generator defines them for SQLite, which
 * reads columns by property name; and beside them our own: keys of programs, and invitations. Knows nothing of
 * sandboxes.
 */
import { jsonColumn } from '../columns.ts';
import { index, integer, sql, sqliteTable, text } from '../drizzle.ts';

const NOW_MS = sql`(cast(unixepoch('subsecond') * 1000 as integer))`;

export const user = sqliteTable('user', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  email: text('email').notNull().unique(),
  emailVerified: integer('email_verified', { mode: 'boolean' }).default(false).notNull(),
  image: text('image'),
  createdAt: integer('created_at', { mode: 'timestamp_ms' }).default(NOW_MS).notNull(),
  updatedAt: integer('updated_at', { mode: 'timestamp_ms' })
    .default(NOW_MS)
    .$onUpdate(() => new Date())
    .notNull(),
  role: text('role'),
  banned: integer('banned', { mode: 'boolean' }).default(false),
  banReason: text('ban_reason'),
  banExpires: integer('ban_expires', { mode: 'timestamp_ms' }),
  /** JSON array of the tenants that the person is limited to; null: all. Added by Winterdock, not by the library. */
  tenants: text('tenants'),
});

export const session = sqliteTable(
  'session',
  {
    id: text('id').primaryKey(),
    expiresAt: integer('expires_at', { mode: 'timestamp_ms' }).notNull(),
    token: text('token').notNull().unique(),
    createdAt: integer('created_at', { mode: 'timestamp_ms' }).default(NOW_MS).notNull(),
    updatedAt: integer('updated_at', { mode: 'timestamp_ms' })
      .$onUpdate(() => new Date())
      .notNull(),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    userId: text('user_id')
      .notNull()
      .references(() => user.id, { onDelete: 'cascade' }),
    impersonatedBy: text('impersonated_by'),
  },
  (table) => [index('session_userId_idx').on(table.userId)],
);

export const account = sqliteTable(
  'account',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').notNull(),
    providerId: text('provider_id').notNull(),
    userId: text('user_id')
      .notNull()
      .references(() => user.id, { onDelete: 'cascade' }),
    accessToken: text('access_token'),
    refreshToken: text('refresh_token'),
    idToken: text('id_token'),
    accessTokenExpiresAt: integer('access_token_expires_at', { mode: 'timestamp_ms' }),
    refreshTokenExpiresAt: integer('refresh_token_expires_at', { mode: 'timestamp_ms' }),
    scope: text('scope'),
    password: text('password'),
    createdAt: integer('created_at', { mode: 'timestamp_ms' }).default(NOW_MS).notNull(),
    updatedAt: integer('updated_at', { mode: 'timestamp_ms' })
      .$onUpdate(() => new Date())
      .notNull(),
  },
  (table) => [index('account_userId_idx').on(table.userId)],
);

export const verification = sqliteTable(
  'verification',
  {
    id: text('id').primaryKey(),
    identifier: text('identifier').notNull(),
    value: text('value').notNull(),
    expiresAt: integer('expires_at', { mode: 'timestamp_ms' }).notNull(),
    createdAt: integer('created_at', { mode: 'timestamp_ms' }).default(NOW_MS).notNull(),
    updatedAt: integer('updated_at', { mode: 'timestamp_ms' })
      .default(NOW_MS)
      .$onUpdate(() => new Date())
      .notNull(),
  },
  (table) => [index('verification_identifier_idx').on(table.identifier)],
);

/** Keys of programs. Only a digest of the secret is stored. Times are epoch seconds. */
export const keys = sqliteTable(
  'keys',
  {
    /** The visible part of the key. */
    id: text('id').primaryKey().notNull(),
    name: text('name').notNull(),
    role: text('role').notNull(),
    /** The only tenant it may access; null: all. */
    tenant: text('tenant'),
    /** SHA-256 of the whole key in hex. */
    hash: text('hash').notNull(),
    created: integer('created').notNull(),
    createdBy: text('created_by').notNull(),
    expires: integer('expires'),
    /** The longest time that its calls may ask for; null: its tenant's, or the policy's. */
    maxCallSeconds: integer('max_call_s'),
    lastUsed: integer('last_used'),
    revoked: integer('revoked'),
  },
  (table) => [index('keys_by_created').on(table.created)],
);

/** Links that let one person in once, with a role. Times are epoch seconds. */
export const invitations = sqliteTable('invitations', {
  id: text('id').primaryKey().notNull(),
  /** SHA-256 of the link's token in hex. */
  hash: text('hash').notNull().unique(),
  /** The invited address; null when the person gives it on accepting. */
  email: text('email'),
  role: text('role').notNull(),
  /** Null: all tenants. */
  tenants: jsonColumn<readonly string[]>('tenants'),
  created: integer('created').notNull(),
  createdBy: text('created_by').notNull(),
  expires: integer('expires').notNull(),
  used: integer('used'),
});
