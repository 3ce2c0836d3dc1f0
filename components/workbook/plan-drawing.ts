/**
 * A plan with positions, as it is sent to the browser: without sources. Types and words only; plan-layout.ts makes it.
 */
import type { ComponentPort, PlanComponent, PlanSchedule } from '#lib/contract/schema.ts';

export interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

export type PlacedComponent = Place &
  Pick<PlanComponent, 'name' | 'path' | 'lang' | 'deps' | 'uses' | 'in' | 'out' | 'persist' | 'schedule' | 'line'>;

export interface PlacedWorld extends Place {
  name: string;
  path: string;
  /** 0 for a world that is in no other. */
  depth: number;
  deps: readonly string[];
  schedule: PlanSchedule | null;
  imports: readonly ComponentPort[];
  exports: readonly ComponentPort[];
  line: number;
}

export interface PlacedEdge {
  /** Paths of both ends. */
  from: string;
  to: string;
  /** Outputs that go over it. */
  names: readonly string[];
  /** An SVG path. */
  path: string;
  /** Where the tip of its arrow is, and where it points. */
  tip: { x: number; y: number; towards: 'down' | 'right' };
  /** The centre of its label; null where there is no room for one. */
  label: { x: number; y: number } | null;
}

export interface PlanLayout {
  width: number;
  height: number;
  /** Parents before children. */
  worlds: PlacedWorld[];
  components: PlacedComponent[];
  edges: PlacedEdge[];
}

export interface PlanDrawing {
  /** In layers by dependency. Null when the plan is too large for it. */
  layers: PlanLayout | null;
  /** One below the other, for narrow places. Null when the plan is too large for it. */
  column: PlanLayout | null;
  /** All components and worlds, without useful positions: for the list in words. At most `LISTED` components. */
  listed: Pick<PlanLayout, 'worlds' | 'components'>;
  /** How many components the plan has. */
  count: number;
}

/** The last call of a component. */
export interface LastRun {
  took_ms: number;
  ok: boolean;
}

export interface PlanLinks {
  /** Where the box of a component leads; null: nowhere. */
  hrefOf(component: Pick<PlacedComponent, 'path' | 'line'>): string | null;
  /** The path of the component that is chosen. */
  chosen?: string;
}

/** The type of a port as it is written in a source. */
export function portInWords({ name, type, optional }: ComponentPort): string {
  return `${name}${optional ? '?' : ''}: ${type}`;
}

/** A schedule in a few words: `at 0 3 * * *, Europe/Berlin`. */
export function scheduleInWords({ cron, timezone, at, repeat }: PlanSchedule): string {
  const when =
    cron !== null
      ? `cron ${cron}`
      : at === null || at === undefined
        ? 'by a date'
        : `from ${new Date(at * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const again = cron === null && repeat ? `, again ${repeat}` : '';
  return `${when}${again}${timezone === null ? '' : `, ${timezone}`}`;
}
