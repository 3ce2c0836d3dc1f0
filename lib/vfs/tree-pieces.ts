/**
 * What is at a path, with all that is below it, as pieces that can be put elsewhere: bounded, in an order in which each
 * piece comes after the directory that it is in. Knows nothing of where they go.
 */
import { WinterdockError } from '../base/errors.ts';
import { parseVfsPath, type VfsPath } from './paths.ts';
import type { VfsAddress, VfsPiece } from './types.ts';
import type { Vfs } from './vfs.ts';

/** Entries that are taken at once: a message has so many values. */
const MOST_ENTRIES = 5000;

/** Pieces, and the contents of the files among them, one after the other. */
interface Pieces {
  pieces: readonly VfsPiece[];
  content: Uint8Array;
}

/** The pieces at a path, whose contents take `bytes` at most; nulls: nothing is there. Throws `too_large`. */
export function piecesAt(
  vfs: Vfs,
  { volume, path, bytes: most }: VfsAddress & { bytes: number },
): { pieces: VfsPiece[]; content: Uint8Array } | { pieces: null; content: null } {
  const pieces: VfsPiece[] = [];
  const contents: Uint8Array[] = [];
  let bytes = 0;
  const add = (at: VfsPath): void => {
    const entry = vfs.entry(at, volume);
    if (entry === null) return;
    const { kind, size, mode, mtime, target } = entry;
    if (pieces.length >= MOST_ENTRIES) throw tooLarge({ volume, path }, `${MOST_ENTRIES} entries`);
    pieces.push({ path: at, kind, size, mode, mtime, target });
    if (kind === 'file') {
      bytes += size;
      if (bytes > most) throw tooLarge({ volume, path }, `${most} bytes`);
      contents.push(vfs.get(at, volume) ?? new Uint8Array());
    }
    if (kind === 'dir') for (const child of vfs.readdir(at, volume)) add(parseVfsPath(child.path));
  };
  add(path);
  return pieces.length === 0 ? { pieces: null, content: null } : { pieces, content: Buffer.concat(contents) };
}

/**
 * Puts pieces in the place of what is at a path and below it, in one transaction. Throws `conflict` where something
 * that is no directory is above it, `quota_exceeded`, `too_large`; then nothing has changed.
 */
export function putPieces(vfs: Vfs, { volume, path }: VfsAddress, { pieces, content }: Pieces): void {
  const overlay = vfs.overlay();
  let from = 0;
  try {
    overlay.delete(path, volume, { recursive: true });
    for (const { path: of, kind, size, mode, target } of pieces) {
      const at = parseVfsPath(of);
      if (kind === 'link') overlay.link(at, target ?? '', volume);
      else if (kind === 'file') {
        overlay.put(at, content.subarray(from, from + size), volume, { mode });
        from += size;
      } else if (at !== '/') overlay.mkdir(at, volume, { recursive: true, mode });
    }
    // Last, as what is put into a directory changes its time; the inner ones first.
    for (const { path: of, mtime } of pieces.toReversed()) {
      if (of !== '/') overlay.utimes(parseVfsPath(of), mtime, volume);
    }
    overlay.commit();
  } catch (error) {
    overlay.discard();
    throw error;
  }
}

function tooLarge({ volume, path }: VfsAddress, most: string): WinterdockError {
  return new WinterdockError('too_large', `What was at ${JSON.stringify(path)} in ${volume} is more than ${most}.`, {
    hint: 'Take back parts of it, or make a new sandbox from the moment.',
  });
}
