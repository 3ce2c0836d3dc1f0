/**
 * Unpacks an untrusted file: a bundle or a bare VFS file. Collects all its faults, and rebuilds the VFS file when there
 * are none. Runs in a bundle process; the server verifies signatures and finds shares.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { isWinterdockError, type WinterdockError } from '../base/errors.ts';
import { hashFile } from '../base/hash-file.ts';
import { VOLUME_CONTRACTS, VOLUMES, type Volume } from '../vfs/volumes.ts';
import { MAX_SOURCE_BYTES } from '../workbooks/outline.ts';
import { DISK, MANIFEST, MAX_MANIFEST_BYTES, type Manifest, PAGE, readManifest, SOURCE } from './manifest.ts';
import type { BundleProblem, UnpackLimits, UnpackResult } from './messages.ts';
import { extractBundle, PAGE_MAGIC } from './page-bundle.ts';
import { rebuildVfs } from './vfs-inspection.ts';
import { BundleZip } from './zip-reader.ts';

/** Largest page that is inflated. A page of a bundle stays below 20 MiB. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024;

/** Start of the VFS's message about the file of a sandbox. An upload has no sandbox yet, so it is replaced. */
const DAMAGED = 'The file of the sandbox is damaged';

const SQLITE_MAGIC = 'SQLite format 3\0';
const ZIP_MAGICS = ['PK\x03\x04', 'PK\x05\x06'];

/**
 * Unpacks `file` and, when it has no faults, rebuilds its VFS file at `target`. `folder` is for temporary files. Of a
 * page with a bundle in it the bundle is unpacked.
 */
export async function unpack(
  file: string,
  folder: string,
  target: string,
  limits: UnpackLimits,
): Promise<UnpackResult> {
  const problems: BundleProblem[] = [];
  const upload = await attempt(problems, () => uploadedFile(file, folder));
  if (upload === null) return { ...unknown(problems), whole: await hashFile(file) };
  // The whole is hashed while its members inflate on other threads.
  const [whole, parts] = await Promise.all([hashFile(upload), unpackParts(upload, folder, target, limits)]);
  return { ...parts, whole };
}

/** The upload, or the bundle that is in it. */
async function uploadedFile(file: string, folder: string): Promise<string> {
  if (!magicOf(file).toLowerCase().startsWith(PAGE_MAGIC)) return file;
  const bundle = join(folder, 'from-page');
  await extractBundle(file, bundle);
  return bundle;
}

function unknown(problems: BundleProblem[]): UnpackedParts {
  return { kind: 'unknown', manifest: null, members: {}, rebuilt: null, problems };
}

type UnpackedParts = Omit<UnpackResult, 'whole'>;

async function unpackParts(file: string, folder: string, target: string, limits: UnpackLimits): Promise<UnpackedParts> {
  const magic = magicOf(file);
  if (magic === SQLITE_MAGIC) return unpackVfs(file, target, limits);
  if (ZIP_MAGICS.some((start) => magic.startsWith(start))) return unpackZip(file, folder, target, limits);
  return unknown([problem('It is neither a bundle nor a VFS file.')]);
}

async function unpackVfs(file: string, target: string, limits: UnpackLimits): Promise<UnpackedParts> {
  const taken: UnpackedParts = { kind: 'vfs', manifest: null, members: {}, rebuilt: null, problems: [] };
  await attempt(taken.problems, async () => {
    taken.rebuilt = await rebuildVfs(file, target, {
      declared: VOLUMES,
      kept: kept(VOLUMES),
      bundled: false,
      ...limits,
    });
  });
  return taken;
}

async function unpackZip(file: string, folder: string, target: string, limits: UnpackLimits): Promise<UnpackedParts> {
  const taken: UnpackedParts = { kind: 'bundle', manifest: null, members: {}, rebuilt: null, problems: [] };
  const { problems, members } = taken;
  const zip = await attempt(problems, () => BundleZip.open(file));
  if (zip === null) return taken;
  const disk = join(folder, DISK);
  await attempt(problems, async () => {
    const { content, ...hashed } = await zip.content(MANIFEST, MAX_MANIFEST_BYTES);
    members[MANIFEST] = hashed;
    const read = readManifest(content);
    if ('manifest' in read) taken.manifest = read.manifest;
    else problems.push(...read.problems.map(problem));
  });
  await attempt(problems, async () => {
    members[PAGE] = await zip.hash(PAGE, MAX_PAGE_BYTES);
  });
  if (zip.has(SOURCE)) {
    await attempt(problems, async () => {
      members[SOURCE] = await zip.extract(SOURCE, join(folder, SOURCE), MAX_SOURCE_BYTES);
    });
  }
  await attempt(problems, async () => {
    members[DISK] = await zip.extract(DISK, disk, limits.maxBytes);
  });
  if (taken.manifest !== null) problems.push(...alterations(taken.manifest, members));
  const { manifest } = taken;
  if (manifest === null || problems.length > 0) return taken;
  await attempt(problems, async () => {
    const options = { declared: manifest.volumes, kept: kept(manifest.volumes), bundled: true, ...limits };
    taken.rebuilt = await rebuildVfs(disk, target, options);
  });
  return taken;
}

/** The volumes that survive a resume. tmp is never imported. */
function kept(volumes: readonly Volume[]): Volume[] {
  return volumes.filter((volume) => VOLUME_CONTRACTS[volume].survivesResume);
}

/** Faults for members whose hash or size is not the one in the manifest. */
function alterations(manifest: Manifest, members: UnpackResult['members']): BundleProblem[] {
  if (manifest.members === undefined) {
    return manifest.signed
      ? [problem('It is signed, but its manifest names no members: the signature covers none of them.')]
      : [];
  }
  const declaredSource = manifest.members[SOURCE] !== undefined;
  if (declaredSource !== (members[SOURCE] !== undefined)) {
    const says = declaredSource
      ? 'is not in it, and its manifest names it'
      : 'is in it, and its manifest does not name it';
    return [problem(`${SOURCE} ${says}.`)];
  }
  return ([PAGE, DISK, SOURCE] as const).flatMap((name) => {
    const declared = manifest.members?.[name];
    const found = members[name];
    if (
      found === undefined ||
      declared === undefined ||
      (declared.sha256 === found.sha256 && declared.bytes === found.bytes)
    )
      return [];
    return [problem(`${name} was altered: it is not the one that the manifest names.`)];
  });
}

/** Runs `work`. A fault of the file is added to `problems`; any other error is thrown. */
async function attempt<T>(problems: BundleProblem[], work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!isWinterdockError(error) || !isFileFault(error)) throw error;
    const message = error.message.replace(DAMAGED, 'It holds no sound VFS file');
    problems.push({ message, tooLarge: error.code === 'too_large' });
    return null;
  }
}

function isFileFault({ code }: WinterdockError): boolean {
  return code === 'validation' || code === 'corrupt' || code === 'too_large' || code === 'unknown_volume';
}

function problem(message: string): BundleProblem {
  return { message, tooLarge: false };
}

function magicOf(file: string): string {
  const start = Buffer.alloc(SQLITE_MAGIC.length);
  const descriptor = openSync(file, 'r');
  try {
    return start.subarray(0, readSync(descriptor, start, 0, start.length, 0)).toString('latin1');
  } finally {
    closeSync(descriptor);
  }
}
