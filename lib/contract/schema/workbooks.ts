/** Contract schemas of workbooks: stored sources and their versions, and those of their parts. Safe for the browser. */
import { z } from 'zod';
import { actorNameSchema } from './actors.ts';
import { slugSchema } from './ids.ts';

export * from './component-calls.ts';
export * from './schedules.ts';
export * from './workbook-plan.ts';

const epoch = z.int().min(0).max(253_402_300_799);
const limit = z.coerce.number<number | string>().int().min(1).max(500).default(100);
const cursor = z.string().max(1200).optional();
const version = z.coerce.number<number | string>().int().min(1);

const content = {
  version: z.int(),
  /** `sha256:` and the lower-case hex of the source's bytes. */
  hash: z.string(),
  bytes: z.int(),
  /** Null when its source has problems. */
  components: z.int().nullable(),
  /** How many problems its source has. */
  problems: z.int(),
};

export const workbookSchema = z
  .object({
    id: slugSchema,
    tenant: slugSchema,
    title: z.string().nullable(),
    ...content,
    created_at: epoch,
    updated_at: epoch,
    updated_by: z.string(),
    updated_by_name: actorNameSchema,
    /** How many sandboxes it is docked in. */
    docked: z.int(),
  })
  .meta({ id: 'Workbook' });
export type Workbook = z.infer<typeof workbookSchema>;

export const workbookVersionSchema = z
  .object({ ...content, created_at: epoch, created_by: z.string(), created_by_name: actorNameSchema })
  .meta({ id: 'WorkbookVersion' });
export type WorkbookVersion = z.infer<typeof workbookVersionSchema>;

/** Without a tenant: of those the caller sees, the only one that has a workbook of this id. */
export const workbookQuerySchema = z.strictObject({ tenant: slugSchema.optional() });
export type WorkbookQuery = z.infer<typeof workbookQuerySchema>;

export const workbookVersionQuerySchema = workbookQuerySchema.extend({ version: version.optional() });
export type WorkbookVersionQuery = z.infer<typeof workbookVersionQuerySchema>;

export const workbooksQuerySchema = z.strictObject({
  tenant: slugSchema.optional(),
  /** Part of an id or title. */
  q: z.string().max(200).optional(),
  limit,
  cursor,
});
export type WorkbooksQuery = z.infer<typeof workbooksQuerySchema>;

export const workbookVersionsQuerySchema = workbookQuerySchema.extend({ limit, cursor });
export type WorkbookVersionsQuery = z.infer<typeof workbookVersionsQuerySchema>;

/** Without `to`: the newest version. */
export const upgradeQuerySchema = workbookQuerySchema.extend({ from: version, to: version.optional() });
export type UpgradeQuery = z.infer<typeof upgradeQuerySchema>;
