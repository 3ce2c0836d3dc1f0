/**
 * The signed head beside the registry: the ledger's end, stored outside the database that it proves. Written as a whole
 * or not at all. The registry's driver says where it is. Knows nothing of the chain.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { renameFile, syncFile, syncFolder, unlinkFile, writeFile } from '../base/effects.ts';
import { publicMessage, WinterdockError } from '../base/errors.ts';
import { type LedgerHead, ledgerHeadSchema } from './documents.ts';

/** The head in the file, or null when there is no file. Throws when the file holds something else. */
export function readHead(path: string): LedgerHead | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  return parseHead(text);
}

/** The refusal of a head that is there and that the disk does not give: whatever it proves is not known. */
export function unreadableHead(path: string, error: unknown): WinterdockError {
  return new WinterdockError(
    'storage_unavailable',
    `The signed head ${path} cannot be read (${publicMessage(error)}), so nothing says whether the registry beside it is the newest one. Make it a file that this user can read. Or move it away: npm run doctor then says what disagrees, and a start signs a new head.`,
  );
}

/** Parses a head. Throws when the text is not one. */
export function parseHead(text: string): LedgerHead {
  try {
    return ledgerHeadSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new Error('There is no signed head of a ledger in it.', { cause: error });
  }
}

/** Replaces the file. On disk once it resolves. */
export function writeHead(path: string, head: LedgerHead): Promise<void> {
  return writeWhole(path, `${JSON.stringify(head)}\n`);
}

/**
 * Keeps a copy of the head file beside it, whatever its content, and leaves the file itself. Returns the copy's name,
 * which contains the number and the beginning of the hash of its line. Null when there is no file. On disk once it
 * resolves; may be repeated.
 */
export async function keepHead(path: string): Promise<string | null> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  const kept = `${path}.${nameOf(text)}`;
  await writeWhole(kept, text);
  return basename(kept);
}

function nameOf(text: string): string {
  try {
    const { seq, hash } = parseHead(text);
    return `${seq}-${hash.slice(0, 8)}`;
  } catch {
    // A file that is not a head is kept too, under the beginning of its own hash.
    return `unreadable-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  // One writer at a time: the draft of a killed writer is overwritten.
  const draft = `${path}.draft`;
  try {
    await writeFile(draft, text);
    await syncFile(draft);
    await renameFile(draft, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await unlinkFile(draft);
    throw error;
  }
}
