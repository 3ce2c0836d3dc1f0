/**
 * Verifies a backup: the signature of its manifest fits, and every object that the manifest names exists and has the
 * hash in its name. Restores nothing.
 */
import { statSync } from 'node:fs';
import { sha256Of, stampOf } from '../storage/files.ts';
import { objectPath } from './folder-place.ts';
import { type BackupManifest, objectsOf } from './manifest.ts';
import { manifestsIn } from './store.ts';
import { readTar } from './tar.ts';

export interface BackupVerification {
  /** Newest first. */
  manifests: BackupManifest[];
  objects: number;
  bytes: number;
  /** Damaged or missing objects: a sentence each, with their owner. */
  damaged: string[];
}

/**
 * Reads every object of every backup in a folder or a tar file. Throws `not_found` without a backup, and `corrupt` for
 * a truncated tar.
 */
export async function verifyBackup(from: string): Promise<BackupVerification> {
  return isFolder(from) ? verifyFolder(from) : verifyTar(from);
}

/** Whether a path is a backup folder rather than a tar file. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? !path.endsWith('.tar');
}

async function verifyFolder(folder: string): Promise<BackupVerification> {
  const { manifests, damaged } = await manifestsIn(folder);
  const verified: BackupVerification = { manifests, objects: 0, bytes: 0, damaged };
  const seen = new Set<string>();
  for (const manifest of manifests) {
    for (const [sha256, { bytes, names }] of objectsOf(manifest)) {
      if (seen.has(sha256)) continue;
      seen.add(sha256);
      const path = objectPath(folder, sha256);
      const size = stampOf(path)?.size ?? null;
      count(verified, sha256, bytes, names, size === null ? null : await sha256Of(path));
    }
  }
  return verified;
}

async function verifyTar(path: string): Promise<BackupVerification> {
  const { manifest, found } = await readTar(path);
  const verified: BackupVerification = { manifests: [manifest], objects: 0, bytes: 0, damaged: [] };
  for (const [sha256, { bytes, names }] of objectsOf(manifest)) {
    count(verified, sha256, bytes, names, found.get(sha256) ?? null);
  }
  return verified;
}

function count(verified: BackupVerification, sha256: string, bytes: number, names: string[], is: string | null): void {
  verified.objects += 1;
  verified.bytes += bytes;
  if (is === sha256) return;
  const more = names.length > 2 ? ` and ${names.length - 2} more` : '';
  const owners = `${names.slice(0, 2).join(', ')}${more}`;
  verified.damaged.push(
    is === null
      ? `objects/${sha256} is missing: ${owners}`
      : `objects/${sha256} is damaged: ${owners}; remove it, and the next backup copies it anew`,
  );
}
