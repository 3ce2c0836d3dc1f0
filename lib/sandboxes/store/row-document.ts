/**
 * The document beside each object in the store: what the row of its sandbox says, so that the store alone can make the
 * rows again. Read by restores; nothing else relies on it.
 */
import { z } from 'zod';
import { addressOfObject, parseCloudAddress } from '../../base/cloud-address.ts';
import { WinterdockError } from '../../base/errors.ts';
import { type InstanceId, SLUG } from '../../base/ids.ts';
import { REPLICATE_FORM } from '../../base/replicate-form.ts';
import type { InstanceRow, StoredObject } from '../../registry/types.ts';

/** Suffixes of what lies beside an object, after its name. */
export const ROW_SUFFIX = '.row.json';
export const LISTING_SUFFIX = '.listing';

/** Grows when a reader of the former form would misunderstand it. */
const FORM = 1;

const seconds = z.int().nullable();
const text = z.string().nullable();

const rowDocumentSchema = z.object({
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
  /** Documents of earlier versions lack it. */
  replicate: text.default(null),
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

/** What rows have at most, whoever wrote the document: as the API takes them. */
const NAME_LENGTH = 200;
const LABELS = { count: 32, key: 63, value: 256 };
const YEAR_SECONDS = 52 * 7 * 86_400;
const LATEST = 253_402_300_799;
/** Bytes that a document may have. */
export const MOST_ROW_BYTES = 64 * 1024;

const slug = z.string().regex(SLUG);
const time = z.int().min(0).max(LATEST);
const threshold = z.int().min(0).max(YEAR_SECONDS).nullable();
const plain = z
  .string()
  .min(1)
  .max(NAME_LENGTH)
  .regex(/^[^\p{Cc}]*$/u);
const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** The document as a stranger may have written it: every part is bounded, ids are ids. */
const strictSchema = rowDocumentSchema.extend({
  id: slug as unknown as z.ZodType<InstanceId, string>,
  tenant: slug,
  name: plain.nullable(),
  generation: z.int().min(0),
  labels: z
    .record(z.string().min(1).max(LABELS.key), z.string().max(LABELS.value))
    .refine((labels) => Object.keys(labels).length <= LABELS.count),
  policy: slug,
  holdUntil: time.nullable(),
  hotToWarmSeconds: threshold,
  idleToSuspendSeconds: threshold,
  idleToFreezeSeconds: threshold,
  replicate: z.string().regex(REPLICATE_FORM).nullable().default(null),
  workbook: plain.nullable(),
  workbookVersion: z.int().min(0).nullable(),
  lineageBlueprint: slug.nullable(),
  lineageSnapshot: slug.nullable(),
  lineageParent: slug.nullable() as unknown as z.ZodType<InstanceId | null, string | null>,
  created: time,
  updated: time,
  stateSince: time,
  bytes: z.int().min(0).nullable(),
  file: z.object({ size: z.int().min(0), sha256: hash }),
  stored: z.object({
    address: z.string(),
    generation: z.int().min(0),
    sha256: hash,
    bytes: z.int().min(0),
    at: time,
  }),
});
export type RowDocument = z.output<typeof strictSchema>;

/**
 * The document beside the object `name`. Throws `validation`, with the reason as a part of a sentence, for what is none
 * and for that of another object.
 */
export function readRowDocument(bytes: Uint8Array, name: string): RowDocument {
  let document: RowDocument;
  try {
    document = strictSchema.parse(JSON.parse(Buffer.from(bytes).toString()));
  } catch (error) {
    throw new WinterdockError('validation', 'the document beside it is none of a row', { cause: error });
  }
  const { id, state, generation, stored, file } = document;
  const is = parseCloudAddress(addressOfObject(name));
  const isOfObject =
    stored.address === addressOfObject(name) &&
    is?.id === id &&
    is.kind === (state === 'frozen' ? 'cold' : 'archive') &&
    is.generation === generation &&
    stored.generation === generation &&
    stored.sha256 === file.sha256;
  if (isOfObject) return document;
  throw new WinterdockError('validation', 'the document beside it is that of another object');
}
