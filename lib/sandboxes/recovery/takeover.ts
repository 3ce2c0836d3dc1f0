/**
 * A sandbox whose host is dead goes on here as its replica has it, where that has what was promised. Its row is taken
 * first and the replica looked at afterwards, so what the former host answered until then is in it; what it would
 * answer later it finds out not to be its own. Broken off, it is done again: the row says that it is under way.
 */
import { dirname, join } from 'node:path';
import { makeFolder, syncFile, unlinkFile } from '../../base/effects.ts';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import type { HostAsSeen } from '../../registry/hosts.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import { acquiredBy } from '../../registry/series-order.ts';
import type { InstanceRow, Intent } from '../../registry/types.ts';
import type { LocatedMoment } from '../../replication/moments/moment-source.ts';
import { parseReplicate, type ReplicateClass } from '../../replication/promise/replicate-class.ts';
import { lastingFolder, moveFile, stagingFor, stampOf } from '../../storage/files.ts';
import {
  absolutePath,
  type Engine,
  isOwn,
  isWholeInStore,
  livePath,
  MEMORY,
  now,
  requireInstance,
  requireOwnInstance,
} from '../engine.ts';
import { fileAt, moveToOrphans, removeLiveFolder } from '../files/file-locations.ts';
import { fileRecord } from '../files/file-verification.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext, LiveStatus } from '../sandboxes.ts';
import { tellReplica, tellReplicaAndWait } from '../shipping.ts';

/** Epoch milliseconds behind every moment. */
const LAST_MS = 8_640_000_000_000_000;

/**
 * The row of a sandbox that this host may wake: its own, or one that it has taken from a dead host just now. The caller
 * holds the verbs lock. Throws `conflict` for one of another host, `unreachable` when that one is dead and the replica
 * lacks what was promised, `storage_unavailable` when the replica is away.
 */
export async function requireReachable(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
): Promise<InstanceRow> {
  const row = await requireInstance(engine, runtime.id);
  if (isOwn(engine, row)) return row;
  const from = isWholeInStore(row) ? null : engine.fallen(row);
  if (from === null || !(await goesOn(engine, row))) return requireOwnInstance(engine, runtime.id);
  const taken = await take(engine, row, from, audit);
  return runtime.exclusive(() => finishTakeover(engine, taken, audit));
}

/** Whether the replica has what was promised of a row whose host is dead. */
async function goesOn(engine: Engine, row: InstanceRow): Promise<boolean> {
  if (row.seriesTerm === null || takenOverAs(engine, row) === null) return false;
  try {
    await newest(engine, row, row.seriesTerm);
    return true;
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'moment_gone' || error.code === 'corrupt')) return false;
    throw error;
  }
}

/**
 * What a wake or a call here goes on with when the host of a row is dead, as far as that is promised: `whole` is all
 * that was answered, `seconds` what the replica has. Null: it is refused. Asks no store.
 */
function takenOverAs(engine: Pick<Engine, 'replica'>, row: InstanceRow): 'whole' | 'seconds' | null {
  // What lives in one process, or as long as it, ended with its host.
  if (row.vfsPath === MEMORY || row.ephemeral || row.seriesTerm === null) return null;
  const promised = promisedOf(engine, row);
  if (promised === null) return null;
  return promised.kind === 'sync' ? 'whole' : 'seconds';
}

/** What is known of a row whose host does not answer; null: it does. */
export function hostAwayFacts(
  engine: Pick<Engine, 'replica' | 'unreachable'>,
  row: InstanceRow,
): LiveStatus['unreachable'] {
  const facts = engine.unreachable(row);
  return facts === null ? null : { ...facts, goesOn: takenOverAs(engine, row) };
}

/** What is promised of a sandbox that is shipped while it is awake; null: it is not. */
function promisedOf(
  { replica }: Pick<Engine, 'replica'>,
  row: InstanceRow,
): Extract<ReplicateClass, { kind: 'sync' | 'every' }> | null {
  const promised = replica === null ? null : parseReplicate(replica.describe(row).replicate);
  return promised?.kind === 'sync' || promised?.kind === 'every' ? promised : null;
}

/**
 * The newest moment of a sandbox, of its acquisition `term` or a later one. Throws `moment_gone` without any,
 * `corrupt` when something of it is missing, `storage_unavailable`.
 */
async function newest({ momentSource }: Engine, { id, tenant }: InstanceRow, term: number): Promise<LocatedMoment> {
  if (momentSource === null) throw new WinterdockError('moment_gone', 'There is no replica.');
  const located = await momentSource.find({ id, tenant }, LAST_MS);
  const { series, isShort } = located.found;
  if (series.term < term) throw new WinterdockError('moment_gone', `What "${id}" wrote last is not in the replica.`);
  if (isShort) throw notWhole(id);
  return located;
}

function notWhole(id: string): WinterdockError {
  return new WinterdockError('corrupt', `The replica of the sandbox "${id}" lacks something that it had.`);
}

/** Takes a row. Throws `conflict` when its host is back, or another one was quicker. */
async function take(engine: Engine, row: InstanceRow, from: HostAsSeen, audit: AuditContext): Promise<InstanceRow> {
  const { trigger, actor, via, reason, requestId } = audit;
  const intent: Intent = {
    verb: 'takeover',
    from: row.state,
    to: restingState(row),
    generation: row.generation,
    fromPath: null,
    toPath: livePath(row.id),
    startedMs: engine.clock.now(),
    ...{ trigger, actor, via, reason, requestId },
    former: from.name,
  };
  const by = { intent, order: acquiredBy(row, engine.host.term) };
  const taken = await engine.registry.instances.takeOver({ row, from, by, ledger: [] });
  if (taken !== null) return taken;
  throw new WinterdockError('conflict', `The host of "${row.id}" is back, or another host takes it over.`, {
    hint: 'Try again in a moment.',
  });
}

