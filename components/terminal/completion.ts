/**
 * The name of a file that is being typed: which folder to ask for, and what its answer makes of the line. The folder is
 * read where it rests, which wakes nothing. Talks to the API only.
 */
import type { FolderItem } from '#lib/contract/schema.ts';

/** What is being typed, as a place to look in. */
export interface CompletionQuery {
  /** As it is typed, before the name: `src/`. */
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
/** What a shell would take apart or take for something else. */
const SPECIAL = /[\s'"\\`$&|;<>()*?[\]#!~]/g;

/** What stands before the cursor and may be a name; `cwd` is where names are looked for. */
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

/** What there is that begins so, folders with a slash. Empty when it cannot be told. */
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
    // Without an answer nothing is completed.
    return [];
  }
}

/** What the names have in common. */
function common(names: readonly string[]): string {
  const [first = '', ...others] = names;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

/** What to type on: the rest of the only name, or of what all have in common. */
export function continuation({ begin }: CompletionQuery, names: readonly string[]): string {
  const rest = common(names).slice(begin.length).replace(SPECIAL, '\\$&');
  return names.length === 1 && !names[0]?.endsWith('/') ? `${rest} ` : rest;
}
