/** Contract schemas of webhooks: who is told of ledger lines, and what was delivered. Safe for the browser. */

import { z } from 'zod';
import { actorNameSchema } from './actors.ts';
import { slugSchema } from './ids.ts';

const epoch = z.int().min(0).max(253_402_300_799);
const epochMs = z.int().min(0);
const STATES = ['pending', 'delivered', 'failed'] as const;

const webhookNameText = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters');
const urlText = z.string().min(1).max(2000);
const typesSchema = z
  .array(
    z
      .string()
      .max(100)
      .regex(
        /^(?:problems|[a-z][a-z_]*(?:\.(?:\*|[a-z][a-z_]*))?)$/,
        'must be a type of a ledger line, a subject such as instance.*, or problems',
      ),
  )
  .min(1)
  .max(100)
  .nullable();

export const webhookSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    /** The only tenant whose lines it is told; null: all lines. */
    tenant: z.string().nullable(),
    /** Types of lines, `instance.*` for a subject, `problems` for faults and refusals; null: all. */
    types: z.array(z.string()).nullable(),
    enabled: z.boolean(),
    /** Why the server turned it off; null when a person did. */
    off_reason: z.string().nullable(),
    /** Consecutive attempts without success, and since when. */
    failures: z.int().min(0),
    failing_since_ms: epochMs.nullable(),
    last_success_ms: epochMs.nullable(),
    /** Deliveries that are waiting; counted up to 1000. */
    pending: z.int().min(0),
    /** Until when the secret before the last one signs too. */
    old_secret_until: epoch.nullable(),
    created: epoch,
    created_by: z.string(),
    created_by_name: actorNameSchema,
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof webhookSchema>;

export const webhookInputSchema = z.strictObject({
  name: webhookNameText,
  url: urlText,
  tenant: slugSchema.optional(),
  types: typesSchema.optional(),
});
export type WebhookInput = z.infer<typeof webhookInputSchema>;

/** `resume_from` says where one that is turned on begins: where it stopped, or at what happens from now on. */
export const webhookPatchSchema = z.strictObject({
  name: webhookNameText.optional(),
  url: urlText.optional(),
  types: typesSchema.optional(),
  enabled: z.boolean().optional(),
  resume_from: z.enum(['stopped', 'now']).optional(),
});
export type WebhookPatchInput = z.infer<typeof webhookPatchSchema>;

/** `secret` is shown this once. */
export const webhookSecretSchema = z.object({ ...webhookSchema.shape, secret: z.string() });
export type WebhookWithSecret = z.infer<typeof webhookSecretSchema>;

export const webhooksQuerySchema = z.strictObject({ tenant: slugSchema.optional() });
export type WebhooksQuery = z.infer<typeof webhooksQuerySchema>;

export const webhookDeliverySchema = z
  .object({
    /** The `webhook-id` of every attempt. */
    id: z.string(),
    webhook: z.string(),
    /** Number of the ledger line; null for a test. */
    seq: z.int().nullable(),
    type: z.string(),
    state: z.enum(STATES),
    attempts: z.int().min(0),
    created_ms: epochMs,
    /** When it is tried next; null when it is not. */
    next_ms: epochMs.nullable(),
    /** Of the last attempt: when, how long, the answer's status, why it is no success. */
    attempted_ms: epochMs.nullable(),
    took_ms: z.number().nullable(),
    status: z.int().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof webhookDeliverySchema>;

export const deliveriesQuerySchema = z.strictObject({
  state: z.enum(STATES).optional(),
  limit: z.coerce.number<number | string>().int().min(1).max(500).default(100),
  cursor: z.string().max(1200).optional(),
});
export type DeliveriesQuery = z.infer<typeof deliveriesQuerySchema>;
