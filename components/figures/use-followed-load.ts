/** Load as it goes on: the page's own to begin with, then what the API answers, as long as somebody looks. */
import { useEffect, useRef, useState } from 'react';
import { LOAD_POINTS } from '#lib/contract/load-limits.ts';
import type { InstanceLoad } from '#lib/contract/schema.ts';
import type { ShownTime } from './load-layout.ts';

const EVERY_MS = 10_000;

export interface ShownLoad {
  load: InstanceLoad;
  shown: ShownTime;
}

/**
 * `path`: of the API; null: it is a time that is over. `isGrowing`: the time begins where it did, else it moves on.
 * `isHeld`: somebody reads, and nothing moves meanwhile. A page that is rendered anew begins again.
 */
export function useFollowedLoad(
  first: ShownLoad,
  { path, isGrowing, isHeld }: { path: string | null; isGrowing: boolean; isHeld: boolean },
): ShownLoad {
  const [followed, setFollowed] = useState<{ of: InstanceLoad; now: ShownLoad } | null>(null);
  const held = useRef(isHeld);
  held.current = isHeld;
  useEffect(() => {
    if (path === null) return;
    // The browser's clock may be wrong: it is asked for the time since the page alone.
    const began = performance.now();
    const closed = new AbortController();
    const follow = async () => {
      if (document.visibilityState !== 'visible' || held.current) return;
      const passed = Math.floor((performance.now() - began) / 1000);
      const to = first.shown.to + passed;
      const from = isGrowing ? first.shown.from : first.shown.from + passed;
      const { step } = first.load;
      const query = new URLSearchParams({ from: String(from), to: String(to) });
      if (Math.floor(to / step) - Math.floor(from / step) < LOAD_POINTS) query.set('step', String(step));
      const answer = await fetch(`${path}?${query}`, { signal: closed.signal }).catch(() => null);
      if (answer === null || !answer.ok) return;
      const load = (await answer.json().catch(() => null)) as InstanceLoad | null;
      if (load !== null && !closed.signal.aborted && !held.current)
        setFollowed({ of: first.load, now: { load, shown: { from, to } } });
    };
    const timer = setInterval(() => void follow(), EVERY_MS);
    return () => {
      clearInterval(timer);
      closed.abort();
    };
  }, [path, isGrowing, first.load.from, first.load.to, first.load.step]);
  return followed !== null && followed.of === first.load ? followed.now : first;
}
