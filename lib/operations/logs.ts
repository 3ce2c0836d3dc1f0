/** Operations on logs: what calls in sandboxes printed, read and followed. lib/logs keeps them. */
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import { needsReason, type OperationName } from '../contract/access.ts';
import type { LogsQuery, PrintedLine } from '../contract/schema.ts';
import type { LogFollower } from '../logs/log-followers.ts';
import { type LogLine, matcherOf } from '../logs/log-line.ts';
import type { SandboxLogs } from '../logs/sandbox-logs.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import { auditContextOf } from './audit-context.ts';
import type { ListPage } from './list-page.ts';
import { unknownId } from './unknown-id.ts';

/** Lines of a log as they are printed. */
export interface LogFeed {
  /** The lines since the last time that fit the query, and how many were left out because they were not taken. */
  take(): { lines: PrintedLine[]; dropped: number };
  /** Resolves when there may be something to take, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
  /** Takes its place from it. Idempotent. */
  leave(): void;
}

export interface LogPage extends ListPage<PrintedLine> {
  /** Lines that could not be kept since the start of the server. */
  dropped: number;
  /** What comes after the page, where the query asks for it; else null. It has to leave. */
  feed: LogFeed | null;
}

export interface LogOperations {
  /**
   * A page of the lines of a sandbox, the newest first. `after`: only those that are newer. Throws `conflict` when
   * nothing is kept, `rate_limited` when too many follow.
   */
  instanceLogs(caller: Caller, id: InstanceId, query: LogsQuery, after?: number | null): Promise<LogPage>;
  /** The same of all sandboxes of a tenant together. */
  tenantLogs(caller: Caller, tenant: string, query: LogsQuery, after?: number | null): Promise<LogPage>;
}

export function logOperations(parts: { logs: SandboxLogs; registry: Registry; clock: Clock }): LogOperations {
  const { logs, registry } = parts;

  const note = async (
    caller: Caller,
    operation: OperationName,
    about: { id: InstanceId; tenant: string } | null,
    tenant: string,
    reason: string | undefined,
  ): Promise<void> => {
    if (!needsReason(caller, operation)) return;
    const entry = ledgerEntry(parts, about, auditContextOf(caller, reason), 'logs.read', { tenant });
    await registry.ledger.append([entry]);
  };

  const page = async (
    aim: { tenant: string; instance: InstanceId | null; ids: () => Promise<InstanceId[]> },
    { since, until, level, source, q, request_id: requestId, limit, cursor, follow }: LogsQuery,
    after: number | null,
  ): Promise<LogPage> => {
    if (!logs.isOn)
      throw new WinterdockError('conflict', 'This server keeps no logs.', { hint: 'WB_LOGS=on keeps them.' });
    const filter = {
      sinceMs: since === undefined ? undefined : since * 1000,
      untilMs: until === undefined ? undefined : endOf(until),
      level,
      source,
      requestId,
      text: q,
    };
    // First the place, then the lines so far: none is lost between them.
    const follower = follow === '1' ? logs.followers.join(aim) : null;
    try {
      if (follower === null) await logs.flushed();
      const ids = await aim.ids();
      const read = await logs.read(ids, { ...filter, limit, before: cursor, after: after ?? undefined });
      const next = read.next === null ? null : String(read.next);
      const feed = follower === null ? null : feedOf(follower, matcherOf(filter), read.lines[0]?.seq ?? after ?? -1);
      return { items: read.lines.map(printedLineOf), next, dropped: logs.droppedOf(ids), feed };
    } catch (error) {
      follower?.leave();
      throw error;
    }
  };

  return {
    async instanceLogs(caller, id, query, after = null) {
      const { tenant } = await requireInstance({ registry }, id);
      await note(caller, 'instanceLogs', { id, tenant }, tenant, query.reason);
      return page({ tenant, instance: id, ids: async () => [id] }, query, after);
    },
    async tenantLogs(caller, tenant, query, after = null) {
      if (caller.tenants?.includes(tenant) !== true && (await registry.quotas.tenant(tenant)) === null)
        throw unknownId('tenant', tenant);
      await note(caller, 'tenantLogs', null, tenant, query.reason);
      return page({ tenant, instance: null, ids: () => logs.idsOf(tenant) }, query, after);
    },
  };
}

/** A whole second is meant whole: that is how times are shown. */
function endOf(seconds: number): number {
  return Number.isInteger(seconds) ? seconds * 1000 + 999 : Math.round(seconds * 1000);
}

function feedOf(follower: LogFollower, fits: (line: LogLine) => boolean, seen: number): LogFeed {
  return {
    take() {
      const { lines, dropped } = follower.take();
      return { lines: lines.filter((line) => line.seq > seen && fits(line)).map(printedLineOf), dropped };
    },
    changed: (signal) => follower.changed(signal),
    leave: () => follower.leave(),
  };
}

function printedLineOf({ seq, timeMs, instance, source, stream, level, text, requestId }: LogLine): PrintedLine {
  return { seq, time_ms: timeMs, instance, source, stream, level, text, request_id: requestId };
}
