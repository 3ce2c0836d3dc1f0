/**
 * The document beside each object in the store: what the row of its sandbox says, so that the store alone can make the
 * rows again. Read by restores; nothing else relies on it.
 */
import { z } from 'zod';
import type { InstanceRow, StoredObject } from '../../registry/types.ts';

/** Suffixes of what lies beside an object, after its name. */
export const ROW_SUFFIX = '.row.json';
export const LISTING_SUFFIX = '.listing';

/** Grows when a reader of the former form would misunderstand it. */
const FORM = 1;

const seconds = z.int().nullable();
const text = z.string().nullable();

export const rowDocumentSchema = z.object({
  form: z.literal(FORM),
  id: z.string(),
  tenant: z.string(),
  name: text,
  state: z.enum(['frozen', 'archived']),
  generation: z.int(),
  labels: z.record(z.string(), z.string()),
  policy: z.string(),
  ephemeral: z.boolean(),
  keepHot: z.boolean(),
  holdUntil: seconds,
  hotToWarmSeconds: seconds,
  idleToSuspendSeconds: seconds,
  idleToFreezeSeconds: seconds,
  workbook: text,
  workbookVersion: z.int().nullable(),
  lineageBlueprint: text,
  lineageSnapshot: text,
  lineageParent: text,
  created: z.int(),
  updated: z.int(),
  stateSince: z.int(),
  /** Bytes of the file, expanded. */
  bytes: z.int().nullable(),
  /** What was recorded of the file: its stat is that of the machine that filed it. */
  file: z.looseObject({ size: z.int(), sha256: z.string(), quickCheck: text }),
  stored: z.object({
    address: z.string(),
    generation: z.int(),
    sha256: z.string(),
    bytes: z.int(),
    at: z.int(),
  }),
});

/** The document of a row whose file is whole in the store as `stored`. Throws for a row that is not at rest there. */
export function rowDocument(row: InstanceRow, stored: StoredObject): Uint8Array {
  const document = rowDocumentSchema.parse({
    ...row,
    form: FORM,
    file: { ...row.file, sha256: stored.sha256 },
    stored,
  });
  return Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
}
