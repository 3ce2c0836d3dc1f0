/** Bundles for tests, packed by the same steps as a ship, and the bytes of their members. */
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hashFile } from '../../base/hash-file.ts';
import { copyVfs } from '../../vfs/copy.ts';
import { closeToRest, openAtRest, openLive } from '../../vfs/open.ts';
import { tmpFolder } from '../../vfs/testing/tmp-files.ts';
import type { Vfs } from '../../vfs/vfs.ts';
import { DISK, FORMAT, MANIFEST, type Manifest, type Member, manifestText, PAGE, shippedVolumes } from '../manifest.ts';
import type { UnpackResult } from '../messages.ts';
import { bundlePage } from '../page.ts';
import { unpack } from '../unpack.ts';
import { inspectVfs } from '../vfs-inspection.ts';
import { writeZip } from '../zip-writer.ts';

export const MIB = 1024 * 1024;
export const LIMITS = { maxBytes: 64 * MIB, maxFileBytes: 8 * MIB };
const CREATED = 1_765_500_000;

/** A VFS file at rest, filled by `fill`. */
export function vfsFile(fill: (vfs: Vfs) => void): string {
  const file = join(tmpFolder(), 'source.sqlite');
  const vfs = openLive(file, { maxBytes: 512 * MIB, maxFileBytes: 64 * MIB, mustExist: false });
  fill(vfs);
  closeToRest(vfs);
  return file;
}

export interface TestBundle {
  folder: string;
  file: string;
  manifest: Manifest;
  bytes(member: Member): Buffer;
}

/** Makes an unsigned bundle of a VFS file. `manifest` overrides what it says; `strip` false takes the file as it is. */
export async function makeBundle(
  source: string,
  options: { includePrivate?: boolean; manifest?: Partial<Manifest>; strip?: boolean } = {},
): Promise<TestBundle> {
  const folder = tmpFolder();
  const at = (name: string) => join(folder, name);
  const volumes = shippedVolumes(options.includePrivate ?? false);
  if (options.strip ?? true) {
    await copyVfs({ path: source, mode: 'rest' }, at(DISK), volumes);
    inspectVfs(at(DISK), LIMITS.maxFileBytes);
  } else {
    writeFileSync(at(DISK), readFileSync(source));
  }
  const draft: Manifest = {
    id: 'ship-test',
    format: FORMAT,
    volumes,
    signed: false,
    private_included: options.includePrivate ?? false,
    created: CREATED,
    tenant: 'acme',
    instance: 'sb-1',
    ...options.manifest,
  };
  const disk = await hashFile(at(DISK));
  if (options.strip ?? true) {
    const vfs = openAtRest(at(DISK));
    await pipeline(Readable.from(bundlePage(vfs.db, { manifest: draft, disk })), createWriteStream(at(PAGE)));
    vfs.close();
  } else {
    writeFileSync(at(PAGE), '<!doctype html>');
  }
  const manifest: Manifest = {
    ...draft,
    members: { [PAGE]: await hashFile(at(PAGE)), [DISK]: disk },
    ...options.manifest,
  };
  writeFileSync(at(MANIFEST), manifestText(manifest));
  const members = ([MANIFEST, PAGE, DISK] as const).map((name) => ({ name, file: at(name) }));
  await writeZip(at('bundle.zip'), members, CREATED);
  return { folder, file: at('bundle.zip'), manifest, bytes: (member) => readFileSync(at(member)) };
}

/** Unpacks a file as the bundle process does. `target` is the rebuilt VFS file. */
export async function unpackFile(
  file: string,
  limits: Partial<typeof LIMITS> = {},
): Promise<UnpackResult & { target: string; says: string }> {
  const folder = tmpFolder();
  const target = join(folder, 'rebuilt.sqlite');
  const unpacked = await unpack(file, folder, target, { ...LIMITS, ...limits });
  return { ...unpacked, target, says: unpacked.problems.map(({ message }) => message).join(' ') };
}

/** A file of these bytes. */
export function fileOf(bytes: Uint8Array): string {
  const file = join(tmpFolder(), 'handed-in');
  writeFileSync(file, bytes);
  return file;
}
