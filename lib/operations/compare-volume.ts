/** The differences between two states of a volume, read page by page in the order of their paths. Keeps no content. */
import type { Comparison, FileChange } from '../contract/schema.ts';
import type { ReadAnswer, ReadRequest, VfsDigest } from '../vfs/types.ts';
import type { Volume } from '../vfs/volumes.ts';

/** Files, and bytes of contents, that a reader hashes at a time: it is free for others in between. */
const PAGE_FILES = 1000;
const PAGE_BYTES = 64 * 1024 * 1024;

type Digests = (request: Extract<ReadRequest, { op: 'digests' }>) => Promise<Extract<ReadAnswer, { op: 'digests' }>>;

/** `before` and `now` read the two states. At most `limit` differences are named; all are counted. */
export async function compareVolume(
  { volume, limit, ...from }: Pick<Comparison, 'snapshot' | 'since'> & { volume: Volume; limit: number },
  before: Digests,
  now: Digests,
): Promise<Comparison> {
  const counts = { added: 0, removed: 0, changed: 0, same: 0 };
  const changes: FileChange[] = [];
  const [old, fresh] = [filesOf(before, volume), filesOf(now, volume)];
  let [left, right] = await Promise.all([old.next(), fresh.next()]);
  while (!left.done || !right.done) {
    const order = left.done ? 1 : right.done ? -1 : comparePaths(left.value.path, right.value.path);
    const was = !left.done && order <= 0 ? left.value : null;
    const is = !right.done && order >= 0 ? right.value : null;
    const change = was === null ? 'added' : is === null ? 'removed' : was.sha256 === is.sha256 ? 'same' : 'changed';
    counts[change] += 1;
    if (change !== 'same' && changes.length < limit) {
      changes.push({ path: (was ?? is)?.path ?? '', change, before: stateOf(was), now: stateOf(is) });
    }
    [left, right] = await Promise.all([was === null ? left : old.next(), is === null ? right : fresh.next()]);
  }
  return { ...from, volume, ...counts, changes };
}

async function* filesOf(read: Digests, volume: Volume): AsyncGenerator<VfsDigest, undefined> {
  for (let after: string | null | undefined; after !== null; ) {
    const page: Extract<ReadAnswer, { op: 'digests' }> = await read({
      op: 'digests',
      volume,
      limit: PAGE_FILES,
      bytes: PAGE_BYTES,
      ...(after === undefined ? {} : { after }),
    });
    yield* page.files;
    after = page.next;
  }
  return undefined;
}

/** The order of SQLite's text keys: by UTF-8 bytes. */
function comparePaths(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function stateOf(file: VfsDigest | null): FileChange['now'] {
  return file === null ? null : { size: file.size, mtime: file.mtime, sha256: file.sha256 };
}
