/**
 * One operation under one fault: one of its effects fails, the server is killed beside one, or the power is cut after
 * one. Returns what is wrong afterwards, in sentences. Effects are counted by the seam; only those of the operation
 * itself count.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import Database from 'better-sqlite3';
import { type Effect, observeEffects } from '../../base/effects.ts';
import { isWinterdockError, messageOf, storageFailure } from '../../base/errors.ts';
import { lastingFindings } from './findings.ts';
import { PowerCut } from './power.ts';
import { doctorFindings, type MayBe, restorableFindings, settled, shippedFindings } from './replica-findings.ts';
import { mayHave, nowMayHave } from './replica-scenarios.ts';
import type { Scenario } from './scenarios.ts';
import { KEPT, openHost, REPLICA_FOLDER, type Stage, textIn } from './stage.ts';

export const FAILURES = ['ENOSPC', 'EIO', 'EROFS', 'EXDEV'] as const;
export type Failure = (typeof FAILURES)[number];

/** SQLite's errors for the same system errors. */
const OF_SQLITE: Readonly<Record<Failure, string>> = {
  ENOSPC: 'SQLITE_FULL',
  EIO: 'SQLITE_IOERR_WRITE',
  EROFS: 'SQLITE_READONLY',
  EXDEV: 'SQLITE_BUSY',
};
/** Effects that can cross filesystems. */
const CROSSES: ReadonlySet<Effect['kind']> = new Set(['rename', 'link']);
/** In the background the ledger's signed head follows commits, and logs follow calls; both have tests of their own. */
const ASIDE = /registry\.sqlite\.head|\/cache\/|\/logs(?:\/|$)/;

/** What a replica does it does behind the answers: of these every effect counts, whoever caused it. */
const SHIPPING = new RegExp(`^/(?:replica|${REPLICA_FOLDER})/`);

const own = new AsyncLocalStorage<symbol>();

/**
 * Runs `act` and reports its own effects to `observer`, numbered from 1; `others` gets every effect that has happened.
 */
async function observing<T>(
  folder: string,
  act: () => Promise<T>,
  observer: { before?: (effect: Effect, nth: number) => void; after?: (effect: Effect, nth: number) => void },
  others: (effect: Effect) => void = () => {},
): Promise<T> {
  const token = Symbol('operation');
  let begun = 0;
  const counts = ({ path }: Effect) =>
    path.startsWith(folder) &&
    !ASIDE.test(path) &&
    (own.getStore() === token || SHIPPING.test(path.slice(folder.length)));
  observeEffects({
    before(effect) {
      if (!counts(effect)) return;
      begun += 1;
      observer.before?.(effect, begun);
    },
    after(effect) {
      others(effect);
      if (counts(effect)) observer.after?.(effect, begun);
    },
  });
  try {
    return await own.run(token, act);
  } finally {
    observeEffects(null);
  }
}

/** A name for an effect that is the same for every sandbox. */
function wordOf(stage: Stage, { kind, path, to }: Effect): string {
  const short = (at: string) =>
    (relative(stage.folder, at) || '.')
      .replace(/\b(s\d+|sb-[a-z0-9]+|[0-9a-f]{64}|[0-9a-f-]{36})\b/g, '*')
      .replace(/\b[a-z0-9]{20,}\b/g, '*')
      .replace(/\d{10,}/g, '*');
  return [kind, short(path), ...(to === undefined ? [] : [short(to)])].join(' ');
}

/** A stage that is only a folder: its operation starts engines by itself. */
function folderAlone(stage: Stage, folder: string): Stage {
  return { ...stage, folder };
}

/** The effects of an operation without a fault. */
export async function effectsOf(stage: Stage, scenario: Scenario): Promise<Effect[]> {
  const { id, there } = await begun(stage, scenario);
  const effects: Effect[] = [];
  await observing(there.folder, () => scenario.act(there, id), { before: (effect) => void effects.push(effect) });
  return effects;
}

/** Whether an effect can fail so: only what crosses filesystems is refused with EXDEV. */
export function canFail(effect: Effect | undefined, failure: Failure): boolean {
  return failure !== 'EXDEV' || (effect !== undefined && CROSSES.has(effect.kind));
}

