/** A series over time as bars, with its name, its sum or most, and the time that it covers. */
import { axisMoment, zoneLabel } from '../ui/zones.ts';
import { type Bar, barPath } from './time-layout.ts';

interface Axis {
  /** Epoch seconds. */
  from: number;
  to: number;
  step: number;
}

/** `says`: the sum or the most, beside the name. `most` is the greatest value as it is said at the top of the bars. */
export function SeriesBars({
  name,
  says,
  bars,
  axis,
  mostInWords,
  isFault = false,
}: {
  name: string;
  says: string;
  bars: readonly Bar[];
  axis: Axis;
  mostInWords: (most: number) => string;
  isFault?: boolean;
}) {
  const most = bars.reduce((greatest, { value }) => Math.max(greatest, value), 0);
  return (
    <figure className="grid gap-1">
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-4 text-small">
        <span>
          <span className="font-[520]">{name}</span> <span className="text-ink-2">{says}</span>
        </span>
        <span className="text-ink-3">{most > 0 && `most ${mostInWords(most)}`}</span>
      </figcaption>
      <svg
        viewBox="0 0 1000 1000"
        preserveAspectRatio="none"
        className="block h-10 w-full border-b border-rule-2"
        aria-hidden="true"
        focusable="false"
      >
        <path d={barPath(bars, { ...axis, most })} fill={isFault ? 'var(--fault)' : 'var(--ink-2)'} />
      </svg>
    </figure>
  );
}

/** `zone`: the reader's. */
export function TimeAxis({ from, to, zone }: Pick<Axis, 'from' | 'to'> & { zone: string }) {
  return (
    <p className="mt-1 flex justify-between gap-4 text-small text-ink-3">
      <span>{axisMoment(from, zone, to - from)}</span>
      <span className="max-sm:hidden">{axisMoment((from + to) / 2, zone, to - from)}</span>
      <span>
        {axisMoment(to, zone, to - from)} {zoneLabel(to, zone)}
      </span>
    </p>
  );
}
