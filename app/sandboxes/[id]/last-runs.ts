/** How long each component of a sandbox took last, from the ledger. */
import type { LastRun } from '#components/workbook/plan-drawing.ts';
import type { Caller } from '#lib/auth/caller.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import type { Event } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';

/** Older lines are not looked at. */
const LINES = 200;

/** The component and the mean time of a line, which may stand for several calls. */
function readLine({ reason, took_ms }: Event): { path: string; took_ms: number } | null {
  const [, path, calls = '1'] = /^(\S+?)(?:, (\d+) calls)?$/.exec(reason ?? '') ?? [];
  return path === undefined || took_ms === null ? null : { path, took_ms: took_ms / Number(calls) };
}

export async function lastRunsOf(caller: Caller, id: InstanceId): Promise<Record<string, LastRun>> {
  const { operations } = getHost();
  const [called, failed] = await Promise.all([
    operations.instanceEvents(caller, id, { type: 'component.called', limit: LINES }),
    operations.instanceEvents(caller, id, { type: 'component.failed', limit: LINES }),
  ]);
  const runs: Record<string, LastRun> = {};
  const oldestFirst = [...called.items, ...failed.items].sort((one, other) => one.seq - other.seq);
  for (const event of oldestFirst) {
    const line = readLine(event);
    if (line !== null) runs[line.path] = { took_ms: line.took_ms, ok: event.type === 'component.called' };
  }
  return runs;
}
