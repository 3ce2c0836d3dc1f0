/**
 * Contract schemas of access: people, invitations, sessions, keys, and what the caller may do. Safe for the
 * browser.
 */
import { z } from 'zod';
import { PERSON_ROLES, ROLES } from '../../auth/roles.ts';
import { VOLUMES } from '../../vfs/volumes.ts';
import { actorNameSchema } from './actors.ts';
import { longestCallSchema } from './calls.ts';
import { slugSchema } from './ids.ts';

const roleSchema = z.enum(ROLES);
const personRoleSchema = z.enum(PERSON_ROLES);
const epochSchema = z.int().min(0).max(253_402_300_799);
const titleSchema = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters');

/** Most tenants that a person is limited to by name; a person with more of them has all. */
const TENANTS = 100;
const tenantsSchema = z.array(slugSchema).min(1).max(TENANTS).nullable();

export const PASSWORD_LENGTH = { min: 12, max: 128 } as const;

export const emailSchema = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email({ error: 'must be an e-mail address' }))
  .refine((email) => !email.endsWith('@winterdock.internal'), 'is an address that the server keeps for itself');
export const personNameSchema = titleSchema;
export const passwordSchema = z
  .string()
  .min(PASSWORD_LENGTH.min, `must have at least ${PASSWORD_LENGTH.min} characters`)
  .max(PASSWORD_LENGTH.max, `must have at most ${PASSWORD_LENGTH.max} characters`);

export const personSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    role: personRoleSchema,
    tenants: z.array(z.string()).nullable(),
    disabled: z.boolean(),
    created: epochSchema,
    /** Sessions that are open, and when the last of them began. */
    sessions: z.int().min(0),
    signed_in: epochSchema.nullable(),
  })
  .meta({ id: 'Person' });
export type Person = z.infer<typeof personSchema>;

export const invitationSchema = z
  .object({
    id: z.string(),
    email: z.string().nullable(),
    role: personRoleSchema,
    tenants: z.array(z.string()).nullable(),
    created: epochSchema,
    created_by: z.string(),
    created_by_name: actorNameSchema,
    expires: epochSchema,
  })
  .meta({ id: 'Invitation' });
export type Invitation = z.infer<typeof invitationSchema>;

export const inviteSchema = z.strictObject({
  email: emailSchema.optional(),
  role: personRoleSchema,
  tenants: tenantsSchema.optional(),
});
export type InviteInput = z.infer<typeof inviteSchema>;
/** `link` is shown this once. */
export const invitedSchema = z.object({ ...invitationSchema.shape, link: z.string() });
export type Invited = z.infer<typeof invitedSchema>;

export const personPatchSchema = z.strictObject({
  name: personNameSchema.optional(),
  role: personRoleSchema.optional(),
  tenants: tenantsSchema.optional(),
  disabled: z.boolean().optional(),
});
export type PersonPatch = z.infer<typeof personPatchSchema>;

export const sessionSchema = z
  .object({
    id: z.string(),
    created: epochSchema,
    expires: epochSchema,
    address: z.string().nullable(),
    agent: z.string().nullable(),
    /** Whether this request came by it. */
    current: z.boolean(),
  })
  .meta({ id: 'Session' });
export type PersonSession = z.infer<typeof sessionSchema>;
export const endSessionQuerySchema = z.strictObject({ session: z.string().max(100).optional() });

/** `current` is required of a person with a password, unless the session came by a recovery link. */
export const passwordChangeSchema = z.strictObject({
  current: z.string().max(PASSWORD_LENGTH.max),
  next: passwordSchema,
});
export type PasswordChange = z.infer<typeof passwordChangeSchema>;

export const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    role: roleSchema,
    tenant: z.string().nullable(),
    /** The first characters of the key, which identify it. */
    prefix: z.string(),
    created: epochSchema,
    created_by: z.string(),
    created_by_name: actorNameSchema,
    expires: epochSchema.nullable(),
    max_call_s: longestCallSchema.nullable(),
    last_used: epochSchema.nullable(),
  })
  .meta({ id: 'Key' });
export type Key = z.infer<typeof keySchema>;

export const keyInputSchema = z
  .strictObject({
    name: titleSchema,
    role: roleSchema,
    tenant: slugSchema.optional(),
    expires: epochSchema.nullable().optional(),
    max_call_s: longestCallSchema.nullable().optional(),
  })
  .refine(({ role, tenant }) => role !== 'tenant' || tenant !== undefined, {
    path: ['tenant'],
    error: 'is needed for the role tenant',
  })
  .refine(({ role, tenant }) => role !== 'admin' || tenant === undefined, {
    path: ['tenant'],
    error: 'an admin is of no tenant',
  });
export type KeyInput = z.infer<typeof keyInputSchema>;
/** `key` is shown this once. */
export const createdKeySchema = z.object({ ...keySchema.shape, key: z.string() });
export type CreatedKey = z.infer<typeof createdKeySchema>;

export const meSchema = z
  .object({
    actor: z.string(),
    role: roleSchema,
    tenants: z.array(z.string()).nullable(),
    /** Null for a key. */
    person: z.object({ id: z.string(), email: z.string(), name: z.string() }).nullable(),
    /** Null for a person, and for the admin key. */
    key: z.object({ id: z.string(), name: z.string(), expires: epochSchema.nullable() }).nullable(),
    /** Names of the operations that the role allows. */
    may: z.array(z.string()),
    /** Volumes whose contents it may read. */
    reads: z.array(z.enum(VOLUMES)),
  })
  .meta({ id: 'Me' });
export type Me = z.infer<typeof meSchema>;
