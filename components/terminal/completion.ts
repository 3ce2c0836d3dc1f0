/**
 * Completion of file names: which folder to list, and how to complete the line. The folder is read at rest, which wakes
 * nothing. Talks to the API only.
 */
import type { FolderItem } from '#lib/contract/schema.ts';

/** The name being typed, and the folder to look in. */
export interface CompletionQuery {
  /** What stands before the name, as typed: `src/`. */
  typed: string;
  /** The beginning of the name. */
  begin: string;
  /** Null for the root, where the volumes are. */
  volume: string | null;
  /** Absolute in the volume. */
  folder: string;
}

const VOLUMES = ['workspace', 'memory', 'tmp'];
const MOST = 500;
/** Characters that are special to a shell. */
const SPECIAL = /[\s'"\\`$&|;<>()*?[\]#!~]/g;

/** The name before the cursor. `cwd`: where relative names are looked up. */
export function completionQuery(before: string, cwd: string): CompletionQuery {
  const word = /(?:\\.|[^\s'"`;|&<>()\\=])*$/.exec(before)?.[0] ?? '';
  const path = word.replace(/\\(.)/g, '$1');
  const slash = path.lastIndexOf('/');
  const absolute = path.startsWith('/') ? path.slice(0, slash + 1) : `${cwd}/${path.slice(0, slash + 1)}`;
  const parts: string[] = [];
  for (const part of absolute.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  const [volume, ...rest] = parts;
  return {
    typed: word.slice(0, word.lastIndexOf('/') + 1),
    begin: path.slice(slash + 1),
    volume: volume ?? null,
    folder: `/${rest.join('/')}`,
  };
}

/** Names that begin so, folders with a slash. Empty when the folder cannot be read. */
export async function completionNames(id: string, { volume, folder, begin }: CompletionQuery): Promise<string[]> {
  if (volume === null) return VOLUMES.filter((name) => name.startsWith(begin)).map((name) => `${name}/`);
  if (!VOLUMES.includes(volume)) return [];
  const query = new URLSearchParams({ path: folder, limit: String(MOST) });
  try {
    const answer = await fetch(`/api/instances/${encodeURIComponent(id)}/folders/${volume}?${query}`);
    if (!answer.ok) return [];
    const items = (await answer.json()) as FolderItem[];
    return items
      .filter(({ name }) => name.startsWith(begin) && (begin !== '' || !name.startsWith('.')))
      .map(({ name, kind }) => (kind === 'dir' ? `${name}/` : name));
  } catch {
    // Without an answer there is no completion.
    return [];
  }
}

/** The longest common beginning of the names. */
function common(names: readonly string[]): string {
  const [first = '', ...others] = names;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

/** The text to insert: the rest of the only name, or of the common beginning. */
export function continuation({ begin }: CompletionQuery, names: readonly string[]): string {
  const rest = common(names).slice(begin.length).replace(SPECIAL, '\\$&');
  return names.length === 1 && !names[0]?.endsWith('/') ? `${rest} ` : rest;
}
