/**
 * The compile cache of helpers behind walls: written once, by a process that never opens a guest's file, and read by
 * all that come later. Knows nothing of what is compiled.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeFolderNow, writeFile } from './effects.ts';
import { type HelperStart, startHelper } from './helper-start.ts';

const MAX_MS = 30_000;

const compiled = new Map<string, Promise<void>>();

/**
 * Resolves when what the process loads until it is ready has been compiled for those that are started in the same way.
 * Never rejects: without a cache a start takes longer, and nothing else.
 */
export function compiledOnce(start: HelperStart): Promise<void> {
  const { walls, entry } = start;
  const cacheFolder = walls?.cacheFolder ?? null;
  if (cacheFolder === null) return Promise.resolve();
  const mark = join(cacheFolder, `${basename(entry)}.compiled`);
  const known = compiled.get(mark) ?? compile(start, cacheFolder, mark).catch(() => undefined);
  compiled.set(mark, known);
  return known;
}

async function compile(start: HelperStart, cacheFolder: string, mark: string): Promise<void> {
  if (existsSync(mark)) return;
  makeFolderNow(cacheFolder);
  const env = { ...start.env, NODE_COMPILE_CACHE: cacheFolder };
  const { id, channel, exited } = startHelper({ ...start, env, stdout: 'ignore', walls: null });
  const late = setTimeout(() => id.signal('SIGKILL'), MAX_MS);
  try {
    // It writes the cache after its first word, and ends by itself when the channel is closed.
    channel.onMessage(() => channel.close());
    await exited;
    await writeFile(mark, '');
  } finally {
    clearTimeout(late);
  }
}
