/** The time that a section of load shows: from the address, and back into one. Pure. */
import type { ShownTime } from '#components/figures/load-layout.ts';
import { type SearchParams, singleValues } from './search-params.ts';

const HOUR = 3600;
/** The shortest time that is drawn. */
const LEAST = 60;

/** The times that end now. */
const LOAD_LENGTHS: readonly [key: string, name: string, seconds: number][] = [
  ['hour', 'Last hour', HOUR],
  ['day', 'Last day', 24 * HOUR],
  ['month', 'Last 30 days', 30 * 24 * HOUR],
];

export interface LoadWindow {
  shown: ShownTime;
  /** It ends now. */
  isLive: boolean;
  /** The other times, and the shown one. */
  links: { name: string; href: string; isShown: boolean }[];
}

/** `path`: of the page. `now` in epoch seconds. What the address says that is no time is left out. */
export function loadWindowOf(search: SearchParams, path: string, now: number): LoadWindow {
  const values = singleValues(search);
  const [begin, end] = [values.begin, values.end].map((text) => (/^\d{1,10}$/.test(text ?? '') ? Number(text) : null));
  const isPart = typeof begin === 'number' && typeof end === 'number' && end - begin >= LEAST && begin < now - LEAST;
  const key = LOAD_LENGTHS.find(([one]) => one === values.load)?.[0] ?? 'hour';
  const length = LOAD_LENGTHS.find(([one]) => one === key)?.[2] ?? HOUR;
  const links = LOAD_LENGTHS.map(([one, name]) => {
    return { name, href: `${path}${one === 'hour' ? '' : `?load=${one}`}#load`, isShown: !isPart && one === key };
  });
  if (isPart) return { shown: { from: begin, to: Math.min(end, now + 1) }, isLive: false, links };
  return { shown: { from: now + 1 - length, to: now + 1 }, isLive: true, links };
}