/** Makes the nth effect fail, then repeats the operation. */
export async function failing(stage: Stage, scenario: Scenario, nth: number, failure: Failure): Promise<string[]> {
  const { id, there } = await begun(stage, scenario);
  let what = '';
  let isLogKept = false;
  const outcome = await observing(there.folder, () => answerOf(() => scenario.act(there, id)), {
    before(effect, number) {
      if (number !== nth || !canFail(effect, failure)) return;
      what = wordOf(there, effect);
      isLogKept = effect.kind === 'remove' && effect.path.includes('/log-');
      throw refusalOf(effect, failure);
    },
  });
  if (what === '') {
    if (!outcome.ok) throw outcome.error;
    return [];
  }
  const named = (sentence: string) => `${scenario.name}: ${failure} at effect ${nth} (${what}): ${sentence}`;
  if (scenario.folder !== undefined) {
    const wrong = await afterStart(there, scenario, id);
    rmSync(there.folder, { recursive: true, force: true });
    return wrong.map(named);
  }
  const found = outcome.ok ? [] : answersIn(outcome.error);
  // While the store is known to be away nothing is answered that it lacks.
  if (hasReplica(stage)) await settled(stage.host).catch((error: unknown) => found.push(messageOf(error)));
  found.push(...(await lookAt(stage, scenario, id, outcome.ok)));
  const isDone = scenario.again === false && (await stateOf(stage, id)) === scenario.ends.at(-1);
  if (found.length === 0 && !outcome.ok && !isDone) {
    const again = await answerOf(() => scenario.act(stage, id));
    if (!again.ok) found.push(`done again it fails: ${messageOf(again.error)}`);
    found.push(...(await lookAt(stage, scenario, id, true)));
  }
  if (hasReplica(stage)) {
    found.push(...(await shippedFindings(stage.host, id, isLogKept)));
    found.push(...(await restorableFindings(stage.folder, id, mayBe(stage, scenario, id))));
  }
  return found.map(named);
}

export interface Cut {
  folder: string;
  kind: 'killed before' | 'killed after' | 'power cut after';
  nth: number;
  what: string;
  /** What a restore may have of the sandbox's file, by what had been answered. */
  texts: readonly (string | null)[];
}

/**
 * Runs the operation once and copies the folder, before and after each effect, as a SIGKILL at that instant would leave
 * it, and after each effect as a power cut would leave it. A copy that equals the last one kept is counted as `same`.
 * `wanted`: which copies are kept.
 */
export async function cutsOf(
  stage: Stage,
  scenario: Scenario,
  into: string,
  wanted: (kind: Cut['kind'], nth: number) => boolean,
): Promise<{ id: string; cuts: Cut[]; same: number }> {
  const { id, there } = await begun(stage, scenario);
  const power = new PowerCut(there.folder);
  const cuts: Cut[] = [];
  let last = '';
  let version = -1;
  let same = 0;
  const take = (kind: Cut['kind'], effect: Effect, nth: number) => {
    if (!wanted(kind, nth)) return;
    if (kind === 'power cut after' ? power.version === version : fingerprint(there.folder) === last) {
      same += 1;
      return;
    }
    if (kind === 'power cut after') version = power.version;
    else last = fingerprint(there.folder);
    const folder = join(into, `${cuts.length}`);
    if (kind === 'power cut after') power.build(folder);
    else execFileSync('cp', ['-a', there.folder, folder]);
    cuts.push({ folder, kind, nth, what: wordOf(there, effect), texts: mayHave(there, id) });
  };
  await observing(
    there.folder,
    () => scenario.act(there, id),
    {
      before: (effect, nth) => take('killed before', effect, nth),
      after(effect, nth) {
        take('killed after', effect, nth);
        take('power cut after', effect, nth);
      },
    },
    (effect) => power.after(effect),
  );
  power.end();
  return { id, cuts, same };
}

/** Starts an engine on the copy, examines it, and repeats the operation. */
export async function afterCut(stage: Stage, scenario: Scenario, id: string, cut: Cut): Promise<string[]> {
  nowMayHave(stage, id, cut.texts);
  const found = await afterStart(folderAlone(stage, cut.folder), scenario, id);
  return found.map((sentence) => `${scenario.name}: ${cut.kind} effect ${cut.nth} (${cut.what}): ${sentence}`);
}

async function afterStart(stage: Stage, scenario: Scenario, id: string): Promise<string[]> {
  const found: string[] = [];
  try {
    if (hasReplica(stage)) found.push(...(await restorableFindings(stage.folder, id, mayBe(stage, scenario, id))));
    await scenario.mend?.(stage);
    const host = await openHost(stage.folder, stage.clock, stage.among, stage.stores);
    const there: Stage = { ...stage, host };
    try {
      found.push(...(await lookAt(there, scenario, id, false)));
      const state = await stateOf(there, id);
      const goesOn = state !== scenario.ends.at(-1) && scenario.again !== false && scenario.folder === undefined;
      if (found.length === 0 && goesOn) {
        const again = await answerOf(() => scenario.act(there, id));
        if (!again.ok) found.push(`done again it fails: ${messageOf(again.error)}`);
        else found.push(...(await lookAt(there, scenario, id, true)));
      }
      if (hasReplica(stage)) {
        found.push(...(await shippedFindings(host, id, false)));
        found.push(...(await restorableFindings(stage.folder, id, mayBe(stage, scenario, id))));
      }
    } finally {
      await host.stop();
    }
    if (hasReplica(stage)) found.push(...(await doctorFindings(stage)));
  } catch (error) {
    found.push(`the start failed: ${messageOf(error)}`);
  }
  return found;
}

