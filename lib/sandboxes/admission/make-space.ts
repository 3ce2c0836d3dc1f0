/**
 * Making room: where places or memory leave none for one more process, the idle sandboxes that were used longest ago
 * are suspended (trigger `pressure`). The ladder says which may be.
 */
import { messageOf } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { nextMove } from '../../lifecycle/ladder.ts';
import { isBlocking } from '../../lifecycle/words.ts';
import { type Engine, MEMORY, now, systemAudit } from '../engine.ts';
import { suspend } from '../moves/suspend.ts';
import type { SandboxRuntime } from '../runtimes.ts';

const MIB = 1024 * 1024;
/** Every idle time has passed: what the ladder still refuses may not be moved. */
const AT_ONCE = { idleToSuspendSeconds: 0, idleToFreezeSeconds: 0 };

type Shortage = 'places' | 'memory';

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
  const suspendOne = () => suspendLeastRecentlyUsed(engine, 'memory', tried);
  while (over() && !engine.stop.aborted && (await engine.roomMutex.runExclusive(suspendOne))) {
    // One suspension may have been enough.
  }
}

/**
 * Suspends the idle sandbox that was used longest ago, except those that were `tried` in vain and those that may not be
 * suspended, which it adds to them. False when there is none.
 */
export async function suspendLeastRecentlyUsed(
  engine: Engine,
  shortage: Shortage,
  tried: Set<InstanceId>,
): Promise<boolean> {
  const idle = engine.runtimes
    .values()
    .filter((runtime) => runtime.isIdle && !tried.has(runtime.id))
    .sort((one, other) => one.lastUse - other.lastUse);
  for (const runtime of idle) {
    const done = await engine.runtimes.use(runtime.id, async (current) =>
      current === runtime && current.isIdle
        ? current.verbs.runExclusive(() => suspendIfAllowed(engine, current, shortage))
        : null,
    );
    if (done) return true;
    // Null: it was used meanwhile, and may be idle again soon.
    if (done === false) tried.add(runtime.id);
  }
  return false;
}

async function suspendIfAllowed(engine: Engine, runtime: SandboxRuntime, shortage: Shortage): Promise<boolean> {
  try {
    const row = await engine.registry.instances.get(runtime.id);
    if (row === null || row.vfsPath === MEMORY) return false;
    const next = nextMove(
      { ...row, blocked: isBlocking(row.fault), attached: runtime.attached + runtime.calls },
      AT_ONCE,
    );
    if (next?.state !== 'suspended' || next.at > now(engine)) return false;
    const reason = `used longest ago, and ${limitInWords(engine, shortage)}`;
    await suspend(engine, runtime, { ...systemAudit('pressure'), reason }, false);
    return true;
  } catch (error) {
    engine.log.warn({ id: runtime.id, error: messageOf(error) }, 'not suspended to make room');
    return false;
  }
}

function limitInWords({ config, pool }: Engine, shortage: Shortage): string {
  if (shortage === 'places') return `no more than ${config.maxActive} sandboxes run at a time (WB_MAX_ACTIVE)`;
  const mib = Math.round((pool.memory.limitBytes ?? 0) / MIB);
  return `all sandboxes together have ${mib} MiB of memory (WB_MEMORY)`;
}
