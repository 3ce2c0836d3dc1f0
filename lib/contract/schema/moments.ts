/** Contract schemas of moments: what a sandbox was, as its replica can open it. Safe for the browser. */
import { z } from 'zod';
import { AUTOMATIC_KINDS, automaticKindOf } from '../../base/moment-names.ts';

/** The end of the year 9999. */
const LAST_SECOND = 253_402_300_799;

/** Seconds since the epoch. A whole number means the end of that second: times are shown in whole seconds. */
export const momentTimeSchema = z.number().min(0).max(LAST_SECOND);
/** The same in a query, where nothing at all would be the number 0. */
const timeInQuery = z.coerce.number<number | string>().min(1).max(LAST_SECOND);

/** The members of the query of every read that may be of the past. */
export const PAST = {
  at: timeInQuery.optional().meta({
    description:
      'As of the newest moment of the replica up to then, in seconds since the epoch; a whole number means the end of that second',
  }),
};
/** Of a read that has no other members. */
export const pastQuerySchema = z.strictObject(PAST);
export type PastQuery = z.infer<typeof pastQuerySchema>;

export const momentsQuerySchema = z.strictObject({
  around: timeInQuery.optional().meta({
    description: 'Those next to this time, in seconds since the epoch; without it the newest',
  }),
  kind: z.enum(['named']).optional().meta({ description: 'Those that have a name alone' }),
  limit: z.coerce.number<number | string>().int().min(1).max(500).default(100),
});
export type MomentsQuery = z.infer<typeof momentsQuerySchema>;

export const momentSchema = z
  .object({
    /** Epoch milliseconds. */
    time_ms: z.int().min(0).meta({ description: 'When it was committed, at the latest, in milliseconds' }),
    kind: z.enum(['commit', 'filing', 'named']).meta({
      description: '`filing`: of a file that was at rest; `named`: kept until its name is removed',
    }),
    name: z.string().nullable().meta({ description: 'Of one that is named' }),
    grain_s: z
      .int()
      .meta({ description: 'It is the last one of so many seconds at most: those before it may be gone' }),
  })
  .meta({ id: 'Moment' });
export type Moment = z.infer<typeof momentSchema>;

/**
 * The name of a moment, that of the server included. `.` and `..` are lost in an address. What looks the same, typed on
 * another keyboard, is the same name.
 */
export const momentNameSchema = z
  .string()
  .trim()
  .normalize('NFC')
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not contain control characters')
  .refine((name) => name !== '.' && name !== '..', 'must not be . or ..');

/** A name that people give. */
export const newMomentNameSchema = momentNameSchema.refine(
  (name) => automaticKindOf(name) === null,
  `must not begin with ${AUTOMATIC_KINDS.map((kind) => `${kind}-`).join(' or ')}, as names that the server gives do`,
);

export const nameMomentSchema = z.strictObject({
  /** The newest moment up to then. Default: now, once that is shipped. */
  time: momentTimeSchema.optional(),
  reason: z.string().trim().max(1000).optional(),
});
export type NameMomentInput = z.infer<typeof nameMomentSchema>;
