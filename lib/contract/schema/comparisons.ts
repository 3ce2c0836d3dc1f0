/** Contract schemas of comparisons: what differs between a volume and a snapshot, or a moment. Safe for the browser. */
import { z } from 'zod';
import { VOLUMES } from '../../vfs/volumes.ts';
import { PAST } from './moments.ts';

const epoch = z.int().min(0).max(253_402_300_799);
const limit = z.coerce.number<number | string>().int().min(1).max(500).default(100);

/** With one of both: a snapshot, or a moment of the replica. */
export const compareQuerySchema = z
  .strictObject({
    snapshot: z.string().min(1).max(100).optional(),
    since: PAST.at.meta({ description: 'The newest moment of the replica up to then, in seconds since the epoch' }),
    limit,
    ...PAST,
  })
  .refine(({ snapshot, since }) => (snapshot === undefined) !== (since === undefined), {
    path: ['snapshot'],
    message: 'name a snapshot or since when, and not both',
  });
export type CompareQuery = z.infer<typeof compareQuerySchema>;

const fileStateSchema = z.object({ size: z.int(), mtime: epoch, sha256: z.string() });

export const fileChangeSchema = z
  .object({
    path: z.string(),
    change: z.enum(['added', 'removed', 'changed']),
    /** As the snapshot, or the moment, has it; null for an added one. */
    before: fileStateSchema.nullable(),
    /** As it is now, or at the later moment; null for a removed one. */
    now: fileStateSchema.nullable(),
  })
  .meta({ id: 'FileChange' });
export type FileChange = z.infer<typeof fileChangeSchema>;

export const comparisonSchema = z
  .object({
    snapshot: z.string().nullable(),
    since: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: 'Of the moment that was compared with, in seconds since the epoch with fractions' }),
    volume: z.enum(VOLUMES),
    added: z.int(),
    removed: z.int(),
    changed: z.int(),
    same: z.int(),
    /** By path; the first ones when there are more than asked for. */
    changes: z.array(fileChangeSchema),
  })
  .meta({ id: 'Comparison' });
export type Comparison = z.infer<typeof comparisonSchema>;
