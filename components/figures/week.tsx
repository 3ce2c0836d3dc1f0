/** The week of a tenant or of the server by the hour: awake, wakes, faults, processor time, calls. Days are links. */
import type { TenantUsage } from '#lib/contract/schema.ts';
import { sizeInWords } from '../ui/durations.ts';
import { axisSpan } from '../ui/zones.ts';
import { SeriesBars, TimeAxis } from './series-bars.tsx';
import { SpanLinks } from './span-links.tsx';
import { partsOf } from './time-layout.ts';

const DAYS = 7;
const HOUR = 3600;
const figures = (count: number) => count.toLocaleString('en', { maximumFractionDigits: 1 });
const hours = (seconds: number) =>
  seconds < HOUR ? `${Math.round(seconds / 60)} min` : `${figures(seconds / HOUR)} h`;

/** `linesOf`: the address of the ledger's lines of a time. `zone`: the reader's. */
export function Week({
  usage,
  linesOf,
  zone,
}: {
  usage: TenantUsage;
  linesOf: (from: number, until: number) => string;
  zone: string;
}) {
  const { points, total, complete } = usage;
  const axis = { from: usage.from, to: usage.to, step: usage.step };
  const bars = (value: (point: TenantUsage['points'][number]) => number) =>
    points.map((point) => ({ time: point.time, value: value(point) }));
  const days = partsOf(usage, DAYS).map(({ from, to }) => ({
    href: linesOf(from, to - 1),
    label: `The ledger of ${axisSpan(from, to, zone)}`,
    isChosen: false,
  }));
  const disk = points.at(-1)?.disk_bytes ?? 0;
  return (
    <div>
      <div className="relative">
        <div className="grid gap-4">
          <SeriesBars
            name="Awake"
            says={`${hours(total.awake_s)} in all`}
            bars={bars(({ awake_s }) => awake_s / usage.step)}
            axis={axis}
            mostInWords={(most) => `${most.toLocaleString('en', { maximumFractionDigits: 2 })} at once, on average`}
          />
          <SeriesBars
            name="Wakes"
            says={figures(total.wakes)}
            bars={bars(({ wakes }) => wakes)}
            axis={axis}
            mostInWords={(most) => `${figures(most)} an hour`}
          />
          <SeriesBars
            name="Faults"
            says={total.faults === 0 ? 'none' : figures(total.faults)}
            bars={bars(({ faults }) => faults)}
            axis={axis}
            mostInWords={(most) => `${figures(most)} an hour`}
            isFault
          />
          <SeriesBars
            name="Processor"
            says={`${figures(total.cpu_s)} s`}
            bars={bars(({ cpu_s }) => cpu_s)}
            axis={axis}
            mostInWords={(most) => `${figures(most)} s an hour`}
          />
          <SeriesBars
            name="Calls"
            says={figures(total.calls)}
            bars={bars(({ calls }) => calls)}
            axis={axis}
            mostInWords={(most) => `${figures(most)} an hour`}
          />
        </div>
        <SpanLinks label="The ledger by day" spans={days} />
      </div>
      <TimeAxis from={usage.from} to={usage.to} zone={zone} />
      <p className="mt-2 text-small text-ink-2">
        {sizeInWords(disk)} on disk. A day links to its ledger lines.
        {!complete && ' Older lines of the ledger are still being counted: what comes from it is too low until then.'}
      </p>
    </div>
  );
}
