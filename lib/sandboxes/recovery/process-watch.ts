/** The watch over processes: records a silent one, and settles the sandbox of one that ended without being asked. */
import { messageOf } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { LedgerEntry } from '../../registry/types.ts';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { type Engine, MEMORY, now, systemAudit } from '../engine.ts';
import { locationOf } from '../files/file-locations.ts';
import type { AuditContext } from '../sandboxes.ts';
import { settleDeadProcess } from './process-death.ts';

/** Adds a line to the ledger of an active sandbox. */
async function record(
  engine: Engine,
  id: InstanceId,
  type: string,
  audit: AuditContext,
  extra: Partial<LedgerEntry>,
): Promise<void> {
  try {
    const row = await engine.registry.instances.get(id);
    if (row?.state === 'active') await engine.registry.ledger.append([ledgerEntry(engine, row, audit, type, extra)]);
  } catch (error) {
    engine.log.error({ id, type, error: messageOf(error) }, 'a line of the ledger');
  }
}

/** Watches the process of a sandbox: when it ends without being asked, its sandbox is suspended. */
export function watchProcess(engine: Engine, id: InstanceId, process: InstanceProcess): void {
  process.watch({
    onSilent: ({ paused, checks }) => {
      const runtime = engine.runtimes.peek(id);
      if (paused && runtime?.process === process) runtime.pausedAt = now(engine);
      engine.log.warn({ id, paused }, 'a process answers nothing while no call runs');
      const reason = `its process left ${checks} checks in a row unanswered while no call ran`;
      void record(engine, id, paused ? 'thermal.force_pause' : 'process.silent', systemAudit('crash'), { reason });
    },
    onMemberEnded: (death) => {
      engine.log.warn({ id, ...death }, 'a process ended by itself, beside others of its sandbox');
      if (death.cause !== 'memory') return;
      void record(engine, id, 'exec.out_of_memory', systemAudit('crash'), { error: death.detail });
    },
    onThawed: (tookMs) => void record(engine, id, 'thermal.wake', systemAudit('request'), { tookMs }),
  });
  void process.ended.then((death) => {
    const runtime = engine.runtimes.peek(id);
    if (runtime === undefined || runtime.process !== process) return;
    const settling = runtime.verbs
      .runExclusive(async () => {
        // A filing that closed the process has taken it from the runtime by now.
        if (runtime.process !== process) return;
        engine.log.warn({ id, ...death }, 'a process ended by itself');
        runtime.process = null;
        const row = await engine.registry.instances.get(id);
        if (row === null || row.state !== 'active') return;
        const timeout = death.cause === 'timeout';
        // The server ended it: that says nothing against the sandbox.
        const ended = death.cause === 'killed';
        if (row.vfsPath !== MEMORY && locationOf(engine, row) === 'live' && death.cause === 'memory') {
          await engine.registry.ledger.append([
            ledgerEntry(engine, row, systemAudit('crash'), 'exec.out_of_memory', { error: death.detail }),
          ]);
        }
        await settleDeadProcess(engine, runtime, row, {
          trigger: timeout ? 'timeout' : ended ? 'stop' : 'crash',
          // A stuck process, or one that the disk failed, is replaced from the file: nothing is known to be wrong with
          // the sandbox.
          fault: timeout || ended || death.cause === 'silent' || death.cause === 'disk' ? null : 'error',
          detail: death.detail,
        });
      })
      .catch((error) => engine.log.error({ id, error: messageOf(error) }, 'settling a dead process'))
      .finally(() => {
        if (runtime.settling === settling) runtime.settling = null;
        engine.runtimes.drop(runtime);
      });
    runtime.settling = settling;
  });
}
