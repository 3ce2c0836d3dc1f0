/**
 * Automatic moves over the coming time: a bar for each span, or a dot for each sandbox where they are few, in the
 * colours of the target states, linking to the list of sandboxes that move.
 */
import type { State } from '#lib/lifecycle/state-map.ts';
import { StateMark } from '../../components/sandbox/state-mark.tsx';
import { timeOfDay } from '../../components/ui/zones.ts';

type DueTo = 'suspended' | 'frozen' | 'archived' | 'deleted';

export interface DueSpan {
  /** Epoch seconds, both inclusive. */
  from: number;
  until: number;
  to: Readonly<Record<DueTo, number>>;
  /** More move than were counted. */
  isCut: boolean;
}

const KINDS: readonly [to: DueTo, one: string, many: string][] = [
  ['suspended', 'suspends', 'suspend'],
  ['frozen', 'freezes', 'freeze'],
  ['archived', 'is archived', 'are archived'],
  ['deleted', 'is deleted', 'are deleted'],
];

const HEIGHT = 112;
/** Room above the bars for numbers, and below them for times. */
const TOP = 18;
const BASE = HEIGHT - 20;
/** The least height of a bar. */
const LEAST = 4;
/** Up to so many in a span each is a dot: a bar of the whole height would look like many. */
const FEW = 5;
const DOT = { radius: 5, step: 13 };

/** How many move in these spans, by target: `412 suspend, 37 freeze`; `2,000 or more suspend` when cut. */
export function dueInWords(spans: readonly DueSpan[]): { to: State; words: string }[] {
  return KINDS.flatMap(([to, one, many]) => {
    const count = spans.reduce((sum, span) => sum + span.to[to], 0);
    const isCut = spans.some((span) => span.isCut && span.to[to] > 0);
    const figure = `${count.toLocaleString('en')}${isCut ? ' or more' : ''}`;
    return count === 0 ? [] : [{ to, words: `${figure} ${count === 1 && !isCut ? one : many}` }];
  });
}

function totalOf(span: DueSpan): number {
  return KINDS.reduce((sum, [to]) => sum + span.to[to], 0);
}

/** `1.2k` for 1,234: a number that fits above a narrow bar. */
export function shortFigure(count: number): string {
  if (count < 1000) return String(count);
  const thousands = count / 1000;
  return thousands < 9.95 ? `${thousands.toFixed(1)}k` : `${Math.round(thousands)}k`;
}

/** The dots of a span, one on the other, in the colours of the target states. */
function Dots({ span, x }: { span: DueSpan; x: string }) {
  const each = KINDS.flatMap(([to]) => Array.from({ length: span.to[to] }, () => to));
  return each.map((to, nth) => {
    const place = { cx: x, cy: BASE - DOT.step * (nth + 0.5), r: DOT.radius };
    return (
      <g key={nth}>
        <circle {...place} fill={`var(--${to})`} />
        <circle {...place} className="due-frame" />
      </g>
    );
  });
}

function Bar({ span, at, of, most, zone }: { span: DueSpan; at: number; of: number; most: number; zone: string }) {
  const total = totalOf(span);
  const x = `${(at / of) * 100 + 0.5}%`;
  const width = `${100 / of - 1}%`;
  if (total === 0) return <rect className="due-none" x={x} y={BASE - 1} width={width} height={1} />;
  const isFew = most <= FEW;
  const height = isFew ? DOT.step * total : Math.max(LEAST, ((BASE - TOP) * total) / most);
  let top = BASE - height;
  const parts = KINDS.flatMap(([to]) => {
    if (span.to[to] === 0) return [];
    const part = { to, y: top, height: (height * span.to[to]) / total };
    top += part.height;
    return [part];
  });
  const words = dueInWords([span]).map((kind) => kind.words);
  const says = `${timeOfDay(span.from, zone)} to ${timeOfDay(span.until + 1, zone)}: ${words.join(', ')}`;
  return (
    <a href={`/sandboxes?${at === 0 ? '' : `due_since=${span.from}&`}due_until=${span.until}`} aria-label={says}>
      <title>{says}</title>
      <rect x={`${(at / of) * 100}%`} y={0} width={`${100 / of}%`} height={HEIGHT} fill="transparent" />
      {isFew ? (
        <Dots span={span} x={`${((at + 0.5) / of) * 100}%`} />
      ) : (
        <>
          {parts.map((part) => (
            <rect key={part.to} x={x} y={part.y} width={width} height={part.height} fill={`var(--${part.to})`} />
          ))}
          <rect className="due-frame" x={x} y={BASE - height} width={width} height={height} />
        </>
      )}
      <text x={`${((at + 0.5) / of) * 100}%`} y={BASE - height - 5} textAnchor="middle">
        {shortFigure(total)}
        {span.isCut && '+'}
      </text>
    </a>
  );
}

/** The strip, its times in `zone`; nothing when nothing is due. Every third span has the time until it begins. */
export function DueStrip({ spans, zone }: { spans: readonly DueSpan[]; zone: string }) {
  const most = Math.max(...spans.map(totalOf));
  const [first] = spans;
  if (most <= 0 || first === undefined) return null;
  const marks = spans.flatMap(({ from }, at) => (at % 3 === 0 ? [{ at, minutes: (from - first.from) / 60 }] : []));
  return (
    <div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-small text-ink-2">
        {dueInWords(spans).map(({ to, words }) => (
          <span key={to} className="inline-flex items-center gap-1.5">
            <StateMark state={to} size={13} />
            {words}
          </span>
        ))}
      </p>
      <svg className="due-strip" height={HEIGHT}>
        <title>When they move</title>
        <line className="due-base" x1="0" x2="100%" y1={BASE} y2={BASE} />
        {spans.map((span, at) => (
          <Bar key={span.from} span={span} at={at} of={spans.length} most={most} zone={zone} />
        ))}
        {marks.map(({ at, minutes }) => (
          <g key={at}>
            <line
              className="due-base"
              x1={`${(at / spans.length) * 100}%`}
              x2={`${(at / spans.length) * 100}%`}
              y1={BASE}
              y2={BASE + 5}
            />
            <text x={`${(at / spans.length) * 100}%`} dx={at === 0 ? 0 : 4} y={BASE + 16}>
              {minutes === 0 ? 'now' : `+${minutes} min`}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}
