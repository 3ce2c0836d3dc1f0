/**
 * The document beside the object of a snapshot or blueprint in the store: what its rows said when it was uploaded, so
 * that the store alone can make them again. Read by restores; nothing else relies on it. Pure.
 */
import { z } from 'zod';
import { COPY_KINDS, type CopyKind } from '../base/copy-paths.ts';
import { WinterdockError } from '../base/errors.ts';
import { SLUG } from '../base/ids.ts';
import { REPLICATE_FORM } from '../base/replicate-form.ts';
import type { BlueprintRow, SnapshotRow } from '../registry/copies.ts';
import { NOBODYS } from '../registry/store-names.ts';
import { VOLUMES } from '../vfs/volumes.ts';

/** Grows when a reader of the former form would misunderstand it. */
const FORM = 1;
/** Rows of one file that a document has. */
export const MOST_COPY_ROWS = 200;
const TEXT_LENGTH = 300;
const LATEST = 253_402_300_799;

const NAME = new RegExp(`^drawers/(${COPY_KINDS.join('|')})/([^/]+)/([0-9a-f]{64})-[A-Za-z0-9_-]+$`);

const text = z.string().max(TEXT_LENGTH);
const time = z.int().min(0).max(LATEST);
const size = z.int().min(0);
const slug = z.string().regex(SLUG);
/** Documents of earlier versions lack it. */
const replicate = z.string().regex(REPLICATE_FORM).nullable().default(null);
const momentMs = z
  .int()
  .min(0)
  .max(LATEST * 1000)
  .nullable()
  .default(null);
const made = { created: time, actor: text };

const documentSchema = z.object({
  form: z.literal(FORM),
  kind: z.enum(COPY_KINDS),
  tenant: z.union([slug, z.literal(NOBODYS)]),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Documents of before there were rows in them have none of these. */
  bytes: size.optional(),
  volumes: z
    .array(z.object({ volume: z.enum(VOLUMES), files: size, bytes: size }))
    .max(VOLUMES.length)
    .optional(),
  snapshots: z
    .array(z.object({ ...made, id: slug, source: slug, tag: text.nullable(), moment_ms: momentMs }))
    .max(MOST_COPY_ROWS)
    .optional(),
  blueprints: z
    .array(z.object({ ...made, name: slug, source: slug.nullable(), replicate }))
    .max(MOST_COPY_ROWS)
    .optional(),
});
export type CopyDocument = z.output<typeof documentSchema>;

/** The kind, tenant (`NOBODYS` of some) and hash in the name of a copy's object; null for any other name. */
export function parseCopyName(name: string): { kind: CopyKind; tenant: string; hash: string } | null {
  const [, kind, tenant, hash] = NAME.exec(name) ?? [];
  if (tenant === undefined || hash === undefined) return null;
  return { kind: kind === 'snapshot' ? 'snapshot' : 'blueprint', tenant, hash };
}

/** The document of a copy that a tenant has, with its rows: those of another tenant are left out. */
export function copyDocument(
  { kind, tenant, hash }: { kind: CopyKind; tenant: string; hash: string },
  rows: { snapshots: readonly SnapshotRow[]; blueprints: readonly BlueprintRow[] },
): Uint8Array {
  const snapshots = rows.snapshots.filter((row) => row.tenant === tenant);
  const blueprints = rows.blueprints.filter((row) => (row.tenant ?? NOBODYS) === tenant);
  const [first] = kind === 'snapshot' ? snapshots : blueprints;
  const document = {
    form: FORM,
    kind,
    tenant,
    sha256: hash,
    ...(first && { bytes: first.bytes, volumes: first.volumes }),
    snapshots: snapshots.map(({ id, source, tag, created, actor, momentMs: moment_ms }) => ({
      ...{ id, source, tag, created, actor, moment_ms },
    })),
    blueprints: blueprints.map(({ name, source, created, actor, replicate }) => ({
      name,
      source,
      created,
      actor,
      replicate,
    })),
  };
  return Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
}

/** The document beside the object `name`. Throws `validation` for what is none, or is that of another object. */
export function readCopyDocument(bytes: Uint8Array, name: string): CopyDocument {
  let document: CopyDocument;
  try {
    document = documentSchema.parse(JSON.parse(Buffer.from(bytes).toString()));
  } catch (error) {
    throw new WinterdockError('validation', 'it is no document of a copy', { cause: error });
  }
  const is = parseCopyName(name);
  const { kind, tenant, sha256 } = document;
  if (is?.kind === kind && is.tenant === tenant && is.hash === sha256) return document;
  throw new WinterdockError('validation', 'it is the document of another copy');
}
