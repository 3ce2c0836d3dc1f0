/** Findings about a data folder: each disagreement, what it is about and what can be done. Pure. */
import type { KeptFile } from '../storage/inventory.ts';

/**
 * `wrong`: something is lost, or would be; `note`: the next start or wake deals with it, or it is kept for a person.
 */
type Weight = 'wrong' | 'note';

/** Which option of the doctor does it: `--fix`, `--adopt`, `--accept`. Null: a person, or the next start. */
type Way = 'fix' | 'adopt' | 'accept' | null;

export interface Finding {
  /** What kind of disagreement, as one word for programs. */
  kind: string;
  weight: Weight;
  way: Way;
  /** Id of the sandbox, or name of the copy. */
  about: string | null;
  /** Relative to the data folder. */
  path: string | null;
  /** One sentence without its full stop. */
  says: string;
}

/** A file that was set aside: `<epoch milliseconds>-<id>-<name of the file>` in `orphans/`. */
export interface Orphan {
  path: string;
  id: string;
  setAsideMs: number;
  /** The drawer that a file of such a name is of. */
  drawer: 'live' | 'cold' | 'archive';
}

export interface ExaminationResult {
  findings: Finding[];
  /** Counts: rows examined, files in the drawers, files hashed. */
  looked: { rows: number; files: number; hashed: number };
  /** Files that can be adopted: their key is of no row, or of a row without a file. */
  adoptable: (KeptFile | Orphan)[];
}

const NAMES = [
  { drawer: 'live', end: (_id: string) => '-vfs.sqlite' },
  { drawer: 'archive', end: (id: string) => `-${id}.sqlite.zst` },
  { drawer: 'cold', end: (id: string) => `-${id}.sqlite` },
] as const;

/** What a name in `orphans/` says, or null when it is not one of a sandbox's file. */
export function orphanOf(name: string): Orphan | null {
  const [, ms, rest] = /^(\d+)-(.+)$/.exec(name) ?? [];
  if (rest === undefined) return null;
  for (const { drawer, end } of NAMES) {
    // The id stands twice, or once before `vfs.sqlite`.
    const bare = end('').length;
    const length = drawer === 'live' ? rest.length - bare : (rest.length - bare) / 2;
    const id = rest.slice(0, length);
    if (id !== '' && id + end(id) === rest) return { path: `orphans/${name}`, id, setAsideMs: Number(ms), drawer };
  }
  return null;
}

/** Whether nothing is wrong. */
export function isWell(findings: readonly Finding[]): boolean {
  return findings.every(({ weight }) => weight === 'note');
}

/** The other places of a file, for the end of a sentence. */
export function alsoIn(others: readonly { path: string }[]): string {
  return others.length === 0 ? '' : ` (also ${others.map(({ path }) => path).join(', ')})`;
}
