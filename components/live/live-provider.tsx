'use client';
/**
 * Keeps a page live. Events are put into its cache, which client components show at once; the server renders the rest
 * of the page again when a line makes it stale.
 */
import { usePathname, useSearchParams } from 'next/navigation';
import { createContext, type ReactNode, use, useCallback, useEffect, useRef, useState } from 'react';
import type { Event, Job } from '#lib/contract/schema.ts';
import { useZone } from '../ui/zone.tsx';
import { secondOfDay } from '../ui/zones.ts';
import { addLines, applyChanges, instanceKey, jobKey, linesKey } from './cache.ts';
import { emitLedgerLine } from './ledger-listener.ts';
import { LiveCache } from './live-cache.ts';
import { CacheContext, ShownContext } from './live-data.tsx';
import { jobUrgency, runUrgency, urgencyOf } from './refresh-urgency.ts';
import { suspectServer } from './server-reach.ts';
import { openSharedStream } from './shared-stream.ts';
import type { StreamListener, StreamStatus } from './stream.ts';
import { useRefresh } from './use-refresh.ts';

/** New lines are shown at most this often: nobody reads faster. */
const LINES_EVERY_MS = 500;
const CONNECTING: StreamStatus = { is: 'connecting' };
const StatusContext = createContext<StreamStatus>(CONNECTING);

function same(a: StreamStatus, b: StreamStatus): boolean {
  return a.is === b.is && (a.is !== 'behind' || b.is !== 'behind' || a.since === b.since);
}

/**
 * Batches items: calls `act` at once, then at most every `everyMs`. Returns functions that add items and that stop it.
 */
function gathering<T>(everyMs: number, act: (items: T[]) => void): { add(items: readonly T[]): void; stop(): void } {
  let gathered: T[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = gathered.length === 0 ? undefined : setTimeout(flush, everyMs);
    if (gathered.length > 0) act(gathered.splice(0));
  };
  return {
    add(items) {
      gathered = [...gathered, ...items];
      if (timer === undefined) flush();
    },
    stop: () => clearTimeout(timer),
  };
}

/** `after`: the ledger's last line when the page was rendered. */
export function LiveProvider({ after, children }: { after: number; children: ReactNode }) {
  const [cache] = useState(() => new LiveCache());
  const [status, setStatus] = useState<StreamStatus>(CONNECTING);
  const [lines] = useState(() => gathering<Event>(LINES_EVERY_MS, (events) => addLines(cache, events)));
  const render = useRefresh(status.is === 'out');
  const pathname = usePathname();
  const search = useSearchParams();
  const listener = useRef<StreamListener>(undefined);
  const page = { pathname, search, shows: (id: string) => cache.isShown(instanceKey(id)) };
  listener.current = {
    onEvents(events) {
      lines.add(events);
      for (const event of events) emitLedgerLine(event);
      render(events.map((event) => urgencyOf(event, page)));
    },
    onChanges(changes) {
      const jobs = changes.jobs.map((job) => jobUrgency(job, cache.get<Job>(jobKey(job.id)), page));
      applyChanges(cache, changes, Date.now());
      const urgencies = [...jobs, runUrgency(changes.runs, page)];
      render(changes.more ? [...urgencies, 'later'] : urgencies);
    },
    onStatus(next) {
      if (next.is === 'behind') suspectServer();
      setStatus((old) => (same(old, next) ? old : next));
    },
    onGap: () => render(['now']),
  };

  // A page that was kept, as for Back, is older than what has happened since.
  const missed = useRef<(asOf: number) => void>(undefined);
  missed.current = (asOf) => {
    const since = (cache.get<Event[]>(linesKey) ?? []).filter(({ seq }) => seq > asOf);
    if (since.length > 0) render(since.map((event) => urgencyOf(event, page)));
  };
  const shown = useCallback((asOf: number) => missed.current?.(asOf), []);

  useEffect(() => () => lines.stop(), [lines]);
  const start = useRef(after);
  useEffect(
    () =>
      openSharedStream(start.current, {
        onEvents: (events) => listener.current?.onEvents(events),
        onChanges: (changes) => listener.current?.onChanges(changes),
        onStatus: (next) => listener.current?.onStatus(next),
        onGap: () => listener.current?.onGap(),
      }),
    [],
  );

  return (
    <StatusContext value={status}>
      <CacheContext value={cache}>
        <ShownContext value={shown}>{children}</ShownContext>
      </CacheContext>
    </StatusContext>
  );
}

function Sign({ well }: { well: boolean }) {
  return (
    <svg width="9" height="9" viewBox="0 0 9 9" aria-hidden="true" focusable="false" className="flex-none">
      {well ? (
        <circle cx="4.5" cy="4.5" r="3.8" fill="var(--active)" stroke="currentColor" strokeWidth="1" />
      ) : (
        <circle cx="4.5" cy="4.5" r="3.6" fill="none" stroke="var(--fault)" strokeWidth="1.6" />
      )}
    </svg>
  );
}

/**
 * Whether the page is up to date. Without JavaScript: when it was read, with a link that reads it again. `rendered`:
 * `14:02:11 UTC`.
 */
export function ConnectionStatus({ rendered }: { rendered: string }) {
  const status = use(StatusContext);
  const zone = useZone();
  const [ready, setReady] = useState(false);
  const pathname = usePathname();
  useEffect(() => setReady(true), []);
  if (!ready || status.is === 'connecting') {
    return (
      <a
        href={pathname}
        className="text-small whitespace-nowrap text-ink-3 no-underline hover:underline"
        title={`Read at ${rendered}: read the page again`}
      >
        <span className="max-md:sr-only">as of </span>
        {rendered.slice(0, 5)}
      </a>
    );
  }
  return (
    <span className="inline-flex items-center gap-1.5 text-small text-ink-2" role="status">
      {status.is !== 'out' && <Sign well={status.is === 'live'} />}
      {status.is === 'live' && 'live'}
      {status.is === 'behind' && (
        <span title={`Reconnecting since ${secondOfDay(status.since / 1000, zone)}`}>
          behind
          <span className="sr-only">, reconnecting since {secondOfDay(status.since / 1000, zone)}</span>
        </span>
      )}
      {status.is === 'out' && (
        <a
          href={`/signin?to=${encodeURIComponent(pathname)}`}
          title="You are signed out: what is shown is not followed any more"
          className="whitespace-nowrap"
        >
          <span className="sr-only">signed out, </span>sign in<span className="max-md:sr-only"> again</span>
        </a>
      )}
    </span>
  );
}
