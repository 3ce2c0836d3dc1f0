'use client';
/**
 * A sandbox's terminals over any page, at the window's lower edge; on a narrow page over all of it. Loaded when it is
 * first opened. It takes the keyboard and gives it back. It belongs to the layout: a link leaves it open.
 */
import { QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { type ComponentProps, type RefObject, use, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { onLedgerLine } from '../live/ledger-listener.ts';
import { CacheContext } from '../live/live-data.tsx';
import { queriesOf } from '../live/queries.ts';
import { readTerminalSandbox, writeTerminalSandbox } from '../palette/recent.ts';
import { Outcome } from '../ui/outcome.tsx';
import { DrawerEdge, useDrawerHeight } from './drawer-height.tsx';
import type { Language } from './run-words.ts';
import { Terminal } from './terminal.tsx';

/** The height that “Full height” goes back to, in percent of the window's. */
const HALF = 50;

/** What the drawer says of a sandbox. */
export interface DrawerSandbox {
  name: string | null;
  languages: readonly Language[];
  /** Why nothing can be run now, and a note that running wakes the sandbox. Sentences, or null. */
  blocked: string | null;
  wakes: string | null;
}

/** The server action that reads it; null: there is no such sandbox. */
export type LoadTerminal = (id: string) => Promise<DrawerSandbox | null>;

/**
 * The sandbox whose terminals the drawer opens: that of the page, else the one whose terminal was used last in this
 * browser; null when there is none. Undefined when the page shows its terminal itself: it then has the keyboard.
 */
export function sandboxOfDrawer(actor: string): string | null | undefined {
  const own = document.querySelector<HTMLElement>('main .xterm textarea');
  if (own === null) {
    return /^\/sandboxes\/([^/]+)/.exec(window.location.pathname)?.[1] ?? readTerminalSandbox(actor);
  }
  own.focus();
  return undefined;
}

/** On narrower pages the drawer covers the page. */
const NARROW = '(max-width: 47.99rem)';

const isNarrow = () => window.matchMedia(NARROW).matches;

function onNarrowChange(tell: () => void): () => void {
  const media = window.matchMedia(NARROW);
  media.addEventListener('change', tell);
  return () => media.removeEventListener('change', tell);
}

/** Makes the page inert as long as the drawer covers it; messages about acts are not part of it. */
function useInertPage(covers: boolean): void {
  useEffect(() => {
    if (!covers) return;
    const page = document.querySelectorAll<HTMLElement>('body > :is(a, header, main, footer)');
    for (const one of page) one.inert = true;
    return () => {
      for (const one of page) one.inert = false;
    };
  }, [covers]);
}

/** Takes the keyboard into the drawer as long as it is open, and gives it back to what had it. */
function useBorrowedFocus(place: RefObject<HTMLElement | null>): void {
  // Read before the page is inert, which takes the focus away from it.
  const [before] = useState(() => document.activeElement);
  useEffect(() => {
    place.current?.focus({ preventScroll: true });
    return () => {
      // Somebody who went on in the page keeps the keyboard there.
      if (document.activeElement !== null && document.activeElement !== document.body) return;
      const isThere = before instanceof HTMLElement && before.isConnected && before !== document.body;
      (isThere ? before : document.getElementById('main'))?.focus({ preventScroll: true });
    };
  }, [before, place]);
}

function Drawer({
  id,
  actor,
  ask,
  onClose,
}: {
  id: string;
  /** The visitor, as the ledger names them. */
  actor: string;
  ask: LoadTerminal;
  onClose: () => void;
}) {
  const place = useRef<HTMLElement>(null);
  const [height, setHeight] = useDrawerHeight();
  const isTall = height === 100;
  const narrow = useSyncExternalStore(onNarrowChange, isNarrow);
  useInertPage(narrow || isTall);
  useBorrowedFocus(place);
  const queries = useQueryClient();
  const { data, isPending, isError } = useQuery({
    queryKey: ['terminal', id],
    queryFn: () => ask(id),
    staleTime: 0,
    gcTime: 0,
  });
  useEffect(
    () =>
      onLedgerLine(({ instance, type }) => {
        if (instance === id && type === 'transition') void queries.invalidateQueries({ queryKey: ['terminal', id] });
      }),
    [id, queries],
  );
  const isMissing = data === null;
  useEffect(() => {
    if (isMissing) writeTerminalSandbox(actor, null);
  }, [actor, isMissing]);
  const name = data?.name ?? id;
  const says = isMissing
    ? `There is no sandbox ${id} any more.`
    : (data?.blocked ?? (isError && data === undefined ? 'The server did not answer.' : null));

  return createPortal(
    <section
      ref={place}
      tabIndex={-1}
      className="terminal-drawer no-print"
      aria-label={`Terminal of ${name}`}
      data-own-keys
    >
      <DrawerEdge height={height} onHeight={setHeight} />
      <div className="flex items-center gap-2">
        <p className="min-w-0 flex-1 truncate font-[560]">
          Terminal of{' '}
          <Link href={`/sandboxes/${id}`} prefetch={false}>
            {name}
          </Link>
        </p>
        <button
          type="button"
          className="button button-quiet max-md:hidden"
          aria-pressed={isTall}
          onClick={() => setHeight(isTall ? HALF : 100)}
        >
          Full height
        </button>
        <button type="button" className="button button-quiet" aria-keyshortcuts="Control+`" onClick={onClose}>
          Close <span className="sr-only">the panel of terminals</span> <kbd className="key max-md:hidden">Ctrl `</kbd>
        </button>
      </div>
      {says !== null && <Outcome outcome={{ ok: false, says }} />}
      {isPending && (
        <p className="text-small text-ink-3" role="status">
          Opening…
        </p>
      )}
      {says === null && data !== undefined && data !== null && (
        <Terminal id={id} person={actor} action={null} languages={data.languages} blocked={null} wakes={data.wakes} />
      )}
    </section>,
    document.body,
  );
}

export function TerminalDrawer(props: ComponentProps<typeof Drawer>) {
  return (
    <QueryClientProvider client={queriesOf(use(CacheContext))}>
      <Drawer {...props} />
    </QueryClientProvider>
  );
}
