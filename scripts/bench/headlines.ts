/** The few figures that the README shows, each from docs/bench.json. Everything else is in docs/performance.md. */
import type { BenchHeadline } from './tables.ts';

const ms = (figure: number) => `${figure.toFixed(1)} ms`;
const times = (figure: number) => `${figure.toFixed(2)} ×`;

export const HEADLINES: readonly BenchHeadline[] = [
  {
    part: 'wakes',
    what: 'bare Node HTTP + one fsync',
    words: 'the floor: an empty Node server that answers after one fsync, p50',
    as: ms,
  },
  {
    part: 'wakes',
    what: 'hot exec of `true`',
    words: 'a command in a running sandbox, on disk when answered, p50',
    as: ms,
  },
  {
    part: 'wakes',
    what: 'first exec of a frozen 1 MB sandbox',
    words: 'the first command of a frozen sandbox of 1 MB, p50',
    as: ms,
  },
  { part: 'wakes', what: 'first exec of a frozen 500 MB sandbox', words: 'the same of 500 MB', as: ms },
  {
    part: 'burst',
    what: '60 frozen by 16 clients, all answered after',
    words: '60 frozen sandboxes that 16 clients ask for at once, all answered after',
    as: (figure) => `${figure.toFixed(1)} s`,
  },
  {
    part: 'burst',
    what: 'sustained wakes, first exec and suspension each',
    words: 'wakes that it keeps up, each with a command and a suspension',
    as: (figure) => `${figure.toFixed(1)} a second`,
  },
  {
    part: 'memory',
    what: 'PSS of a hot sandbox, median',
    words: 'memory of a running sandbox (PSS)',
    as: (figure) => `${figure.toFixed(0)} MB`,
  },
  {
    part: 'copies',
    what: '100 sandboxes from a snapshot of 500 MB',
    words: '100 new sandboxes from a snapshot of 500 MB',
    as: (figure) => ms(figure * 1000),
  },
  {
    part: 'registry',
    what: 'a page of everything: 1000000 rows / 1000',
    words: 'what a page of the list takes among 1 000 000 sandboxes, against among 1 000',
    as: times,
  },
];
