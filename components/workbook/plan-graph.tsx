/**
 * A workbook's plan as an SVG: worlds as boxes, nested ones inside, each component with its language, its capabilities
 * and whether it keeps state. The same in words is in a list below. Rendered on the server, and beside the editor with
 * positions from the server.
 */
import { shortened } from '../figures/lineage-layout.ts';
import { tookInWords } from '../ui/durations.ts';
import { SCROLLABLE } from '../ui/scrollable.ts';
import {
  type LastRun,
  type PlacedComponent,
  type PlacedEdge,
  type PlacedWorld,
  type PlanDrawing,
  type PlanLayout,
  type PlanLinks,
  portInWords,
  scheduleInWords,
} from './plan-drawing.ts';
import { PlanList } from './plan-list.tsx';

const NAME_LETTER = 7;
const DETAIL_LETTER = 6.1;
const INSET = 11;
/** A group, not an image: the boxes are links. */
const ROLE = 'group';

/** What it may use and keep, in a few words. */
function marksOf({ uses, persist, schedule }: PlacedComponent): string {
  return [persist ? 'keeps state' : '', uses.join(', '), schedule === null ? '' : 'scheduled']
    .filter((mark) => mark !== '')
    .join(' · ');
}

/** The marks, or where there is no room for the names of the capabilities, how many they are. */
function marksWithin(component: PlacedComponent, room: number): string {
  const marks = marksOf(component);
  if (marks === '') return 'uses nothing';
  if (marks.length * DETAIL_LETTER <= room || component.uses.length < 2) return shortened(marks, room, DETAIL_LETTER);
  const counted = marks.replace(component.uses.join(', '), `uses ${component.uses.length}`);
  return shortened(counted, room, DETAIL_LETTER);
}

function runInWords(run: LastRun): string {
  return run.ok ? tookInWords(run.took_ms) : 'failed';
}

function ComponentBox({
  component,
  run,
  links,
}: {
  component: PlacedComponent;
  run: LastRun | undefined;
  links: PlanLinks;
}) {
  const { x, y, width, height, name, path, lang, persist } = component;
  const marks = marksOf(component);
  const took = run === undefined ? '' : runInWords(run);
  const textX = x + INSET + (persist ? 5 : 0);
  const nameRoom = x + width - INSET - lang.length * DETAIL_LETTER - 8 - textX;
  const marksRoom = x + width - INSET - took.length * DETAIL_LETTER - 8 - textX;
  const href = links.hrefOf(component);
  const body = (
    <>
      <title>{`${path}, ${lang}${marks === '' ? '' : `: ${marks}`}${took === '' ? '' : `; last ${took}`}`}</title>
      <rect x={x} y={y} width={width} height={height} rx={6} className="plan-box" />
      {persist && <rect x={x + 1} y={y + 7} width={5} height={height - 14} rx={2} className="plan-keeps" />}
      <text x={textX} y={y + 22} fontSize={13.5} fontWeight={560} className="plan-name">
        {shortened(name, nameRoom, NAME_LETTER)}
      </text>
      <text x={x + width - INSET} y={y + 22} fontSize={11.5} textAnchor="end" className="plan-lang">
        {lang}
      </text>
      <text x={textX} y={y + 41} fontSize={11.5} className="plan-detail">
        {marksWithin(component, marksRoom)}
      </text>
      {took !== '' && (
        <text
          x={x + width - INSET}
          y={y + 41}
          fontSize={11.5}
          textAnchor="end"
          className={run?.ok === false ? 'plan-failed' : 'plan-detail'}
        >
          {took}
        </text>
      )}
    </>
  );
  const look = path === links.chosen ? 'plan-chosen' : undefined;
  return <g className={look}>{href === null ? body : <a href={href}>{body}</a>}</g>;
}

/** What goes into a world and what comes out of it. */
function portsOf({ imports, exports }: PlacedWorld): string {
  const ins = imports.map(portInWords).join(', ');
  const outs = exports.map(({ name }) => name).join(', ');
  return [ins === '' ? '' : `takes ${ins}`, outs === '' ? '' : `gives ${outs}`]
    .filter((half) => half !== '')
    .join('; ');
}