const restingState = ({ state }: InstanceRow) => (state === 'active' ? 'suspended' : state);

/**
 * Makes the file of a row that was taken, and commits it at rest. May be repeated. The caller has the file exclusively.
 * Throws `storage_unavailable` while the replica is away; then the row stays taken.
 */
export async function finishTakeover(engine: Engine, row: InstanceRow, audit: AuditContext): Promise<InstanceRow> {
  const { id, tenant } = row;
  const live = absolutePath(engine, livePath(id));
  const staging = stagingFor(engine.config.dataFolder, live);
  const staged = join(staging, `${id}.takeover.sqlite`);
  await makeFolder(staging);
  await unlinkFile(staged);
  try {
    const { found } = await newest(engine, row, 0);
    const moment = { atMs: LAST_MS, found, target: staged };
    const made = await engine.momentSource?.make({ id, tenant }, moment, engine.stop);
    if (made?.timeMs !== found.timeMs) throw notWhole(id);
    const { sha256 } = await engine.readers.check(staged, { urgent: true });
    await syncFile(staged);
    // What lies there is of an earlier time.
    if (stampOf(live) !== null) await moveToOrphans(engine, row, fileAt(engine, id, livePath(id)));
    await removeLiveFolder(engine, id);
    await lastingFolder(dirname(live));
    await (await moveFile(staged, live, staging)).makeDurable();
    return await commit(engine, row, { live, sha256, timeMs: found.timeMs }, audit);
  } finally {
    await unlinkFile(staged);
  }
}

async function commit(
  engine: Engine,
  row: InstanceRow,
  { live, sha256, timeMs }: { live: string; sha256: string; timeMs: number },
  audit: AuditContext,
): Promise<InstanceRow> {
  const stamp = stampOf(live);
  if (stamp === null) throw new WinterdockError('storage_unavailable', `The file of "${row.id}" is gone again.`);
  const to = restingState(row);
  const promised = promisedOf(engine, row);
  const isWhole = promised?.kind === 'sync';
  const former = `the host "${row.pending?.former ?? row.ownerHost}" does not answer`;
  const upTo = `it goes on as it was at ${new Date(timeMs).toISOString()}`;
  const reason = isWhole
    ? `${former}; ${upTo}, with all that was answered`
    : `${former}; ${upTo}: later writes are lost`;
  const after = await engine.registry.instances.commit({
    id: row.id,
    from: row.state,
    to,
    generation: row.generation,
    vfsPath: livePath(row.id),
    file: fileRecord(stamp, { sha256, quickCheck: 'ok' }),
    bytes: stamp.size,
    now: now(engine),
    ledger: [
      ...(to === row.state
        ? []
        : [ledgerEntry(engine, row, { ...audit, reason: former }, 'transition', { from: row.state, to })]),
      ledgerEntry(engine, row, audit, 'instance.taken_over', { reason }),
    ],
  });
  tellReplica(engine, row.id, (replica) => replica.replaced(row.id));
  engine.tookOver(isWhole ? 'sync' : 'seconds');
  return after;
}

/** Whether another host has taken a sandbox from this one: what lies here of it is what it was before. */
export async function wasTakenFromHere(engine: Engine, row: InstanceRow): Promise<boolean> {
  const { rows } = await engine.registry.ledger.page({ instance: row.id, type: 'instance.taken_over' }, 1);
  return rows.some(({ reason }) => reason?.startsWith(`the host "${engine.host.name}" does not answer`));
}

/**
 * Ends the processes of sandboxes that other hosts have taken over, those of `ids` or of all that are awake here, and
 * sets aside what they leave. Resolves once nothing of them acts any more. Rejects when the registry does not answer.
 */
export async function endTaken(engine: Engine, ids?: readonly InstanceRow['id'][]): Promise<void> {
  const awake = engine.runtimes.values().filter(({ id, process }) => process !== null && (ids?.includes(id) ?? true));
  if (awake.length === 0) return;
  const held = new Set(await engine.registry.instances.stillHeld(awake.map(({ id }) => id)));
  const taken = awake.filter(({ id }) => !held.has(id));
  await Promise.all(taken.map(({ id }) => engine.runtimes.use(id, (runtime) => endOne(engine, runtime))));
}

async function endOne(engine: Engine, runtime: SandboxRuntime): Promise<void> {
  const { id, process } = runtime;
  // Nobody settles it: the row is not this host's.
  runtime.process = null;
  await process?.kill('killed');
  engine.log.warn({ id }, 'a sandbox was taken over by another host');
  await tellReplicaAndWait(engine, id, (replica) => replica.taken(id));
  void runtime
    .exclusive(async () => {
      const file = fileAt(engine, id, livePath(id));
      const row = await engine.registry.instances.get(id);
      if (row === null || isOwn(engine, row) || (await file.stat()) === null) return;
      await moveToOrphans(engine, row, file);
      await removeLiveFolder(engine, id);
    })
    .catch((error: unknown) => engine.log.warn({ id, err: error }, 'what another host has is not aside yet'));
}
