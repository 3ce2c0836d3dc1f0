/** Wake times by source: a line from p50 to p99, on a logarithmic scale. */
import type { WakeTime } from '#lib/contract/schema.ts';
import { tookInWords } from '../../components/ui/durations.ts';

/** Milliseconds: the bounds of the scale, and what is marked on it. */
const FROM = 0.1;
const TO = 10_000;
const MARKS: readonly [ms: number, words: string][] = [
  [1, '1 ms'],
  [10, '10 ms'],
  [100, '100 ms'],
  [1000, '1 s'],
];

const SOURCE_WORDS: Readonly<Record<string, string>> = {
  local: 'its live file',
  cold: 'the cold drawer',
  archive: 'the archive',
  cloud: 'the object store',
  snapshot: 'a snapshot',
  blueprint: 'a blueprint',
  fresh: 'a fresh file',
};

/** The position of a time on the scale, in percent. */
export function scalePosition(ms: number): number {
  const share = Math.log(Math.min(TO, Math.max(FROM, ms)) / FROM) / Math.log(TO / FROM);
  return Math.round(share * 10_000) / 100;
}

function Grid({ height }: { height: number }) {
  return MARKS.map(([ms]) => (
    <line key={ms} className="grid-line" x1={`${scalePosition(ms)}%`} x2={`${scalePosition(ms)}%`} y1="0" y2={height} />
  ));
}

/** Percent of the scale. Nearer together, p99 is no mark of its own: after few wakes it is p50. */
const APART = 2;

function Span({ time: { p50_ms, p99_ms } }: { time: WakeTime }) {
  const isSpread = scalePosition(p99_ms) - scalePosition(p50_ms) >= APART;
  const from = `${scalePosition(p50_ms)}%`;
  const to = `${scalePosition(p99_ms)}%`;
  return (
    <svg className="plot" height="20" aria-hidden="true" focusable="false">
      <Grid height={20} />
      {isSpread && <line className="span" x1={from} x2={to} y1="10" y2="10" />}
      {isSpread && <line className="end" x1={to} x2={to} y1="4" y2="16" />}
      <circle cx={from} cy="10" r="5" fill="var(--active)" stroke="var(--ink)" strokeWidth="1.25" />
    </svg>
  );
}

function Scale() {
  return (
    <svg className="plot" height="14" aria-hidden="true" focusable="false">
      {MARKS.map(([ms, words]) => (
        <text
          key={ms}
          x={`${scalePosition(ms)}%`}
          y="11"
          textAnchor="middle"
          // Half a page wide there is no room for every mark.
          className={ms === 10 ? 'lg:max-xl:hidden' : undefined}
        >
          {words}
        </text>
      ))}
    </svg>
  );
}

export function WakePlot({ times }: { times: readonly WakeTime[] }) {
  return (
    <table className="ledger">
      <thead>
        <tr>
          <th scope="col">From</th>
          <th scope="col" className="w-[45%] max-sm:hidden">
            <span className="sr-only">Plot</span>
            <Scale />
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            p50
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            p99
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Wakes
          </th>
        </tr>
      </thead>
      <tbody>
        {times.map((time) => (
          <tr key={`${time.path} ${time.source}`}>
            <td>
              {time.path === 'warm' || time.source === null
                ? 'awake already'
                : (SOURCE_WORDS[time.source] ?? time.source)}
            </td>
            <td className="!align-middle max-sm:hidden">
              <Span time={time} />
            </td>
            <td className="text-right whitespace-nowrap">{tookInWords(time.p50_ms)}</td>
            <td className="text-right whitespace-nowrap">{tookInWords(time.p99_ms)}</td>
            <td className="text-right whitespace-nowrap text-ink-2">{time.count.toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