function WorldBox({ world }: { world: PlacedWorld }) {
  const { x, y, width, height, name, schedule, depth } = world;
  const ports = portsOf(world);
  const room = width - 2 * INSET;
  return (
    <g>
      <rect
        x={x}
        y={y}
        width={width}
        height={height}
        rx={9}
        className={depth % 2 === 0 ? 'plan-world' : 'plan-inner'}
      />
      <text x={x + INSET} y={y + 22} fontSize={12.5} fontWeight={600} className="plan-name">
        {shortened(name, room, NAME_LETTER)}
      </text>
      {ports !== '' && (
        <text x={x + INSET} y={y + 39} fontSize={11.5} className="plan-detail">
          <title>{ports}</title>
          {shortened(ports, room, DETAIL_LETTER)}
        </text>
      )}
      {schedule !== null && (
        <text x={x + INSET} y={y + (ports === '' ? 39 : 57)} fontSize={11.5} className="plan-detail">
          {shortened(scheduleInWords(schedule), room, DETAIL_LETTER)}
        </text>
      )}
    </g>
  );
}

function EdgeLine({ edge: { path, tip, names, label } }: { edge: PlacedEdge }) {
  const { x, y } = tip;
  const head = tip.towards === 'down' ? `M${x - 4} ${y - 7}h8L${x} ${y}Z` : `M${x - 7} ${y - 4}v8L${x} ${y}Z`;
  return (
    <g>
      <path d={path} className="plan-edge" />
      <path d={head} className="plan-tip" />
      {label !== null && (
        <text x={label.x} y={label.y + 4} fontSize={11} textAnchor="middle" className="plan-flow">
          {names.join(', ')}
        </text>
      )}
    </g>
  );
}

function Drawing({
  layout,
  runs,
  links,
  className,
}: {
  layout: PlanLayout;
  runs: Readonly<Record<string, LastRun>>;
  links: PlanLinks;
  className: string;
}) {
  const { width, height, worlds, components, edges } = layout;
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      className={`plan ${className}`}
      role={ROLE}
      aria-label="The plan: what runs after what. The list below says the same."
    >
      {worlds.map((world) => (
        <WorldBox key={world.path} world={world} />
      ))}
      {edges.map((edge) => (
        <EdgeLine key={`${edge.from} ${edge.to}`} edge={edge} />
      ))}
      {components.map((component) => (
        <ComponentBox key={component.path} component={component} run={runs[component.path]} links={links} />
      ))}
    </svg>
  );
}

/** From which width of its place on a drawing in layers is shown, and the column not: the narrowest that holds it. */
const WIDTHS = [
  [448, 'hidden @md:block', '@md:hidden'],
  [576, 'hidden @xl:block', '@xl:hidden'],
  [768, 'hidden @3xl:block', '@3xl:hidden'],
  [1024, 'hidden @5xl:block', '@5xl:hidden'],
] as const;
const WIDEST = ['hidden @5xl:block', '@5xl:hidden'] as const;

function classesFor(width: number): readonly [layers: string, column: string] {
  const fitting = WIDTHS.find(([room]) => width <= room);
  return fitting === undefined ? WIDEST : [fitting[1], fitting[2]];
}

/** `runs`: the last call of each component, by its path. */
export function PlanGraph({
  drawing,
  runs = {},
  links,
}: {
  drawing: PlanDrawing;
  runs?: Readonly<Record<string, LastRun>>;
  links: PlanLinks;
}) {
  const { layers, column, count } = drawing;
  if (count === 0) return <p className="text-ink-2">It has no component yet.</p>;
  const [forLayers, forColumn] = classesFor(layers?.width ?? Number.POSITIVE_INFINITY);
  return (
    <div className="@container min-w-0">
      {layers !== null && (
        <div className={`overflow-x-auto ${forLayers}`} {...SCROLLABLE}>
          <Drawing layout={layers} runs={runs} links={links} className="block max-w-none" />
        </div>
      )}
      {column !== null && (
        <Drawing
          layout={column}
          runs={runs}
          links={links}
          className={`h-auto max-w-full ${layers === null ? 'block' : forColumn}`}
        />
      )}
      {column === null && (
        <p className="text-ink-2">It has {count.toLocaleString('en')} components: too many to draw. They are listed.</p>
      )}
      <PlanList drawing={drawing} runs={runs} links={links} open={column === null} />
    </div>
  );
}
