/**
 * The life of a sandbox, drawn from its ledger lines in a bounded number of columns. A span with few lines is exact. A
 * longer one is read column by column, and of a crowded column only its first lines: its shares are estimated and say
 * so. What it costs depends on the columns and not on the lines.
 */
import { setImmediate } from 'node:timers/promises';
import type { InstanceId } from '../base/ids.ts';
import type { State } from '../lifecycle/state-map.ts';
import { FAULTS, type Fault } from '../lifecycle/words.ts';
import type { Registry } from '../registry/registry.ts';
import type { LifeLine } from '../registry/types.ts';

/** A span with at most this many lines is read whole. */
const EXACT_LINES = 2000;
/** Lines read of a column of a longer span. */
const COLUMN_LINES = 100;
/** Lines of a crowded column are counted up to this number. */
const COUNTED_LINES = 2000;
/** Columns read before other work runs. */
const COLUMNS_AT_ONCE = 16;

type Ledger = Pick<Registry['ledger'], 'linesBetween' | 'countBetween' | 'lastHopBefore'>;

interface LifeHop extends LifeLine {
  from: State;
  to: State;
}

/** Milliseconds since the epoch. */
interface Stretch {
  state: State;
  fromMs: number;
  toMs: number;
}

export interface LifeColumn {
  fromMs: number;
  toMs: number;
  /** Milliseconds in each state. */
  states: Map<State, number>;
  hops: number;
  wakes: number;
  faults: Fault[];
  lines: number;
  /** It has more lines than were counted. */
  cut: boolean;
  estimated: boolean;
}

export interface Life {
  columns: LifeColumn[];
  /** Null when the span was too long to be read whole. */
  exact: { stretches: Stretch[]; hops: LifeHop[] } | null;
}

/** `state`: where the sandbox is now, which it was all the time when no line says otherwise. */
export async function readLife(
  ledger: Ledger,
  { id, fromMs, toMs, count, state }: { id: InstanceId; fromMs: number; toMs: number; count: number; state: State },
): Promise<Life> {
  const widthMs = Math.max(1, (toMs - fromMs) / count);
  const edge = (n: number) => Math.round(fromMs + n * widthMs);
  const spans = Array.from({ length: count }, (_, n) => ({ fromMs: edge(n), toMs: edge(n + 1) }));
  const lines = await ledger.linesBetween(id, { fromMs, toMs }, EXACT_LINES + 1);
  const began = (await ledger.lastHopBefore(id, fromMs)) ?? hopsOf(lines)[0]?.from ?? state;
  if (lines.length <= EXACT_LINES) {
    const columns: LifeColumn[] = [];
    let at = 0;
    let current = began;
    for (const span of spans) {
      const first = at;
      while (at < lines.length && (lines[at]?.timeMs ?? 0) < span.toMs) at += 1;
      const column = columnOf(span, lines.slice(first, at), current);
      columns.push(column.drawn);
      current = column.last;
    }
    const hops = hopsOf(lines);
    return { columns, exact: { hops, stretches: stretchesOf(hops, began, { fromMs, toMs }) } };
  }
  const columns: LifeColumn[] = [];
  // Null after a crowded column, whose end was not read.
  let current: State | null = began;
  for (const [n, span] of spans.entries()) {
    if (n % COLUMNS_AT_ONCE === 0) await setImmediate();
    const some = await ledger.linesBetween(id, span, COLUMN_LINES + 1);
    const first: State = hopsOf(some)[0]?.from ?? current ?? (await ledger.lastHopBefore(id, span.fromMs)) ?? state;
    if (some.length <= COLUMN_LINES) {
      const column = columnOf(span, some, first);
      columns.push(column.drawn);
      current = column.last;
    } else {
      const total = await ledger.countBetween(id, span, COUNTED_LINES + 1);
      columns.push(estimated(span, some.slice(0, COLUMN_LINES), first, total));
      current = null;
    }
  }
  return { columns, exact: null };
}

function hopsOf(lines: readonly LifeLine[]): LifeHop[] {
  return lines.filter((line): line is LifeHop => line.type === 'transition' && line.from !== null && line.to !== null);
}

function stretchesOf(hops: readonly LifeHop[], began: State, span: { fromMs: number; toMs: number }): Stretch[] {
  const stretches: Stretch[] = [];
  let { fromMs } = span;
  let state = began;
  for (const hop of hops) {
    if (hop.timeMs > fromMs) stretches.push({ state, fromMs, toMs: hop.timeMs });
    fromMs = hop.timeMs;
    state = hop.to;
  }
  if (span.toMs > fromMs) stretches.push({ state, fromMs, toMs: span.toMs });
  return stretches;
}

/** A column whose lines are all known, and the state at its end. */
function columnOf(
  span: { fromMs: number; toMs: number },
  lines: readonly LifeLine[],
  began: State,
): { drawn: LifeColumn; last: State } {
  const hops = hopsOf(lines);
  const states = new Map<State, number>();
  for (const { state, fromMs, toMs } of stretchesOf(hops, began, span))
    states.set(state, (states.get(state) ?? 0) + toMs - fromMs);
  const faults = lines.filter(({ type }) => type === 'fault.raised').flatMap(({ reason }) => faultNamed(reason));
  const drawn: LifeColumn = {
    ...span,
    states,
    hops: hops.length,
    wakes: hops.filter(({ to, source }) => to === 'active' && source !== null).length,
    faults: [...new Set(faults)],
    lines: lines.length,
    cut: false,
    estimated: false,
  };
  return { drawn, last: hops.at(-1)?.to ?? began };
}

/** A column of `total` lines, by its first ones: the rest is taken to be like them. */
function estimated(
  span: { fromMs: number; toMs: number },
  lines: readonly LifeLine[],
  began: State,
  total: number,
): LifeColumn {
  const readTo = Math.max(span.fromMs + 1, lines.at(-1)?.timeMs ?? span.toMs);
  const { drawn } = columnOf({ fromMs: span.fromMs, toMs: readTo }, lines, began);
  const stretch = (span.toMs - span.fromMs) / (readTo - span.fromMs);
  const counted = Math.min(total, COUNTED_LINES);
  return {
    ...drawn,
    ...span,
    states: new Map([...drawn.states].map(([state, ms]) => [state, ms * stretch])),
    hops: Math.round((drawn.hops * counted) / lines.length),
    wakes: Math.round((drawn.wakes * counted) / lines.length),
    lines: counted,
    cut: total > COUNTED_LINES,
    estimated: true,
  };
}

function faultNamed(reason: string | null): Fault[] {
  return FAULTS.filter((fault) => fault === reason);
}
