/** Contract schemas of bundles: ships, shares, inspections, imports, checkouts. Safe for the browser. */
import { z } from 'zod';
import { VOLUMES } from '../../vfs/volumes.ts';
import { actorNameSchema } from './actors.ts';
import { instanceIdSchema, slugSchema } from './ids.ts';
import { momentTimeSchema } from './moments.ts';

const epoch = z.int().min(0).max(253_402_300_799);

export const shipSchema = z.strictObject({
  include_private: z.boolean().optional(),
  at: momentTimeSchema.optional().meta({
    description: 'As of the newest moment up to then, in seconds since the epoch, which the manifest names',
  }),
  reason: z.string().trim().max(1000).optional(),
  format: z.enum(['zip', 'html']).optional().meta({
    description:
      'html: its page, with the whole bundle in it, as one file that a browser shows and saves the bundle from.',
  }),
});
export type ShipInput = z.infer<typeof shipSchema>;

export const shareSchema = z
  .object({
    id: z.string(),
    instance: z.string(),
    tenant: z.string(),
    format: z.literal('wbundle/1'),
    volumes: z.array(z.enum(VOLUMES)),
    private_included: z.boolean(),
    signed: z.boolean(),
    issuer: z.string().nullable(),
    /** Of the whole bundle. */
    sha256: z.string(),
    bytes: z.int(),
    members: z.record(z.string(), z.object({ sha256: z.string(), bytes: z.int() })),
    created: epoch,
    actor: z.string(),
    actor_name: actorNameSchema,
  })
  .meta({ id: 'Share' });
export type Share = z.infer<typeof shareSchema>;

const limit = z.coerce.number<number | string>().int().min(1).max(500).default(100);
const cursor = z.string().max(1200).optional();

export const sharesQuerySchema = z.strictObject({ tenant: slugSchema.optional(), limit, cursor });
export type SharesQuery = z.infer<typeof sharesQuerySchema>;

export const instanceSharesQuerySchema = z.strictObject({ limit, cursor });
export type InstanceSharesQuery = z.infer<typeof instanceSharesQuerySchema>;

export const inspectionSchema = z
  .object({
    /** As in the bundle; null when it is missing or unreadable. */
    manifest: z.record(z.string(), z.unknown()).nullable(),
    /** Every hash and the signature are valid. */
    verified: z.boolean(),
    /** False: nobody vouches for it, and anybody may have changed it. */
    signed: z.boolean(),
    /** The signer, when the signature is valid. */
    issuer: z.string().optional(),
    /** It could be imported. */
    importable: z.boolean(),
    /** Everything that is wrong or worth knowing, a sentence each. */
    problems: z.array(z.string()),
    /** Which of our shares it is. */
    share: z
      .object({
        id: z.string().nullable(),
        verdict: z.enum(['unaltered', 'altered', 'unknown']),
        altered: z.array(z.string()),
        says: z.string(),
      })
      .optional(),
  })
  .meta({ id: 'Inspection' });
export type Inspection = z.infer<typeof inspectionSchema>;

export const importQuerySchema = z.strictObject({
  tenant: slugSchema,
  id: instanceIdSchema.optional(),
  name: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters')
    .optional(),
  require_signed: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'true: what has no valid signature is refused, whatever the server takes.' }),
});
export type ImportQuery = z.infer<typeof importQuerySchema>;

/** Who vouches for what a new sandbox was made of. */
export const bundleOriginSchema = z.object({
  /** False: nobody vouches for it, and anybody may have changed it. */
  signed: z.boolean(),
  /** The signer, when the signature is valid. */
  issuer: z.string().nullable(),
  /** What is worth knowing, a sentence each. */
  notes: z.array(z.string()),
});

export const checkoutQuerySchema = z.strictObject({ format: z.enum(['tar.gz']).default('tar.gz') });
