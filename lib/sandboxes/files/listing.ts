/**
 * The listing beside an archived file: what the file holds, readable without expanding it. Written at archiving,
 * removed with the file.
 */

import { opendir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFile } from '../../base/effects.ts';
import { type InstanceId, instanceIdOfFile } from '../../base/ids.ts';
import { intoPlace, removeFile, stagingFor } from '../../storage/files.ts';
import { childrenOf, folderPage } from '../../vfs/folder.ts';
import type { ReadAnswer, ReadRequest } from '../../vfs/types.ts';
import { VOLUMES } from '../../vfs/volumes.ts';
import type { Engine } from '../engine.ts';

/** Files asked of a reader at a time. */
const PAGE = 5000;
const SUFFIX = '.json';

const listingSchema = z.object({
  /** The id of the sandbox; listings of an earlier version lack it. */
  id: z.string().optional(),
  volumes: z.array(z.object({ volume: z.enum(VOLUMES), files: z.int(), bytes: z.int() })),
  files: z.array(z.object({ volume: z.enum(VOLUMES), path: z.string(), size: z.int(), mtime: z.int() })),
  /** Folders; listings of an earlier version have none. */
  folders: z.array(z.object({ volume: z.enum(VOLUMES), path: z.string() })).default([]),
});
type Listing = z.infer<typeof listingSchema>;

/** The order of SQLite's text keys: by UTF-8 bytes. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The absolute path of the listing of an archived sandbox. */
export function listingPath(engine: Pick<Engine, 'config'>, id: InstanceId): string {
  return join(engine.config.dataFolder, 'archive', id + SUFFIX);
}

/** Removes the listing of a sandbox that is no longer archived. */
export async function removeListing(engine: Engine, id: InstanceId): Promise<void> {
  await removeFile(listingPath(engine, id));
}

/** The ids that have a listing, in no order. */
export async function* listedIds(engine: Engine): AsyncIterable<InstanceId> {
  for await (const { name } of await opendir(join(engine.config.dataFolder, 'archive'))) {
    if (name.endsWith(SUFFIX)) yield instanceIdOfFile(name.slice(0, -SUFFIX.length));
  }
}

/** Writes the listing of a file at rest. The caller holds the file exclusively. */
export async function writeListing(engine: Engine, id: InstanceId, source: string): Promise<void> {
  const target = { path: source, mode: 'rest' as const };
  const { volumes } = await engine.readers.read(target, { op: 'volumes' });
  const files: Listing['files'] = [];
  const folders: Listing['folders'] = [];
  for (const volume of VOLUMES) {
    let after: string | null = '';
    while (after !== null) {
      const page: Extract<ReadAnswer, { op: 'list' }> = await engine.readers.read(target, {
        op: 'list',
        volume,
        limit: PAGE,
        ...(after === '' ? {} : { after }),
      });
      for (const entry of page.files) files.push({ volume, ...entry });
      after = page.next;
    }
    for (let last: string | null = ''; last !== null; ) {
      const page: Extract<ReadAnswer, { op: 'directories' }> = await engine.readers.read(target, {
        op: 'directories',
        volume,
        limit: PAGE,
        after: last,
      });
      for (const path of page.paths) folders.push({ volume, path });
      last = page.next;
    }
  }
  const listing = JSON.stringify({ id, volumes, files, folders } satisfies Listing);
  const path = listingPath(engine, id);
  await intoPlace(path, stagingFor(engine.config.dataFolder, path), (unfinished) => writeFile(unfinished, listing));
}

/** Whether a listing may answer a read. */
export function isListed({ op }: ReadRequest): boolean {
  return op === 'volumes' || op === 'list' || op === 'folder';
}

/** Answers a read from the listing; null when the file itself is needed. */
export async function readListing(engine: Engine, id: InstanceId, request: ReadRequest): Promise<ReadAnswer | null> {
  if (request.op !== 'volumes' && request.op !== 'list' && request.op !== 'folder') return null;
  let text: string;
  try {
    text = await readFile(listingPath(engine, id), 'utf8');
  } catch {
    // Without a listing the file itself answers, only slower.
    return null;
  }
  const parsed = listingSchema.safeParse(JSON.parse(text));
  if (!parsed.success || (parsed.data.id !== undefined && parsed.data.id !== id)) return null;
  if (request.op === 'volumes') return { op: 'volumes', volumes: parsed.data.volumes };
  if (request.op === 'folder') return folderFrom(parsed.data, request);
  const { volume, prefix = '', after = '', limit } = request;
  const matching = parsed.data.files.filter(
    (entry) => entry.volume === volume && entry.path.startsWith(prefix) && compareBytes(entry.path, after) > 0,
  );
  const page = matching.slice(0, limit).map(({ path, size, mtime }) => ({ path, size, mtime }));
  const last = page.at(-1);
  return { op: 'list', files: page, next: matching.length > limit && last !== undefined ? last.path : null };
}

/** A page of a folder; null when the listing does not know the folder: then the file itself answers. */
function folderFrom(listing: Listing, request: Extract<ReadRequest, { op: 'folder' }>): ReadAnswer | null {
  const { volume, path, limit, after } = request;
  const files = listing.files.filter((file) => file.volume === volume);
  const folders = listing.folders.filter((folder) => folder.volume === volume).map((folder) => folder.path);
  const items = childrenOf(files, folders, path);
  return items === null ? null : { op: 'folder', ...folderPage(items, limit, after) };
}
