/** What is printed while somebody looks: the page's lines to begin with, then those of the API's event stream. */
import { useEffect, useState } from 'react';
import type { PrintedLine } from '#lib/contract/schema.ts';

/** Lines that the page keeps: the newest. */
const SHOWN = 1000;
/** New lines are shown together, so that a log of thousands a second is drawn a few times a second. */
const DRAW_MS = 150;
const RETRY_MS = 5000;

export type FollowState = 'following' | 'paused' | 'lost';

interface Followed {
  lines: readonly PrintedLine[];
  /** Lines that are missing, as far as it is known; null: none. */
  missing: number | 'some' | null;
  state: FollowState;
}

/**
 * `path`: of the API, with its query. A hidden page is no follower, nor is one that `isPaused`: it goes on after its
 * last line later. A page that is rendered anew keeps the lines that it had got.
 */
export function useFollowedLog(first: readonly PrintedLine[], path: string, isPaused: boolean): Followed {
  const [fresh, setFresh] = useState<readonly PrintedLine[]>([]);
  const [missing, setMissing] = useState<Followed['missing']>(null);
  const [isLost, setIsLost] = useState(false);
  const [isVisible, setIsVisible] = useState(true);
  const last = first.at(-1)?.seq ?? 0;
  useEffect(() => {
    const look = () => setIsVisible(document.visibilityState === 'visible');
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  const isOpen = isVisible && !isPaused;
  // The lines that came are where it goes on, and no reason to begin again.
  useEffect(() => {
    if (!isOpen) return;
    let newest = Math.max(last, fresh.at(-1)?.seq ?? 0);
    let waiting: PrintedLine[] = [];
    let drawing: ReturnType<typeof setTimeout> | undefined;
    let retrying: ReturnType<typeof setTimeout> | undefined;
    let source: EventSource | undefined;
    const draw = () => {
      drawing = undefined;
      const came = waiting;
      waiting = [];
      setFresh((known) => [...known, ...came].slice(-SHOWN));
    };
    const open = () => {
      const opened = new EventSource(
        `${path}${path.includes('?') ? '&' : '?'}follow=1&limit=${SHOWN}&cursor=${newest}`,
      );
      source = opened;
      opened.onopen = () => setIsLost(false);
      opened.addEventListener('line', ({ data }: MessageEvent<string>) => {
        const line = JSON.parse(data) as PrintedLine;
        if (line.seq <= newest) return;
        newest = line.seq;
        waiting.push(line);
        drawing ??= setTimeout(draw, DRAW_MS);
      });
      opened.addEventListener('gap', ({ data }: MessageEvent<string>) => {
        const { dropped } = JSON.parse(data) as { dropped: number | null };
        setMissing((known) => (dropped === null || known === 'some' ? 'some' : (known ?? 0) + dropped));
      });
      opened.onerror = () => {
        setIsLost(true);
        // The browser comes back by itself, but not after a refusal.
        if (opened.readyState === EventSource.CLOSED) retrying = setTimeout(open, RETRY_MS);
      };
    };
    open();
    return () => {
      source?.close();
      clearTimeout(retrying);
      clearTimeout(drawing);
      draw();
    };
  }, [path, isOpen]);
  const lines = [...first, ...fresh.filter(({ seq }) => seq > last)].slice(-SHOWN);
  return { lines, missing, state: isPaused ? 'paused' : isLost ? 'lost' : 'following' };
}
