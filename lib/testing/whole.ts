/**
 * For tests: checks that everything acknowledged exists, and nothing else. The expected state is a book of sandboxes;
 * the actual one is read over HTTP and from the data folder. Knows nothing of the history.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { State } from '../lifecycle/state-map.ts';
import type { Call } from './call.ts';

/** Stands for a file that is not there. */
export const ABSENT = 'absent';

/** Allowed contents of a file, as digests or ABSENT: one after an answered write, several after a lost answer. */
export type Allowed = ReadonlySet<string>;

/** What should be of a sandbox. Files are keyed `volume/path`; what is not in the map must not be there. */
export interface Kept {
  states: ReadonlySet<State>;
  files: Map<string, Allowed>;
}

export interface Found {
  /** Sentences; empty when all is as it should be. */
  findings: string[];
  /** Things that were compared: states, files, places. */
  comparisons: number;
  /** What is, of each sandbox that could be looked at. */
  seen: Map<string, { state: State; files: Map<string, string> }>;
}

/** Names bytes by what they are. */
export function digestOf(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

/** One thing that a file may hold. */
export function only(bytes: string | Uint8Array): Allowed {
  return new Set([digestOf(bytes)]);
}

const VOLUMES = ['workspace', 'memory', 'tmp'] as const;

interface Shown {
  id: string;
  state: State;
  fault: string | null;
  fault_reason: string | null;
  pending: string | null;
  vfs_path: string | null;
}

/** The files of a sandbox as `volume/path` → digest, read over HTTP. `tmp` is left out: it goes with every wake. */
async function filesOf(call: Call, id: string, findings: string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const volume of VOLUMES.slice(0, 2)) {
    const at = `/api/instances/${id}/volumes/${volume}`;
    const list = await call<{ path: string }[]>('GET', `${at}?limit=500`);
    if (list.status !== 200) {
      findings.push(`${id}: its ${volume} cannot be listed: ${list.status} ${list.text.slice(0, 300)}`);
      continue;
    }
    for (const { path } of list.json) {
      const got = await call('GET', `${at}${path}`);
      if (got.status === 200) found.set(`${volume}${path}`, digestOf(got.bytes));
      else findings.push(`${id}: ${volume}${path} is listed and answers ${got.status} ${got.text.slice(0, 300)}`);
    }
  }
  return found;
}

/** Every file in the drawers that sandboxes are in, in `orphans/` and in `staging/`, relative to the data folder. */
function inDrawers(folder: string): string[] {
  return ['live', 'cold', 'archive', 'orphans', 'staging']
    .map((drawer) => join(folder, drawer))
    .filter((drawer) => existsSync(drawer))
    .flatMap((drawer) => readdirSync(drawer, { withFileTypes: true, recursive: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** The files that a sandbox has to itself, as its row shows it. */
function placesOf({ state, vfs_path: path }: Shown): string[] {
  if (path === null || state === 'created' || state === 'deleted') {
    // What was never resumed is read from the file of what it was made from; an import has its own already.
    return path !== null && state === 'created' && path.startsWith('live/') ? [path] : [];
  }
  return [path];
}

/**
 * Compares all sandboxes of the book with what the server tells and what lies in `folder`, which must be at rest: no
 * request under way, no process that nobody asked for. `faults` are those that may be there.
 */
export async function lookWhole(
  { call, folder }: { call: Call; folder: string },
  book: ReadonlyMap<string, Kept>,
  faults: readonly string[] = [],
): Promise<Found> {
  const findings: string[] = [];
  const seen: Found['seen'] = new Map();
  let comparisons = 0;
  const listed = await call<Shown[]>('GET', '/api/instances?limit=500');
  for (const { id } of listed.json) {
    if (!book.has(id)) findings.push(`${id}: is listed and nobody made it`);
  }
  const places: string[] = [];
  const beside: string[] = [];
  for (const [id, kept] of book) {
    const got = await call<Shown>('GET', `/api/instances/${id}`);
    comparisons += 1;
    const state: State | null = got.status === 410 ? 'deleted' : got.status === 200 ? got.json.state : null;
    if (state === null) {
      findings.push(`${id}: answers ${got.status} ${got.text.slice(0, 300)}`);
      continue;
    }
    if (!kept.states.has(state)) findings.push(`${id}: is ${state}, not ${[...kept.states].join(' or ')}`);
    // The list is in the order of the clock, which may have been set back: what was written last has the highest
    // number.
    const lines = await call<{ seq: number; to: State }[]>(
      'GET',
      `/api/instances/${id}/events?type=transition&limit=500`,
    );
    const told = lines.status === 200 ? lines.json.sort((one, other) => other.seq - one.seq)[0]?.to : undefined;
    if (told !== undefined && told !== state) findings.push(`${id}: the row says ${state}, its ledger ${told}`);
    if (state === 'deleted') {
      seen.set(id, { state, files: new Map() });
      continue;
    }
    const shown = got.json;
    if (shown.fault !== null && !faults.includes(shown.fault))
      findings.push(`${id}: has the fault ${shown.fault}: ${shown.fault_reason}`);
    if (shown.pending !== null) findings.push(`${id}: ${shown.pending} is under way`);
    places.push(...placesOf(shown));
    // What was brought home early from the archive is still there too: it was expanded, not moved. Reads do without a
    // listing.
    if (state === 'archived') beside.push(`archive/${id}.json`, `archive/${id}.sqlite.zst`);
    const there = await filesOf(call, id, findings);
    seen.set(id, { state, files: there });
    for (const [name, allowed] of kept.files) {
      comparisons += 1;
      const digest = there.get(name) ?? ABSENT;
      if (!allowed.has(digest)) findings.push(`${id}: ${name} is ${digest}, not ${[...allowed].join(' or ')}`);
    }
    for (const name of there.keys()) if (!kept.files.has(name)) findings.push(`${id}: ${name} was never written`);
  }
  const lie = inDrawers(folder).filter((path) => !/\.sqlite-(wal|shm|shipped)$/.test(path));
  comparisons += lie.length;
  for (const path of lie)
    if (!places.includes(path) && !beside.includes(path)) findings.push(`${path}: lies there and no row names it`);
  for (const path of places) if (!lie.includes(path)) findings.push(`${path}: a row names it and it is not there`);
  const proof = await call<{ ok: boolean }>('GET', '/api/events/verify');
  if (!proof.json.ok) findings.push(`the ledger does not verify: ${proof.status} ${proof.text.slice(0, 300)}`);
  return { findings, comparisons, seen };
}
