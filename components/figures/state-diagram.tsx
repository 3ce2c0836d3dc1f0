/**
 * The state map as an SVG drawn on the server, from lib/lifecycle's map only. Each node links to the list of its state.
 * With `current`, that node is lit and its open hops stand out.
 */
import { HOPS, hopsFrom, mayReach, STATES, type State } from '#lib/lifecycle/state-map.ts';
import { StateMark } from '../sandbox/state-mark.tsx';
import { type Box, type DiagramLayout, type Edge, edgesOf, TALL, WIDE } from './diagram-layout.ts';
import { type Temperature, TemperatureCounts, TemperatureScale } from './temperature.tsx';

/** Where the file of each state lies. */
const WHERE: Readonly<Record<State, string>> = {
  created: 'never woken yet',
  active: 'a process runs on the file',
  suspended: 'file where it was',
  frozen: 'in the cold drawer',
  archived: 'compressed, filed away',
  deleted: 'a tombstone',
};

/** Distance between two cards in a drawer. */
const CARD_STEP = 5;

const HOUR = 3600;

interface DiagramProps {
  counts?: Readonly<Record<State, number>>;
  current?: State;
  /** How many of the active are warm; with `counts`. */
  warm?: number;
  /** Whether the process of the one that is active runs or is paused; with `current`. */
  temperature?: Temperature;
  /** The sandbox is ephemeral: it has fewer hops. */
  ephemeral?: boolean;
  /** The server's time in epoch seconds. With it, the hops link to lists. */
  rendered?: number;
}

function Tip({ edge, faint }: { edge: Edge; faint: boolean }) {
  const { end, direction: d } = edge;
  const back = { x: end.x - d.x * 8, y: end.y - d.y * 8 };
  const points = `${end.x},${end.y} ${back.x - d.y * 4},${back.y + d.x * 4} ${back.x + d.y * 4},${back.y - d.x * 4}`;
  return <polygon points={points} className={faint ? 'tip tip-faint' : 'tip'} />;
}

/** The list behind a hop: the sandboxes that may take it; for an automatic hop, those that take it within the hour. */
function hopHref({ from, auto }: Edge, rendered: number): string {
  return `/sandboxes?state=${from}${auto ? `&due_until=${rendered + HOUR - 1}` : ''}`;
}

function hopLabel({ from, to, label, auto }: Edge): string {
  return auto
    ? `${from} to ${to}: ${label}, by itself or on request. Lists what is due within the hour`
    : `${from} to ${to}: ${label}. Lists what is ${from}`;
}

/** `href`: the list that it links to, or null. */
function Hop({
  edge,
  open,
  faint,
  size,
  href,
}: {
  edge: Edge;
  open: boolean;
  faint: boolean;
  size: number;
  href: string | null;
}) {
  const { start, end, direction: d } = edge;
  const names = ['edge', edge.auto && 'edge-auto', open && 'edge-open', faint && 'edge-faint']
    .filter(Boolean)
    .join(' ');
  const drawn = (
    <>
      <line x1={start.x} y1={start.y} x2={end.x - d.x * 6} y2={end.y - d.y * 6} className={names} />
      <Tip edge={edge} faint={faint} />
      <text
        x={edge.text.x}
        y={edge.text.y}
        textAnchor={edge.text.anchor}
        fontSize={size}
        fontWeight={open ? 560 : 420}
        className={faint ? 'edge-label edge-label-faint' : 'edge-label'}
      >
        {edge.label}
      </text>
    </>
  );
  if (href === null) return <g>{drawn}</g>;
  return (
    <a href={href} aria-label={hopLabel(edge)}>
      <line x1={start.x} y1={start.y} x2={end.x} y2={end.y} className="edge-reach" />
      {drawn}
    </a>
  );
}

/** A card in the drawer for each sandbox; none where there is no room for all: whoever counts them gets the number. */
function Cards({ count, right, base, room }: { count: number; right: number; base: number; room: number }) {
  if (count * CARD_STEP > room) return null;
  return (
    <g opacity={0.45}>
      {Array.from({ length: count }, (_, index) => right - index * CARD_STEP).map((x) => (
        <rect key={x} x={x - 2} y={base - 17} width={2} height={17} rx={1} fill="currentColor" />
      ))}
    </g>
  );
}

function Words({
  box,
  state,
  lit,
  count,
  wide,
}: {
  box: Box;
  state: State;
  lit: boolean;
  count?: number;
  wide: boolean;
}) {
  const onColour = lit && state !== 'created' && state !== 'deleted';
  const ink = onColour ? 'var(--on-colour)' : 'var(--ink)';
  const inset = wide ? 16 : 12;
  const left = box.x + inset;
  const right = box.x + box.width - inset;
  const upright = box.height > box.width;
  const nameY = box.y + (wide ? 30 : count !== undefined || upright ? 26 : box.height / 2 + 5);
  const countSize = wide ? 30 : upright ? 32 : 22;
  const countY = nameY + countSize * (wide ? 1.22 : 1.16);
  const digits = count === undefined ? 0 : count.toLocaleString('en').length;
  return (
    <g color={ink}>
      <StateMark state={state} size={16} x={left} y={nameY - 13} />
      <text
        x={left + 23}
        y={nameY}
        fontSize={wide ? 17 : 14.5}
        fontWeight={580}
        fill={ink}
        textDecoration={state === 'deleted' ? 'line-through' : undefined}
      >
        {state}
      </text>
      {wide && (
        <text x={left} y={box.y + 91} fontSize={12.5} fill={onColour ? ink : 'var(--ink-2)'}>
          {WHERE[state]}
        </text>
      )}
      {count !== undefined && (
        <>
          <text x={left} y={countY} fontSize={countSize} fontWeight={470} fill={ink} letterSpacing="-0.03em">
            {count.toLocaleString('en')}
          </text>
          {!upright && (
            <Cards count={count} right={right} base={countY} room={right - left - digits * countSize * 0.6 - 14} />
          )}
        </>
      )}
    </g>
  );
}