/** Folders that scenarios began with, by stage and scenario: made once, and copied for each run. */
const made = new WeakMap<Stage, Map<string, BegunWith>>();

interface BegunWith {
  id: string;
  folder: string;
  /** What a restore may have of its file. */
  texts: readonly (string | null)[];
}

/** The start of an operation: a sandbox of the stage, or a folder of its own. */
async function begun(stage: Stage, scenario: Scenario): Promise<{ id: string; there: Stage }> {
  if (scenario.folder === undefined) return { id: await scenario.prepare(stage), there: stage };
  const ofStage = made.get(stage) ?? new Map<string, BegunWith>();
  made.set(stage, ofStage);
  let first = ofStage.get(scenario.name);
  if (first === undefined) {
    const id = await scenario.prepare(stage);
    first = { id, folder: await scenario.folder(stage, id), texts: mayHave(stage, id) };
    ofStage.set(scenario.name, first);
  }
  // What an earlier run was answered is not true of the copy.
  nowMayHave(stage, first.id, first.texts);
  const folder = await stage.emptied();
  execFileSync('cp', ['-a', `${first.folder}/.`, folder]);
  return { id: first.id, there: folderAlone(stage, folder) };
}

/** What is wrong with a sandbox and with the rest; `done`: the operation was answered with success. */
async function lookAt({ host, among }: Stage, scenario: Scenario, id: string, done: boolean): Promise<string[]> {
  const found = await lastingFindings(host, { keptAside: scenario.keepsAside ?? false, amongOthers: among !== null });
  const row = await host.registry.instances.get(id);
  const state = row?.state ?? null;
  const right = done ? scenario.ends.slice(-1) : scenario.ends;
  if (!right.includes(state)) found.push(`it is ${state}, not ${right.join(' or ')}`);
  if (scenario.check !== undefined) found.push(...(await scenario.check(host, id)));
  const hasFile = row !== null && state !== 'deleted' && row.vfsPath !== null;
  if (!hasFile || scenario.name.includes('new sandbox')) return found;
  const volumes = scenario.name === 'import' ? (['workspace'] as const) : (['workspace', 'memory'] as const);
  for (const volume of volumes) {
    try {
      const text = await textIn(host, id, volume).catch(async (error: unknown) => {
        if (!isWinterdockError(error) || error.code !== 'not_replicated') throw error;
        // Nothing that the replica lacks yet is read; it comes.
        await settled(host);
        return textIn(host, id, volume);
      });
      if (text !== KEPT[volume]) found.push(`its ${volume} has ${JSON.stringify(text)}`);
    } catch (error) {
      found.push(`its ${volume} cannot be read: ${messageOf(error)}`);
    }
  }
  return found;
}

const stateOf = async ({ host }: Stage, id: string) => (await host.registry.instances.get(id))?.state ?? null;

const hasReplica = ({ stores }: Stage) => stores.includes('replica');

function mayBe(stage: Stage, { ends }: Scenario, id: string): MayBe {
  return { texts: mayHave(stage, id), states: ends };
}

type Outcome = { ok: true } | { ok: false; error: unknown };

async function answerOf(act: () => Promise<unknown>): Promise<Outcome> {
  try {
    await act();
    return { ok: true };
  } catch (error) {
    return { ok: false, error };
  }
}

/** What is wrong with an answer: a failing store must be a known error with a known code. */
function answersIn(thrown: unknown): string[] {
  const error = storageFailure(thrown) ?? thrown;
  if (isWinterdockError(error) && error.code !== 'internal') return [];
  return [`the answer was ${isWinterdockError(error) ? error.code : 'no error of ours'}: ${messageOf(error)}`];
}

function refusalOf({ kind }: Effect, failure: Failure): Error {
  if (kind === 'commit' || kind === 'commit_soon') {
    return new Database.SqliteError('injected by a test', OF_SQLITE[failure]);
  }
  return Object.assign(new Error(`${failure}: injected by a test, ${kind}`), { code: failure, syscall: kind });
}

/** A fingerprint of a folder's state, made without reading file contents. */
function fingerprint(folder: string): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined || ASIDE.test(path) || path.endsWith('-shm')) continue;
    hash.update(`${path} ${stat.ino} ${stat.size} ${entry.isFile() ? stat.mtimeNs : 0n}\n`);
  }
  return hash.digest('hex');
}
