/**
 * The result of one restore or clone: the sandboxes it made, and how many have started. It is read from the ledger by
 * the request's id, so it is the same in every tab and after a restart. The page refreshes with each ledger line, which
 * keeps it live.
 */
import Link from 'next/link';
import { LiveStarted } from '#components/live/started.tsx';
import { StateMark } from '#components/sandbox/state-mark.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import type { Event, Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';

const PAGE = 500;
/** How far back the ledger is read: enough for most batches and what was created since. */
const PAGES = 6;
const SHOWN = 12;
const STARTS = ['start.done', 'start.progress'] as const;

async function idsMadeBy(caller: Caller, requestId: string): Promise<InstanceId[]> {
  const ids: InstanceId[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const { items, next } = await getHost().operations.events(caller, {
      type: 'instance.created',
      limit: PAGE,
      cursor,
    });
    const mine = items.filter((event) => event.request_id === requestId);
    ids.push(...mine.flatMap(({ instance }) => (instance === null ? [] : [instance])));
    // The lines of one request lie together: a line of another request behind them ends them.
    const ended = ids.length > 0 && items.at(-1)?.request_id !== requestId;
    if (ended || next === null) break;
    cursor = next;
  }
  return ids.reverse();
}

async function lastStartLine(caller: Caller, requestId: string): Promise<Event | null> {
  for (const type of STARTS) {
    const { items } = await getHost().operations.events(caller, { type, limit: 50 });
    const foundEvent = items.find((event) => event.request_id === requestId);
    if (foundEvent !== undefined) return foundEvent;
  }
  return null;
}

async function rowOf(caller: Caller, id: InstanceId): Promise<Instance | null> {
  try {
    return await getHost().operations.getInstance(caller, id);
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'gone' || error.code === 'not_found')) return null;
    throw error;
  }
}

/** `requestId`: of the call that made the sandboxes. `starting`: they were to start at once. */
export async function BatchResult({
  caller,
  requestId,
  starting,
}: {
  caller: Caller;
  requestId: string;
  starting: boolean;
}) {
  const [ids, lastStart] = await Promise.all([
    idsMadeBy(caller, requestId),
    starting ? lastStartLine(caller, requestId) : null,
  ]);
  if (ids.length === 0) {
    return <p className="text-ink-2">The ledger’s last lines no longer show it. The lineage below does.</p>;
  }
  const rows = await Promise.all((starting ? ids : ids.slice(0, SHOWN)).map((id) => rowOf(caller, id)));
  const shown = rows.slice(0, SHOWN).filter((row) => row !== null);
  const started = rows.filter((row) => row !== null && row.state !== 'created').length;
  return (
    <>
      {starting ? (
        <LiveStarted
          requestId={requestId}
          started={started}
          total={ids.length}
          ended={lastStart !== null && lastStart.type !== 'start.progress'}
          problem={lastStart?.reason ?? null}
        />
      ) : (
        <p className="mb-4">
          {ids.length === 1
            ? 'One sandbox was made. It starts at its first request; until then it takes no room of its own.'
            : `${ids.length.toLocaleString('en')} sandboxes were made. Each starts at its first request; until then it takes no room of its own.`}
        </p>
      )}
      <ul className="grid gap-x-8 sm:grid-cols-2 xl:grid-cols-3">
        {shown.map((row) => (
          <li key={row.id} className="flex items-baseline gap-2 border-b border-rule py-1.5">
            <StateMark state={row.state} fault={row.fault} size={14} className="flex-none translate-y-0.5" />
            <Link href={`/sandboxes/${row.id}`} prefetch={false} className="min-w-0 [overflow-wrap:anywhere]">
              {row.name ?? <code className="text-[0.8125rem]">{row.id}</code>}
            </Link>
            <span className="ml-auto text-small text-ink-3">{row.state}</span>
          </li>
        ))}
      </ul>
      {ids.length > SHOWN && (
        <p className="mt-3 text-small text-ink-2">
          And {(ids.length - SHOWN).toLocaleString('en')} more.{' '}
          <Link href="/sandboxes?sort=created" prefetch={false}>
            The newest sandboxes
          </Link>
        </p>
      )}
    </>
  );
}
