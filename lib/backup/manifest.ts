/**
 * The manifest of a backup: one line of JSON and, below it, a signature over exactly those bytes. Owns the format; the
 * store owns where manifests and objects are kept.
 */
import { z } from 'zod';
import { COPY_KINDS } from '../base/copy-paths.ts';
import { WinterdockError } from '../base/errors.ts';
import { type InstanceId, isInstanceId } from '../base/ids.ts';
import { type Signer, verify } from '../base/signing.ts';
import { STATES } from '../lifecycle/state-map.ts';

export const MANIFEST_KIND = 'winterdock-backup/1';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);
const objectSchema = z.object({ sha256, bytes: count });
const stampSchema = z.object({
  size: count,
  inode: z.string(),
  mtimeNs: z.string(),
  ctimeNs: z.string(),
  tag: z.string().exactOptional(),
});

/**
 * How the file of a sandbox was copied. `none`: it has none; `memory`: it lived in its process alone; `shared`: it is
 * that of a copy; `stored`: it is in the store below the drawers, and stays there; `whole`: byte by byte, at rest;
 * `online`: as one moment left it beside its process, or with the log that a killed one left; `missing`: there was
 * nothing where its row says.
 */
const HOWS = ['none', 'memory', 'shared', 'stored', 'whole', 'online', 'missing'] as const;

const idSchema = z.custom<InstanceId>(isInstanceId);

const rowSchema = z.object({
  id: idSchema,
  tenant: z.string(),
  /** The state when the file was copied; `suspended` for an active sandbox. */
  state: z.enum(STATES),
  how: z.enum(HOWS),
  object: objectSchema.nullable(),
  /** Whether the object is compressed as the archive keeps it. */
  packed: z.boolean(),
  /** SHA-256 of the expanded contents of a packed object, if the registry knows it. */
  expands: sha256.nullable(),
  /** The file listing of an archived sandbox, readable without expanding it. */
  listing: objectSchema.nullable(),
  /** The stat of the file that was copied whole: the next backup need not read one that still has it. */
  stamp: stampSchema.nullable(),
  /** What is wrong with it, or null. */
  wrong: z.string().nullable(),
  /** The object of the store that it was copied from: the next backup need not copy the same one again. */
  stored: z.string().exactOptional(),
  /** Set when nobody knew the hash of the file as it was filed: its bytes are those that were found. */
  unverified: z.literal(true).exactOptional(),
});
export type BackupRow = z.infer<typeof rowSchema>;

const copySchema = z.object({
  kind: z.enum(COPY_KINDS),
  hash: sha256,
  /** Null with nothing wrong: it was deleted while the backup ran. */
  object: objectSchema.nullable(),
  wrong: z.string().nullable(),
});
export type BackupCopy = z.infer<typeof copySchema>;

const manifestSchema = z.object({
  kind: z.literal(MANIFEST_KIND),
  id: z.string().regex(/^[0-9A-Za-z.-]{1,80}$/),
  /** Epoch milliseconds: of the moment that the registry is of, and of the end. */
  begun_ms: count,
  made_ms: count,
  /** Of Winterdock. */
  version: z.string(),
  migrations: count,
  registry: objectSchema,
  /** The signed head of the ledger, from just before the registry was copied; null when there was none. */
  head: objectSchema.nullable(),
  ledger: z.object({ seq: count, hash: z.string() }),
  rows: z.array(rowSchema),
  copies: z.array(copySchema),
  keys: z.object({
    /** Key files of the data folder. */
    files: z.array(z.string()),
    /** All of them, encrypted with a passphrase (age); null when they were left out. */
    object: objectSchema.nullable(),
  }),
  issuer: z.string(),
});
export type BackupManifest = z.infer<typeof manifestSchema>;
export type ObjectRef = z.infer<typeof objectSchema>;

/** The text of a manifest: the document, and the signature of its line. */
export function backupManifestText(manifest: Omit<BackupManifest, 'issuer'>, signer: Signer): string {
  const line = JSON.stringify({ ...manifest, issuer: signer.issuer });
  return `${line}\n${JSON.stringify({ signature: signer.sign(Buffer.from(line)) })}\n`;
}

/** Reads a manifest. Throws `corrupt` when it is none, was changed, or is not signed by whom it names. */
export function parseBackupManifest(text: string): BackupManifest {
  const refuse = (why: string, cause?: unknown) =>
    new WinterdockError('corrupt', `The manifest of the backup was refused: ${why}.`, { cause });
  const [line = '', second = ''] = text.split('\n');
  let manifest: BackupManifest;
  let signature: string;
  try {
    manifest = manifestSchema.parse(JSON.parse(line));
    ({ signature } = z.object({ signature: z.string() }).parse(JSON.parse(second)));
  } catch (error) {
    throw refuse('it is not one of this version', error);
  }
  if (!verify(manifest.issuer, Buffer.from(line), signature)) {
    throw refuse('it is not as it was signed');
  }
  return manifest;
}

/** Every object that a backup needs, each once. */
export function objectsOf(manifest: BackupManifest): Map<string, { bytes: number; names: string[] }> {
  const objects = new Map<string, { bytes: number; names: string[] }>();
  const need = (object: ObjectRef | null, name: string) => {
    if (object === null) return;
    const known = objects.get(object.sha256);
    if (known === undefined) objects.set(object.sha256, { bytes: object.bytes, names: [name] });
    else known.names.push(name);
  };
  need(manifest.registry, 'the registry');
  need(manifest.head, 'the head of the ledger');
  need(manifest.keys.object, 'the key files');
  for (const row of manifest.rows) {
    need(row.object, `the sandbox "${row.id}"`);
    need(row.listing, `the listing of the sandbox "${row.id}"`);
  }
  for (const copy of manifest.copies) need(copy.object, `the ${copy.kind} ${copy.hash.slice(0, 12)}…`);
  return objects;
}

/** What is not sound in a backup, a sentence each. */
export function unreadableIn({ rows, copies }: Pick<BackupManifest, 'rows' | 'copies'>): string[] {
  return [
    ...rows.flatMap(({ id, wrong }) => (wrong === null ? [] : [`The sandbox "${id}": ${wrong}.`])),
    ...copies.flatMap(({ kind, hash, wrong }) => (wrong === null ? [] : [`The ${kind} ${hash}: ${wrong}.`])),
  ];
}

/** The name of a backup: its moment, so that names sort as times do, and a part that no other has. */
export function backupId(beganMs: number, unique: string): string {
  return `${new Date(beganMs).toISOString().replaceAll(':', '')}-${unique}`;
}
