/**
 * Hot to warm: pauses the processes of sandboxes that nobody uses. The next request continues them. Knows nothing of
 * how a process is paused.
 */
import { messageOf, WinterdockError } from '../../base/errors.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import { effectiveThresholds } from '../../registry/thresholds.ts';
import type { InstanceRow, LedgerEntry } from '../../registry/types.ts';
import type { PauseReport } from '../../workers/protocol/instance.ts';
import { type Engine, now, requireOwnInstance, systemAudit } from '../engine.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';

const MIB = 1024 * 1024;
/** Processes that give memory back at the same time. */
const CONCURRENCY = 4;
/** The longest that one round pauses processes, in milliseconds; the next round goes on. */
const ROUND_MS = 2000;

/** Idle seconds after which a sandbox goes warm, by its own settings or those of its tenant; null: never. */
async function hotToWarmOf(engine: Engine, row: InstanceRow): Promise<number | null> {
  if (row.keepHot) return null;
  const { hotToWarmSeconds } = effectiveThresholds(row, await engine.registry.thresholds.ofTenant(row.tenant));
  return hotToWarmSeconds === 0 ? null : hotToWarmSeconds;
}

/**
 * Forgets what is known of the settings of sandboxes whenever the ledger says that they may have changed, and when
 * another process may have changed those of all.
 */
export function forgetChangedThresholds({ registry, runtimes }: Pick<Engine, 'registry' | 'runtimes'>): () => void {
  const forget = (changed: readonly (SandboxRuntime | undefined)[]) => {
    for (const runtime of changed) runtime?.forgetSettings();
  };
  const leaves = [
    registry.commitEvents.onStale(() => forget(runtimes.values())),
    registry.commitEvents.onLedgerAppend(({ lines }) => {
      for (const { instance } of lines) forget(instance === null ? runtimes.values() : [runtimes.peek(instance)]);
    }),
  ];
  return () => {
    for (const leave of leaves) leave();
  };
}

/**
 * Pauses the processes that have idled long enough, those used longest ago first. While a wake is under way the
 * processors are its own.
 */
export async function pauseIdleProcesses(engine: Engine): Promise<void> {
  const started = performance.now();
  const due: SandboxRuntime[] = [];
  for (const runtime of engine.runtimes.values()) if (await isDue(engine, runtime)) due.push(runtime);
  due.sort((one, other) => one.lastUse - other.lastUse);
  const mayGoOn = () => performance.now() - started < ROUND_MS && engine.pool.claimed === 0 && !engine.stop.aborted;
  while (due.length > 0 && mayGoOn()) {
    const few = await Promise.all(due.splice(0, CONCURRENCY).map((runtime) => pauseOne(engine, runtime)));
    const lines = few.filter((line) => line !== null);
    if (lines.length > 0) await engine.registry.ledger.append(lines);
  }
}

/**
 * Wants the process of an active sandbox paused, and pauses it when nothing runs in it; else a later round does. Throws
 * `conflict` for a sandbox that is not active.
 */
export async function pauseNow(engine: Engine, runtime: SandboxRuntime, audit: AuditContext): Promise<InstanceRow> {
  const row = await requireOwnInstance(engine, runtime.id);
  if (row.state !== 'active') {
    throw new WinterdockError('conflict', `Only an active sandbox is paused: "${row.id}" is ${row.state}.`);
  }
  runtime.isPauseWanted = true;
  if (!runtime.isIdle || runtime.process?.thermal !== 'hot') return row;
  const line = await pauseOne(engine, runtime, audit);
  if (line !== null) await engine.registry.ledger.append([line]);
  return row;
}

async function isDue(engine: Engine, runtime: SandboxRuntime): Promise<boolean> {
  const isCandidate = () => runtime.isIdle && runtime.process?.thermal === 'hot';
  if (!isCandidate()) return false;
  if (runtime.isPauseWanted) return true;
  let known = engine.registry.commitEvents.mayCache ? runtime.hotToWarm : null;
  if (known === null) {
    const { timesForgotten } = runtime;
    const row = await engine.registry.instances.get(runtime.id);
    if (row?.state !== 'active') return false;
    known = { seconds: await hotToWarmOf(engine, row) };
    // What changed meanwhile may be missing.
    if (timesForgotten === runtime.timesForgotten) runtime.hotToWarm = known;
  }
  const { seconds } = known;
  // When the clock was set back, it is idle from now on.
  runtime.usedAt = Math.min(runtime.usedAt, now(engine));
  return seconds !== null && now(engine) - runtime.usedAt >= seconds && isCandidate();
}

/** Pauses one process. Returns its line for the ledger; null when it was needed meanwhile, or holds something. */
async function pauseOne(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext = systemAudit('idle', 'ticker'),
): Promise<LedgerEntry | null> {
  try {
    const started = performance.now();
    const idleSeconds = now(engine) - runtime.usedAt;
    const report = await runtime.process?.pause();
    if (!report) return null;
    runtime.pausedAt = now(engine);
    const row = await engine.registry.instances.get(runtime.id);
    if (row === null) return null;
    const tookMs = Math.round(performance.now() - started);
    const why = runtime.isPauseWanted ? 'paused on request' : `idle for ${idleSeconds} s`;
    return ledgerEntry(engine, row, audit, 'thermal.warm', { reason: `${why}; ${keptMemoryInWords(report)}`, tookMs });
  } catch (error) {
    engine.log.warn({ id: runtime.id, error: messageOf(error) }, 'not paused');
    return null;
  }
}

/** What a pause did to the memory of a process: a paused one may have grown while it was measured. */
export function keptMemoryInWords({
  beforeBytes,
  afterBytes,
}: Pick<PauseReport, 'beforeBytes' | 'afterBytes'>): string {
  const [before, after] = [beforeBytes, afterBytes].map((bytes) => (bytes / MIB).toFixed(1));
  if (afterBytes >= beforeBytes) return `its process has ${after} MiB of its own and gave none back`;
  return `its process had ${before} MiB of its own and kept ${after} MiB`;
}
