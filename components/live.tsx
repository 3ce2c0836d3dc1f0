'use client';
/**
 * Keeps a page live: every line of the event stream that concerns it has its server parts rendered again, at most once a
 * second. Says in the header whether it is.
 */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { usePathname, useRouter } from 'next/navigation';
import { createContext, type ReactNode, use, useEffect, useRef, useState } from 'react';
import type { Event } from '#lib/api/schema.ts';
import { tellEars } from './ledger-ear.ts';
import { type LineStatus, listen } from './live-line.ts';

const SOON_MS = 120;
const AT_MOST_EVERY_MS = 1000;

const StatusContext = createContext<LineStatus>('connecting');

/** Pages that stay as they were read: what they show is asked of every sandbox, and decided on, not watched. */
const STILL: readonly string[] = ['/jobs/new'];

/** The sandbox that a page is about, or null when it is about many. */
function sandboxOf(pathname: string): string | null {
  return /^\/sandboxes\/([^/]+)/.exec(pathname)?.[1] ?? null;
}

/** Renders the page again soon, but not too often, and not while nobody looks. */
function useRefresh(): () => void {
  const router = useRouter();
  const planned = useRef<ReturnType<typeof setTimeout>>(undefined);
  const last = useRef(0);
  const missed = useRef(false);
  const refresh = useRef(() => {});
  refresh.current = () => {
    if (planned.current !== undefined) return;
    const wait = Math.max(SOON_MS, last.current + AT_MOST_EVERY_MS - Date.now());
    planned.current = setTimeout(() => {
      planned.current = undefined;
      last.current = Date.now();
      if (document.visibilityState === 'visible') router.refresh();
      else missed.current = true;
    }, wait);
  };
  useEffect(() => {
    const look = () => {
      if (document.visibilityState !== 'visible' || !missed.current) return;
      missed.current = false;
      refresh.current();
    };
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      clearTimeout(planned.current);
      planned.current = undefined;
    };
  }, []);
  return () => refresh.current();
}

/** `after`: the last line of the ledger when the page was rendered. */
export function Live({ after, children }: { after: number; children: ReactNode }) {
  const [queries] = useState(() => new QueryClient({ defaultOptions: { queries: { retry: 1 } } }));
  const [status, setStatus] = useState<LineStatus>('connecting');
  const refresh = useRefresh();
  const about = useRef<string | null>(null);
  const pathname = usePathname();
  about.current = sandboxOf(pathname);
  const act = useRef(refresh);
  act.current = STILL.includes(pathname) ? () => {} : refresh;

  const start = useRef(after);
  useEffect(
    () =>
      listen(start.current, {
        onEvent: (event: Event) => {
          tellEars(event);
          // Rendering a page that shows private files is itself such a line: it would ask for the next one for ever.
          if (event.type === 'private.read') return;
          if (about.current === null || event.instance === about.current) act.current();
        },
        onStatus: setStatus,
        onGap: () => act.current(),
      }),
    [],
  );

  return (
    <StatusContext value={status}>
      <QueryClientProvider client={queries}>{children}</QueryClientProvider>
    </StatusContext>
  );
}

/** Whether the page keeps up. Without JavaScript: when it was read, with a link to read it again. `rendered`: `14:02:11 UTC`. */
export function LiveStatus({ rendered }: { rendered: string }) {
  const status = use(StatusContext);
  const [ready, setReady] = useState(false);
  const pathname = usePathname();
  useEffect(() => setReady(true), []);
  if (!ready || status === 'connecting') {
    return (
      <a href={pathname} className="text-small text-ink-3 no-underline hover:underline" title="Read the page again">
        as of {rendered}
      </a>
    );
  }
  return (
    <span className="inline-flex items-center gap-1.5 text-small text-ink-2" role="status">
      <svg width="9" height="9" viewBox="0 0 9 9" aria-hidden="true" focusable="false">
        {status === 'live' ? (
          <circle cx="4.5" cy="4.5" r="3.8" fill="var(--active)" stroke="currentColor" strokeWidth="1" />
        ) : (
          <circle cx="4.5" cy="4.5" r="3.6" fill="none" stroke="var(--fault)" strokeWidth="1.6" />
        )}
      </svg>
      {status === 'live' ? 'live' : 'behind, reconnecting'}
    </span>
  );
}
