'use client';
import { useRouter } from 'next/navigation';
import { type ReactNode, useEffect } from 'react';
import { STATES } from '#lib/lifecycle/state-map.ts';
import { countsInWords } from '../sandbox/count-words.ts';
/** Live counts of the whole server. */
import type { States } from './cache.ts';
import { useStateCounts, useWarmCount } from './live-data.tsx';
import { useLoaded } from './use-loaded.ts';

const loadDiagram = async () => (await import('../figures/state-diagram.tsx')).StateDiagram;

/** The headline of the overview: how many are awake, asleep and archived. */
export function LiveCountWords({ states }: { states: States }) {
  return countsInWords(useStateCounts(states));
}

/** The state diagram with live counts. `children`: as the server rendered it, which stands until a count changes. */
export function LiveDiagram({
  states,
  warm,
  rendered,
  children,
}: {
  states: States;
  warm: number;
  rendered: number;
  children: ReactNode;
}) {
  const counts = useStateCounts(states);
  const warmCount = useWarmCount(warm);
  const changed = warmCount !== warm || STATES.some((state) => counts[state] !== states[state]);
  const Diagram = useLoaded(changed, loadDiagram);
  return Diagram === null ? children : <Diagram counts={counts} warm={warmCount} rendered={rendered} />;
}

const NONE = Object.fromEntries(STATES.map((state) => [state, 0])) as States;

/** On a page for a server without sandboxes: has it rendered again when there are some, as after Back. */
export function LeaveWhenAny() {
  const router = useRouter();
  const counts = useStateCounts(NONE);
  const isAny = STATES.some((state) => counts[state] > 0);
  useEffect(() => {
    if (isAny) router.refresh();
  }, [isAny, router]);
  return null;
}
