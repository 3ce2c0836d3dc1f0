/**
 * A lineage as an SVG drawn on the server: sandbox, copy, sandboxes made from it. Each box links to its page and shows
 * its own size on disk. A tree on a wide page, an indented list on a narrow one.
 */
import type { Lineage, LineageNode } from '#lib/contract/schema.ts';
import { CopyMark } from '../sandbox/copy-mark.tsx';
import { StateMark } from '../sandbox/state-mark.tsx';
import { sizeInWords } from '../ui/durations.ts';
import {
  columnLayout,
  columnsOf,
  keyOf,
  type LineageLayout,
  lineLayout,
  MOST_COLUMNS,
  type PlacedNode,
  shortened,
} from './lineage-layout.ts';

/** Widths of a letter in the two lines of a box, in drawing units, slightly generous. */
const NAME_LETTER = 6.9;
const DETAIL_LETTER = 6;
const INSET = 12;
/** A group, not an image: the boxes are links. */
const ROLE = 'group';
const MARK = 16;

function nameOf(node: LineageNode): string {
  return node.label ?? node.id;
}

function hrefOf(node: LineageNode): string | null {
  if (node.kind === 'instance') return `/sandboxes/${node.id}`;
  if (node.deleted) return null;
  return node.kind === 'snapshot' ? `/snapshots/${node.id}` : `/blueprints/${node.id}`;
}

/** The second line of a box: what it is, and its size on disk. */
function detailOf(node: LineageNode): string {
  const what = node.kind === 'instance' ? (node.state ?? 'sandbox') : node.kind;
  if (node.deleted) return node.kind === 'instance' ? 'deleted' : `${what}, deleted`;
  if (node.disk_bytes === null) return node.kind === 'instance' ? `${what}, never woken yet` : what;
  return `${what}, ${sizeInWords(node.disk_bytes)}`;
}

function Mark({ node, x, y }: { node: LineageNode; x: number; y: number }) {
  return node.kind === 'instance' ? (
    <StateMark state={node.state ?? 'created'} size={MARK} x={x} y={y} />
  ) : (
    <CopyMark kind={node.kind} size={MARK} x={x} y={y} />
  );
}

function Box({ placed, current, truncated }: { placed: PlacedNode; current: boolean; truncated: boolean }) {
  const { node, x, y, width, height, count } = placed;
  if (node === null) {
    return (
      <g className="lineage-more">
        <rect x={x} y={y} width={width} height={height} rx={7} />
        <text x={x + INSET} y={y + height / 2 + 5} fontSize={13}>
          and {count.toLocaleString('en')}
          {truncated ? ' or more' : ' more'}
        </text>
      </g>
    );
  }
  const textX = x + INSET + MARK + 9;
  const room = x + width - INSET - textX;
  const href = current ? null : hrefOf(node);
  const body = (
    <>
      <title>{`${nameOf(node)} (${node.kind === 'instance' ? 'sandbox' : node.kind} ${node.id})`}</title>
      <rect x={x} y={y} width={width} height={height} rx={7} className="lineage-box" />
      <Mark node={node} x={x + INSET} y={y + 9} />
      <text x={textX} y={y + 22} fontSize={13.5} fontWeight={current ? 640 : 540} className="lineage-name">
        {shortened(nameOf(node), room, NAME_LETTER)}
      </text>
      <text x={textX} y={y + 40} fontSize={12} className="lineage-detail">
        {shortened(detailOf(node), room, DETAIL_LETTER)}
      </text>
    </>
  );
  const look = [current && 'lineage-current', node.deleted && 'lineage-gone'].filter(Boolean).join(' ') || undefined;
  return <g className={look}>{href === null ? body : <a href={href}>{body}</a>}</g>;
}

function Drawing({
  layout,
  current,
  truncated,
  className,
}: {
  layout: LineageLayout;
  current: string;
  /** There are more nodes than the data include. */
  truncated: boolean;
  className: string;
}) {
  const { width, height, placed, links } = layout;
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      className={`lineage h-auto max-w-full ${className}`}
      role={ROLE}
      aria-label="Lineage, from what came first"
    >
      {links.map(({ key, path }) => (
        <path key={key} d={path} className="lineage-link" />
      ))}
      {placed.map((box) => (
        <Box key={box.key} placed={box} current={box.key === current} truncated={truncated} />
      ))}
    </svg>
  );
}

/** The same in words, for screen readers. */
function InWords({ lineage }: { lineage: Lineage }) {
  const byKey = new Map(lineage.nodes.map((node) => [keyOf(node), node]));
  const words = (key: string) => {
    const node = byKey.get(key);
    return node === undefined ? key : `${node.kind === 'instance' ? 'sandbox' : node.kind} ${nameOf(node)}`;
  };
  return (
    <ul className="sr-only">
      {lineage.edges.map(({ from, to }) => (
        <li key={to}>
          {words(to)} came from {words(from)}
        </li>
      ))}
    </ul>
  );
}

/** `current`: the kind and id of what the page is about. */
export function LineageTree({ lineage, current }: { lineage: Lineage; current: Pick<LineageNode, 'kind' | 'id'> }) {
  const key = keyOf(current);
  const fits = columnsOf(lineage, key) <= MOST_COLUMNS;
  return (
    <div>
      {fits && (
        <Drawing
          layout={columnLayout(lineage, key)}
          current={key}
          truncated={lineage.truncated}
          className="hidden xl:block"
        />
      )}
      <Drawing
        layout={lineLayout(lineage, key)}
        current={key}
        truncated={lineage.truncated}
        className={fits ? 'block xl:hidden' : 'block'}
      />
      <InWords lineage={lineage} />
      {lineage.truncated && <p className="mt-3 text-small text-ink-3">There are more than are drawn.</p>}
    </div>
  );
}
