/**
 * Reads of sandboxes as they were: a moment of the replica is opened as a file at rest, in place of nothing, and read
 * by the readers, behind their walls; so is the copy of a named moment, where the replica has nothing as new, or where
 * there is none. Wakes nothing, and takes no lease: no sandbox has that file.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../base/config.ts';
import { isWinterdockError, storageFailure, WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { NamedMomentRow } from '../registry/copies.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { ListedMoment } from '../replication/moments/moment-list.ts';
import type { MomentSource } from '../replication/moments/moment-source.ts';
import { beforeAllMoments } from '../replication/moments/oldest-moment.ts';
import { OpenedMoments } from '../replication/moments/opened-moments.ts';
import { notShippedInTime } from '../replication/promise/not-replicated.ts';
import { stagingFor } from '../storage/files.ts';
import { awayOf } from '../storage/object-store/store-errors.ts';
import type { Readers } from '../vfs/types.ts';
import { type Engine, requireInstance } from './engine.ts';
import type { KnownMoment, Past, PastSandbox } from './sandboxes.ts';
import { tellReplica } from './shipping.ts';

/** How long a request waits until its sandbox is shipped, and how often that is looked at, in milliseconds. */
const MOST_SHIP_MS = 15_000;
const LOOK_MS = 100;

export interface PastParts {
  source: MomentSource;
  opened: OpenedMoments;
}

type PastEngine = Pick<Engine, 'registry' | 'readers' | 'replica' | 'log' | 'clock' | 'drawers'>;

/** Moments are opened beside the archived files that are expanded: every start empties that folder. */
export function momentsFor(
  { dataFolder, store }: Pick<Config, 'dataFolder' | 'store'>,
  source: MomentSource,
): PastParts {
  const folder = join(dataFolder, 'expanded');
  const staging = stagingFor(dataFolder, join(folder, 'moment'));
  return { source, opened: new OpenedMoments({ source, folder, staging, mostBytes: store.momentBytes }) };
}

/** `parts`: null without a replica. */
export function createPast(engine: PastEngine, parts: PastParts | null): Past {
  return {
    async open(id, atMs, look) {
      const row = await requireInstance(engine, id);
      const allNamed = await engine.registry.copies.namedMoments(id);
      const named = allNamed.find(({ momentMs }) => momentMs <= atMs) ?? null;
      const ofNamed = (moment: NamedMomentRow) => look(pastOf(engine, moment));
      if (named !== null && (parts === null || named.momentMs === atMs)) return ofNamed(named).catch(rethrow);
      if (parts === null) throw beforeAllMoments(id, atMs, allNamed, null);
      // Asked before the store is: what is committed afterwards is later than now.
      const point = tellReplica(engine, id, (replica) => replica.describe(row));
      const has = point?.atMs ?? null;
      const isStored = has !== null && (has > atMs || (point?.behindMs === 0 && atMs < engine.clock.now()));
      let isFound = false;
      return parts.opened
        .use(row, { atMs, isFinal: isStored }, ({ path, timeMs }) => {
          isFound = true;
          if (named !== null && named.momentMs > timeMs) return ofNamed(named);
          return look(pastIn(engine.readers, path, timeMs, row.tenant));
        })
        .catch((error: unknown) => {
          if (isFound) throw error;
          if (!isGone(error)) throw awayWith(named === null ? [] : [knownOf(named)], error);
          if (named === null) throw beforeAllMoments(id, atMs, allNamed, error);
          return ofNamed(named);
        })
        .catch(rethrow);
    },
    async list(id, around) {
      const row = await engine.registry.instances.get(id);
      if (row === null) throw new WinterdockError('not_found', `There is no sandbox "${id}".`);
      const allNamed = await engine.registry.copies.namedMoments(id);
      const named = allNamed.map(knownOf);
      const { aroundMs } = around;
      const isBefore = ({ timeMs }: { timeMs: number }) => aroundMs === null || timeMs <= aroundMs;
      if (around.isNamed) return nextTo(named, isBefore, around.limit);
      if (parts === null && !named.some(isBefore)) throw beforeAllMoments(id, aroundMs, allNamed, null);
      if (parts === null) return nextTo(named, isBefore, around.limit);
      const listed = await parts.source.list(row, around).catch((error: unknown): ListedMoment[] => {
        if (!isGone(error)) return rethrow(awayWith(nextTo(named, isBefore, around.limit), error));
        if (!named.some(isBefore)) throw beforeAllMoments(id, aroundMs, allNamed, error);
        return [];
      });
      const times = new Set(named.map(({ timeMs }) => timeMs));
      const others = listed.filter(({ timeMs }) => !times.has(timeMs)).map((moment) => ({ ...moment, name: null }));
      return nextTo([...named, ...others], isBefore, around.limit);
    },
    shipped: (id) => whenShipped(engine, id),
  };
}

