/** Backups that the server makes: asked for, under way, made, failed. What is in one is said by its manifest. */
import type { BackupState } from '../../lib/registry/backups.ts';
import { index, integer, sqliteTable, text } from '../drizzle.ts';

export const backups = sqliteTable(
  'backups',
  {
    /** Also that of its manifest. Begins with the time when it was asked for, so ids sort as they came. */
    id: text('id').primaryKey().notNull(),
    state: text('state').$type<BackupState>().notNull(),
    /** Absolute path of a folder, or the URL of a store. */
    target: text('target').notNull(),
    /** Epoch seconds of the time of the schedule that it is for; null: somebody asked for it. */
    planned: integer('planned'),
    actor: text('actor').notNull(),
    reason: text('reason'),
    /** Epoch milliseconds, as all times below. */
    askedMs: integer('asked_ms').notNull(),
    /** Of the moment that it is of. */
    begunMs: integer('begun_ms'),
    endedMs: integer('ended_ms'),
    /** How often it was begun: a server that ends meanwhile leaves it to the next one. */
    attempts: integer('attempts').notNull().default(0),
    /** Sandboxes copied so far, and how many there are. */
    done: integer('done').notNull().default(0),
    total: integer('total').notNull().default(0),
    /** What it would restore: sandboxes that were not deleted, and bytes. */
    sandboxes: integer('sandboxes'),
    bytes: integer('bytes'),
    /** What it added to the target. */
    addedObjects: integer('added_objects'),
    addedBytes: integer('added_bytes'),
    /** How many sandboxes or copies were not sound when they were copied. */
    wrong: integer('wrong'),
    /** Whether the key files are in it. */
    keys: integer('keys', { mode: 'boolean' }).notNull().default(false),
    /** Why it failed. */
    error: text('error'),
    /**
     * When one sandbox of it was last restored to try it, how long that took, and what was wrong; null: all was well.
     */
    verifiedMs: integer('verified_ms'),
    verifiedTookMs: integer('verified_took_ms'),
    verifiedError: text('verified_error'),
  },
  (table) => [index('backups_by_state').on(table.state, table.id)],
);
