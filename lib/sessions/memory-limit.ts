/**
 * The memory limit of all processes together: where it leaves no room for one more, the idle sandboxes that were used
 * longest ago are suspended first. The ladder says which may be.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Claim } from '../instance/instance.ts';
import { nextMove } from '../lifecycle/ladder.ts';
import { isBlocking } from '../lifecycle/words.ts';
import { type Engine, MEMORY, now, systemAudit } from './engine.ts';
import type { SandboxRuntime } from './runtimes.ts';
import { suspend } from './suspend.ts';

const MIB = 1024 * 1024;
/** How long a wake waits for some sandbox to become idle, in milliseconds, before it is refused. */
const WAIT_MS = 1000;
const LOOK_EVERY_MS = 20;
/** Every idle time has passed: what the ladder still refuses may not be moved. */
const AT_ONCE = { idleToSuspendSeconds: 0, idleToFreezeSeconds: 0 };

/**
 * Claims memory for one process at once; null when others have to be suspended first. Throws `capacity` when no more
 * processes are allowed.
 */
export function claimProcess({ pool, memoryMutex }: Engine): Claim | null {
  // Memory that is being freed belongs to the wake that frees it.
  return pool.shortage !== 'places' && (memoryMutex.isLocked() || pool.shortage === 'memory') ? null : pool.claim();
}

/**
 * Claims memory for one process after suspending idle sandboxes (trigger `memory`), those used longest ago first; waits
 * a moment when all are busy. Throws `capacity`.
 */
export function claimProcessBySuspending(engine: Engine): Promise<Claim> {
  const until = performance.now() + WAIT_MS;
  const { pool, memoryMutex } = engine;
  return memoryMutex.runExclusive(async () => {
    const tried = new Set<InstanceId>();
    while (pool.shortage === 'memory' && !engine.stop.aborted) {
      if (await suspendOne(engine, tried)) continue;
      if (performance.now() > until) break;
      await pause(LOOK_EVERY_MS);
    }
    return pool.claim();
  });
}

/**
 * Suspends idle sandboxes while all processes together exceed the limit: what a call takes is known only when it has
 * it.
 */
export async function enforceMemoryLimit(engine: Engine): Promise<void> {
  const tried = new Set<InstanceId>();
  const over = () => {
    // When there may be nothing left, asking for memory measures all processes anew, so freed memory counts.
    if (engine.pool.shortage === null) return false;
    const { limitBytes, servingBytes } = engine.pool.memory;
    return limitBytes !== null && servingBytes > limitBytes;
  };
  while (over() && !engine.stop.aborted && (await engine.memoryMutex.runExclusive(() => suspendOne(engine, tried)))) {
    // One suspension may have been enough.
  }
}

/**
 * Suspends the idle sandbox that was used longest ago, except those that were `tried` in vain. False when there is
 * none.
 */
async function suspendOne(engine: Engine, tried: Set<InstanceId>): Promise<boolean> {
  const idle = engine.runtimes
    .values()
    .filter((runtime) => runtime.isIdle && !tried.has(runtime.id))
    .sort((one, other) => one.lastUse - other.lastUse);
  for (const runtime of idle) {
    const suspended = await engine.runtimes.use(runtime.id, async (current) =>
      current === runtime && current.isIdle
        ? current.verbs.runExclusive(() => suspendIfAllowed(engine, current))
        : false,
    );
    if (suspended) return true;
    tried.add(runtime.id);
  }
  return false;
}

async function suspendIfAllowed(engine: Engine, runtime: SandboxRuntime): Promise<boolean> {
  try {
    const row = await engine.registry.instances.get(runtime.id);
    if (row === null || row.vfsPath === MEMORY) return false;
    const next = nextMove(
      { ...row, blocked: isBlocking(row.fault), attached: runtime.attached + runtime.calls },
      AT_ONCE,
    );
    if (next?.state !== 'suspended' || next.at > now(engine)) return false;
    const limit = Math.round((engine.pool.memory.limitBytes ?? 0) / MIB);
    const reason = `used longest ago, and all sandboxes together have ${limit} MiB of memory (WB_MEMORY)`;
    await suspend(engine, runtime, { ...systemAudit('memory'), reason }, false);
    return true;
  } catch (error) {
    engine.log.warn({ id: runtime.id, error: messageOf(error) }, 'not suspended to make room');
    return false;
  }
}
