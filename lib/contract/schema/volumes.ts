/** Contract schemas of what is in a sandbox: its volumes, their files and folders. Safe for the browser. */
import { z } from 'zod';
import { parseVfsPath } from '../../vfs/paths.ts';
import { VOLUMES } from '../../vfs/volumes.ts';
import { momentNameSchema, momentTimeSchema, PAST } from './moments.ts';

const volume = z.enum(VOLUMES);
const epoch = z.int().min(0).max(253_402_300_799);
const limit = z.coerce.number<number | string>().int().min(1).max(500).default(100);

export const volumeInfoSchema = z.object({
  volume,
  files: z.int(),
  bytes: z.int(),
  survives_resume: z.boolean(),
  ships: z.boolean(),
});
export type VolumeInfo = z.infer<typeof volumeInfoSchema>;

export const fileInfoSchema = z.object({ path: z.string(), size: z.int(), mtime: epoch });
export type FileInfo = z.infer<typeof fileInfoSchema>;

export const filesQuerySchema = z.strictObject({
  prefix: z.string().max(1024).optional(),
  limit,
  cursor: z.string().max(4096).optional(),
  ...PAST,
});

export const folderItemSchema = z.object({
  name: z.string(),
  kind: z.enum(['file', 'dir', 'link']),
  size: z.int(),
  mtime: epoch,
});
export type FolderItem = z.infer<typeof folderItemSchema>;

/** Parsed as it comes in: what is behind the contract takes no other text for a path. */
const pathText = z.string().min(1).max(4096);
const pathSchema = pathText.transform(parseVfsPath);

export const folderQuerySchema = z.strictObject({
  path: pathText.default('/').transform(parseVfsPath),
  limit,
  cursor: z.string().max(4096).optional(),
  ...PAST,
});

export const makeFolderSchema = z.strictObject({ path: pathSchema });

export const deleteFolderQuerySchema = z.strictObject({
  path: pathSchema,
  recursive: z.enum(['true', 'false']).default('false'),
});

export const moveSchema = z.strictObject({ from: pathSchema, to: pathSchema });

/** What was there at a time, or at a named moment: one of both. */
export const takeBackSchema = z
  .strictObject({
    path: pathSchema,
    time: momentTimeSchema.optional(),
    moment: momentNameSchema.optional(),
    reason: z.string().trim().max(1000).optional(),
  })
  .refine(({ time, moment }) => (time === undefined) !== (moment === undefined), {
    path: ['time'],
    message: 'give a time or the name of a moment, and not both',
  });
export type TakeBackInput = z.infer<typeof takeBackSchema>;

export const takenBackSchema = z
  .object({
    used: z.number().min(0).meta({ description: 'Of the moment, in seconds since the epoch with fractions' }),
    files: z.int().meta({ description: 'Files and links' }),
    bytes: z.int(),
  })
  .meta({ id: 'TakenBack' });
export type TakenBack = z.infer<typeof takenBackSchema>;

export const searchQuerySchema = z.strictObject({
  q: z.string().min(1).max(500),
  volume: volume.optional(),
  in: z.enum(['name', 'content']).default('name'),
  limit,
  ...PAST,
});

export const searchHitSchema = z.object({
  volume,
  path: z.string(),
  line: z.int().optional(),
  text: z.string().optional(),
});
export type SearchHit = z.infer<typeof searchHitSchema>;
