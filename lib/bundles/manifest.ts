/**
 * The manifest of a bundle: its fields, its parser for untrusted bytes, and the bytes that the signature covers.
 * Pure; knows nothing of zips, files or keys.
 */
import { z } from 'zod';
import { LONGEST_VARIABLE_NAME } from '../base/variable-names.ts';
import { VOLUME_CONTRACTS, VOLUMES, type Volume } from '../vfs/volumes.ts';

export const FORMAT = 'wbundle/1';

export const PAGE = 'workbook.html';
export const DISK = 'vfs.sqlite';
export const MANIFEST = 'manifest.json';
/** The source of the sandbox's workbook: the one member that a bundle may lack. */
export const SOURCE = 'workbook.org';
/** The members of every bundle. */
export const MEMBERS = [PAGE, DISK, MANIFEST] as const;
export type Member = (typeof MEMBERS)[number] | typeof SOURCE;

/** Largest manifest that is read, in bytes. A typical one has about 1 500. */
export const MAX_MANIFEST_BYTES = 64 * 1024;

/** Domain separation: a prefix of the signed bytes, so that a signature over other data never fits a bundle. */
const DOMAIN = 'winterdock wbundle/1\n';

const ID_LENGTH = 200;
const MOST_NAMES = 100;
const idSchema = z.string().min(1).max(ID_LENGTH);
const memberSchema = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits'),
  bytes: z.int().min(0),
});

/**
 * The six fields of the seed are required; all others are optional, as other docks may not write them. Unknown fields
 * are kept, because the signature covers them.
 */
export const manifestSchema = z.looseObject({
  id: idSchema,
  format: z.literal(FORMAT),
  volumes: z
    .array(z.enum(VOLUMES))
    .min(1)
    .refine((volumes) => new Set(volumes).size === volumes.length, 'must name each volume once'),
  signed: z.boolean(),
  private_included: z.boolean(),
  /** Epoch seconds. */
  created: z.int().min(0),
  /** Of what moment it is, in epoch milliseconds; left out: of when it was made. */
  moment_ms: z.int().min(0).optional(),
  tenant: idSchema.optional(),
  instance: idSchema.optional(),
  name: z.string().max(ID_LENGTH).nullable().optional(),
  lineage: z
    .object({
      blueprint: idSchema.nullable(),
      snapshot: idSchema.nullable(),
      parent: idSchema.nullable(),
    })
    .optional(),
  /** The workbook that it was docked to; its source is a member. */
  workbook: z.object({ id: idSchema, version: z.int().min(1) }).optional(),
  /** Names of the variables that its guests found. Values stay. */
  env: z.array(z.string().min(1).max(LONGEST_VARIABLE_NAME)).max(MOST_NAMES).optional(),
  members: z.object({ [PAGE]: memberSchema, [DISK]: memberSchema, [SOURCE]: memberSchema.optional() }).optional(),
  /** `did:key:z…` of the signer. */
  issuer: z.string().max(ID_LENGTH).optional(),
  /** Ed25519 over `signedBytes`, base64url. */
  signature: z.string().max(ID_LENGTH).optional(),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** The volumes in a bundle: those that ship, or with `includePrivate` all of them. */
export function shippedVolumes(includePrivate: boolean): Volume[] {
  return VOLUMES.filter((volume) => includePrivate || VOLUME_CONTRACTS[volume].ships);
}

/**
 * Parses a manifest from untrusted bytes. Returns it, or its faults, one sentence for each field. `signed`,
 * `private_included` and `volumes` must not contradict each other.
 */
export function readManifest(bytes: Uint8Array): { manifest: Manifest } | { problems: string[] } {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { problems: ['manifest.json is not JSON.'] };
  }
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) {
    return {
      problems: parsed.error.issues.map((issue) => `manifest.json: ${issue.path.join('.') || 'it'}: ${issue.message}.`),
    };
  }
  const manifest = parsed.data;
  const holdsPrivate = manifest.volumes.some((volume) => !VOLUME_CONTRACTS[volume].ships);
  if (holdsPrivate !== manifest.private_included)
    return { problems: ['manifest.json: volumes and private_included contradict each other.'] };
  if (manifest.signed !== (manifest.signature !== undefined))
    return {
      problems: [
        `manifest.json says ${manifest.signed ? 'signed and holds no signature' : 'not signed and holds a signature'}.`,
      ],
    };
  return { manifest };
}

/** The bytes that the signature covers: the whole manifest but the signature itself, in one canonical form. */
export function signedBytes(manifest: Record<string, unknown>): Uint8Array {
  const { signature: _left, ...rest } = manifest;
  return Buffer.from(DOMAIN + canonical(rest));
}

/** The text of a manifest in a bundle. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/**
 * JSON with sorted keys and no spaces, so that equal values have equal bytes (RFC 8785 for what a manifest can hold).
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}
