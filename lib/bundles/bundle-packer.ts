/**
 * Packs the copied file of a sandbox into a signed bundle and describes it as a share. Knows nothing of ledgers and
 * streams.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { writeFile } from '../base/effects.ts';
import { newId } from '../base/ids.ts';
import type { Signer } from '../base/signing.ts';
import type { ShareRow } from '../registry/shares.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { BundleProcess } from './bundle-process.ts';
import type { Hashed } from './hashing.ts';
import {
  DISK,
  FORMAT,
  MANIFEST,
  type Manifest,
  manifestText,
  PAGE,
  SOURCE,
  shippedVolumes,
  signedBytes,
} from './manifest.ts';

/** File name of the zip in the temporary folder. */
export const ZIP = 'bundle.zip';

export interface PackOptions {
  clock: Clock;
  signer: Signer;
  /** Largest file that a sandbox may hold, in bytes. */
  maxFileBytes: number;
}

export interface BundleSource extends Pick<ShareRow, 'actor' | 'requestId'> {
  row: InstanceRow;
  includePrivate: boolean;
  /** The temporary folder. It holds only the copied file, as `vfs.sqlite`. */
  folder: string;
  /** Hash and size of the copied file. */
  disk: Hashed;
  /** Names of the variables that its guests find. */
  env: readonly string[];
  /** Of what moment it is, in epoch milliseconds; null: of now. */
  momentMs: number | null;
  /** The workbook that it is docked to; null without one. */
  workbook: { id: string; version: number; source: string } | null;
}

/**
 * Inspects the copy, writes the page, signs the manifest and zips. Throws `corrupt` for a VFS file that is not healthy,
 * and the error that ended the process.
 */
export async function packBundle(options: PackOptions, worker: BundleProcess, source: BundleSource): Promise<ShareRow> {
  const { clock, signer, maxFileBytes } = options;
  const { row, includePrivate, disk, env, workbook, momentMs, actor, requestId } = source;
  const at = (name: string) => join(source.folder, name);
  const created = epochSeconds(clock);
  const volumes = shippedVolumes(includePrivate);
  const draft: Manifest = {
    id: newId('ship'),
    format: FORMAT,
    volumes,
    signed: true,
    private_included: includePrivate,
    created,
    tenant: row.tenant,
    instance: row.id,
    name: row.name,
    lineage: { blueprint: row.lineageBlueprint, snapshot: row.lineageSnapshot, parent: row.lineageParent },
    issuer: signer.issuer,
    ...(momentMs === null ? {} : { moment_ms: momentMs }),
    ...(env.length === 0 ? {} : { env: [...env] }),
    ...(workbook === null ? {} : { workbook: { id: workbook.id, version: workbook.version } }),
  };
  if (workbook !== null) await writeFile(at(SOURCE), workbook.source, { flag: 'wx' });
  const paths = { disk: at(DISK), page: at(PAGE), source: workbook === null ? null : at(SOURCE) };
  const { page } = await worker.run({ kind: 'page', ...paths, hashed: disk, manifest: draft, maxFileBytes });
  const carried: Record<string, Hashed> = workbook === null ? {} : { [SOURCE]: hashedText(workbook.source) };
  const manifest: Manifest = { ...draft, members: { [PAGE]: page, [DISK]: disk, ...carried } };
  manifest.signature = signer.sign(signedBytes(manifest));
  await writeFile(at(MANIFEST), manifestText(manifest), { flag: 'wx' });
  const zip = { manifest: at(MANIFEST), target: at(ZIP), createdSeconds: created };
  const zipped = await worker.run({ kind: 'zip', ...paths, ...zip });
  return {
    id: draft.id,
    instance: row.id,
    tenant: row.tenant,
    format: FORMAT,
    volumes,
    privateIncluded: includePrivate,
    issuer: signer.issuer,
    members: { [PAGE]: page, [DISK]: disk, ...carried, [MANIFEST]: zipped.manifest },
    diskSha256: disk.sha256,
    sha256: zipped.whole.sha256,
    bytes: zipped.whole.bytes,
    created,
    actor,
    requestId,
  };
}

function hashedText(text: string): Hashed {
  const bytes = Buffer.from(text);
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
}