function Node({
  state,
  layout,
  counts,
  warm,
  temperature,
  current,
  ephemeral,
}: { state: State; layout: DiagramLayout } & DiagramProps) {
  const box = layout.nodes[state];
  const lit = current === undefined || current === state;
  const reachable = current !== undefined && hopsFrom(current, { ephemeral }).includes(state);
  const count = counts?.[state];
  const label =
    count === undefined
      ? `${state}${current === state ? ', where it is now' : reachable ? ', may go here' : ''}`
      : `${state}: ${count.toLocaleString('en')} ${count === 1 ? 'sandbox' : 'sandboxes'}${state === 'active' && warm ? `, ${warm.toLocaleString('en')} warm` : ''}`;
  const body = (
    <>
      <rect
        {...box}
        rx={9}
        className="node-shape"
        fill={lit ? `var(--${state})` : 'var(--sheet)'}
        strokeDasharray={state === 'created' || state === 'deleted' ? '4 3' : undefined}
      />
      <Words box={box} state={state} lit={lit} count={count} wide={layout === WIDE} />
      {state === 'active' && current === 'active' && temperature !== undefined && (
        <TemperatureScale box={box} current={temperature} />
      )}
      {state === 'active' && count !== undefined && count > 0 && warm !== undefined && (
        <TemperatureCounts box={box} active={count} warm={warm} wide={layout === WIDE} />
      )}
    </>
  );
  if (current !== undefined) {
    return <g className={lit || reachable ? undefined : 'node-faint'}>{body}</g>;
  }
  return (
    <a href={`/sandboxes?state=${state}`} aria-label={label}>
      {body}
    </a>
  );
}

/** A line of water across the wide drawing: above it a process runs, below it there is only the file. */
function Waterline({ width, y }: { width: number; y: number }) {
  const waves = Math.ceil(width / 32);
  return (
    <>
      <path d={`M0 ${y}q8 -5 16 0t16 0${'t16 0t16 0'.repeat(waves - 1)}`} className="waterline" />
      <text x={1} y={y - 14} fontSize={13} className="edge-label edge-label-faint">
        above: a process
      </text>
      <text x={1} y={y + 23} fontSize={13} className="edge-label edge-label-faint">
        below: only the file
      </text>
    </>
  );
}

function Drawing({
  layout,
  counts,
  warm,
  temperature,
  current,
  ephemeral,
  rendered,
  className,
}: DiagramProps & { layout: DiagramLayout; className?: string }) {
  const wide = layout === WIDE;
  const label =
    current === undefined
      ? 'The states of a sandbox and how many are in each'
      : `The states of a sandbox; this one is ${current}${current === 'active' && temperature !== undefined ? `, ${temperature}` : ''}`;
  return (
    <svg
      viewBox={`0 0 ${layout.width} ${layout.height}`}
      className={`diagram ${className ?? ''}`}
      role={current === undefined ? 'group' : 'img'}
      aria-label={label}
    >
      {wide && <Waterline width={layout.width} y={211} />}
      {edgesOf(layout).map((edge) => (
        <Hop
          key={`${edge.from}-${edge.to}`}
          edge={edge}
          open={edge.from === current && mayReach(edge.to, { ephemeral })}
          faint={current !== undefined && !(edge.from === current && mayReach(edge.to, { ephemeral }))}
          size={wide ? 14 : 12.5}
          href={rendered === undefined ? null : hopHref(edge, rendered)}
        />
      ))}
      {STATES.map((state) => (
        <Node
          key={state}
          state={state}
          layout={layout}
          counts={counts}
          warm={warm}
          temperature={temperature}
          current={current}
          ephemeral={ephemeral}
        />
      ))}
    </svg>
  );
}

/** The hops in words, for screen readers. */
function HopsInWords({ current, ephemeral }: { current: State; ephemeral: boolean }) {
  const hops = HOPS.filter((hop) => hop.from === current && mayReach(hop.to, { ephemeral }));
  return (
    <ul className="sr-only">
      {hops.map((hop) => (
        <li key={`${hop.from}-${hop.to}`}>
          {hop.from} to {hop.to}: {hop.label}
          {hop.auto ? ', by itself or on request' : ''}
        </li>
      ))}
    </ul>
  );
}

/** The diagram of all sandboxes, with counts: horizontal on a wide page, vertical on a narrow one. */
export function StateDiagram({
  counts,
  warm,
  rendered,
}: {
  counts: Readonly<Record<State, number>>;
  /** How many of the active are warm. */
  warm: number;
  /** The server's time in epoch seconds. */
  rendered: number;
}) {
  return (
    <div>
      <Drawing layout={WIDE} counts={counts} warm={warm} rendered={rendered} className="max-md:hidden" />
      <Drawing layout={TALL} counts={counts} warm={warm} rendered={rendered} className="mx-auto max-w-96 md:hidden" />
    </div>
  );
}

/** The diagram of one sandbox: its node lit, its open hops emphasised, its temperature while it is active. */
export function SandboxDiagram({
  current,
  temperature,
  ephemeral,
}: {
  current: State;
  temperature: Temperature;
  ephemeral: boolean;
}) {
  return (
    <div>
      <Drawing layout={TALL} current={current} temperature={temperature} ephemeral={ephemeral} className="max-w-96" />
      <HopsInWords current={current} ephemeral={ephemeral} />
    </div>
  );
}
