/**
 * Contract schemas of what needs a person: what is wrong or comes near a wall, and what was acknowledged of it. Safe
 * for the browser.
 */
import { z } from 'zod';
import { actorNameSchema } from './actors.ts';
import { slugSchema } from './ids.ts';

const epoch = z.int().min(0).max(253_402_300_799);

const ATTENTION_KINDS = ['fault', 'stuck', 'backup', 'replica', 'disk', 'quota', 'webhook', 'schedule'] as const;

const acknowledgementSchema = z.object({
  actor: z.string(),
  actor_name: actorNameSchema,
  at: epoch,
  until: epoch.nullable().describe('Null: until what it is of ends.'),
  reason: z.string().nullable(),
});

export const attentionSchema = z
  .object({
    id: z.string().describe('Another one when it is another trouble.'),
    kind: z.enum(ATTENTION_KINDS),
    level: z.enum(['wrong', 'warning']).describe('`warning`: nothing is wrong yet.'),
    tenant: z.string().nullable().describe('Null: it is about the whole server.'),
    instance: z.string().nullable(),
    name: z.string(),
    says: z.string(),
    page: z.string().describe('Where the console shows it: a path.'),
    since: epoch.nullable().describe('Null: nobody noted it.'),
    count: z.int().min(1).describe('How many things it stands for.'),
    acknowledged: acknowledgementSchema.nullable(),
  })
  .meta({ id: 'Attention' });
export type Attention = z.infer<typeof attentionSchema>;

export const attentionQuerySchema = z.strictObject({ tenant: slugSchema.optional() });
export type AttentionQuery = z.infer<typeof attentionQuerySchema>;

export const acknowledgeSchema = z.strictObject({
  until: epoch.nullable().optional().describe('Left out or null: until it ends.'),
  reason: z.string().trim().max(1000).optional(),
});
export type AcknowledgeInput = z.infer<typeof acknowledgeSchema>;

/** A quota of which a tenant has used at least four fifths. `used` and `limit` in the unit of the quota. */
export interface NearQuota {
  tenant: string;
  quota: 'max_sandboxes' | 'max_active' | 'max_bytes' | 'max_daily_cpu_s';
  used: number;
  limit: number;
}

/** A schedule whose last runs failed: how many, since when (epoch seconds), and why the last one did. */
export interface FailingSchedule {
  id: string;
  instance: string;
  tenant: string;
  action: string;
  failures: number;
  since: number;
  why: string | null;
}

/** The disk of the data folder. */
export interface DiskRoom {
  bytes: number;
  free_bytes: number;
}