function knownOf({ momentMs: timeMs, tag: name }: NamedMomentRow): KnownMoment {
  return { timeMs, kind: 'named', name, grainS: 1 };
}

/**
 * The error for who asks for what the replica has while its store is away, with what is known here. No time to try
 * again: clients would wait for it a few times before they say what they know. Any other error is as it was.
 */
function awayWith(named: readonly KnownMoment[], error: unknown): unknown {
  if (!isWinterdockError(error) || awayOf(error) === null) return error;
  const known = named.map(({ timeMs, kind, name, grainS }) => ({ time_ms: timeMs, kind, name, grain_s: grainS }));
  const [newest] = named;
  const hint =
    newest === undefined
      ? 'What the replica has is known to its store alone, and no moment up to then has a name. /readyz says when it is back.'
      : `Moments with a name are on this machine and can be opened by it: “${newest.name}”. /readyz says when the store is back.`;
  return new WinterdockError(error.code, error.message, { hint, extra: { ...error.extra, known }, cause: error });
}

/** The file of a moment (absolute). */
function pastIn(readers: Readers, path: string, timeMs: number, tenant: string): PastSandbox {
  return {
    timeMs,
    read: (request) => readers.read({ path, mode: 'rest' }, request, tenant),
    copy: (target, options) => readers.copy({ path, mode: 'rest' }, target, options),
  };
}

/** The copy of a named moment, opened in its drawer for each read. */
function pastOf({ drawers, readers }: PastEngine, { momentMs, hash, tenant }: NamedMomentRow): PastSandbox {
  const inDrawer = <T>(look: (past: PastSandbox) => Promise<T>) =>
    drawers.snapshot.at(hash).read((path) => look(pastIn(readers, path, momentMs, tenant)));
  return {
    timeMs: momentMs,
    read: (request) => inDrawer((past) => past.read(request)),
    copy: (target, options) => inDrawer((past) => past.copy(target, options)),
  };
}

/** So many of them: half of those before a time where there are as many after it, the newest first. */
function nextTo(moments: KnownMoment[], isBefore: (moment: KnownMoment) => boolean, limit: number): KnownMoment[] {
  const sorted = moments.sort((one, other) => other.timeMs - one.timeMs);
  const before = sorted.filter(isBefore);
  const after = sorted.slice(0, sorted.length - before.length);
  const ofAfter = Math.min(after.length, Math.max(Math.floor(limit / 2), limit - before.length));
  return [...after.slice(after.length - ofAfter), ...before].slice(0, limit);
}

async function whenShipped(engine: PastEngine, id: InstanceId): Promise<number> {
  const until = performance.now() + MOST_SHIP_MS;
  let isFlushing = false;
  for (;;) {
    const row = await requireInstance(engine, id);
    const point = tellReplica(engine, id, (replica) => replica.describe(row));
    if (point !== null && point.atMs !== null && point.behindMs === 0) return point.atMs;
    const isNever = point === null || point.replicate === 'off' || isWaitingForRest(row, point.replicate);
    if (isNever || performance.now() > until) throw notShippedInTime(id, isNever);
    if (!isFlushing) {
      isFlushing = true;
      const flushed = tellReplica(engine, id, (replica) => replica.flush(id)) ?? Promise.resolve();
      // What fails is said by the look at the end of the time.
      void flushed
        .catch(() => undefined)
        .finally(() => {
          isFlushing = false;
        });
    }
    await pause(LOOK_MS);
  }
}

/** What is shipped only once it rests. */
function isWaitingForRest({ state }: InstanceRow, replicate: string): boolean {
  return state === 'active' && replicate === 'filed';
}

function isGone(error: unknown): error is WinterdockError {
  return isWinterdockError(error) && error.code === 'moment_gone';
}

function rethrow(error: unknown): never {
  throw storageFailure(error) ?? error;
}
