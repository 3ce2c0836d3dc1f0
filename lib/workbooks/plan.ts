/**
 * From a source to its plan, or to all that is wrong with it. Pure, and as slow as its parser: the server runs it in a
 * process with limits (parse-process.ts).
 */
import { componentOf, headingName, type PlacedName, worldOf } from './declarations.ts';
import { durableComponents, scheduledIn } from './docked.ts';
import { type OutlineHeading, outlineOf } from './outline.ts';
import { PlanProblems } from './problems.ts';
import { type DraftWorld, draftWorld, resolveWorld, type SiblingPlaces } from './resolve.ts';
import { sectionOf } from './sections.ts';
import type { PlanProblem, WorkbookPlan } from './types.ts';

export interface SourceReading {
  title: string | null;
  /** Null when there are problems. */
  plan: WorkbookPlan | null;
  problems: PlanProblem[];
  /** Paths of the components with `:persist`. */
  durable: string[];
  components: number;
  /** How many schedules it declares. */
  schedules: number;
}

/** The world of components that are below no `:workflow:` heading. */
const IMPLIED_WORLD = 'main';
const MAY_DECLARE = /:(?:component|workflow):/;
const COMMENTED = /^\*+[ \t]+(?:(?:TODO|DONE)[ \t]+)?(?:\[#.\][ \t]*)?COMMENT(?:[ \t]|$)/;
const TITLE = /^[ \t]*#\+title:[ \t]*(.*)$/im;
const TITLE_LENGTH = 200;

/** An open heading on the way from the file to the heading that is read. */
interface OpenHeading {
  level: number;
  /** The world that it is or is in; null: none. */
  world: DraftWorld | null;
  isComponent: boolean;
}

/** Reads a source. */
export function readSource(source: string): SourceReading {
  const text = source.replaceAll('\r\n', '\n').replace(/^\ufeff/, '');
  const { headings, problems: refusals } = outlineOf(text);
  const title = titleOf(text.slice(0, headings[0]?.start ?? text.length));
  if (refusals.length > 0) return { title, plan: null, problems: refusals, durable: [], components: 0, schedules: 0 };
  const problems = new PlanProblems();
  const { worlds, components } = worldsOf(text, headings, problems);
  if (components === 0) {
    const mend = 'Tag a heading :component: and give it a source block.';
    problems.add('component_body', { line: 1, column: 1 }, 'The source has no components.', mend);
  }
  for (const world of worlds) for (const dep of world.deps) isolated(world, dep, problems);
  const plan = { worlds: worlds.map((world) => resolveWorld(world, problems)) };
  const found = problems.list();
  return {
    title,
    plan: found.length === 0 ? plan : null,
    problems: found,
    durable: durableComponents(plan),
    components,
    schedules: scheduledIn(plan),
  };
}

/** The tree of worlds and components, as far as names and nesting go. */
function worldsOf(text: string, headings: readonly OutlineHeading[], problems: PlanProblems) {
  const worlds: DraftWorld[] = [];
  const top: SiblingPlaces = new Map();
  let implied: DraftWorld | null = null;
  let components = 0;
  const open: OpenHeading[] = [];
  let commentedAt = Number.POSITIVE_INFINITY;
  for (const heading of headings) {
    while ((open.at(-1)?.level ?? 0) >= heading.level) open.pop();
    if (heading.level <= commentedAt) commentedAt = Number.POSITIVE_INFINITY;
    if (commentedAt < heading.level) continue;
    const outer = open.at(-1) ?? { level: 0, world: null, isComponent: false };
    const lineEnd = text.indexOf('\n', heading.start);
    const line = text.slice(heading.start, lineEnd < 0 ? heading.end : lineEnd);
    if (COMMENTED.test(line)) {
      commentedAt = heading.level;
      continue;
    }
    const section = MAY_DECLARE.test(line) ? sectionOf(text, heading) : null;
    const isComponent = section?.tags.includes('component') ?? false;
    const isWorld = section?.tags.includes('workflow') ?? false;
    if (section === null || (!isComponent && !isWorld)) {
      open.push({ ...outer, level: heading.level });
      continue;
    }
    const name = headingName(section, problems);
    if (isComponent && isWorld)
      problems.add(
        'syntax',
        section.place,
        `“${name}” is both a component and a workflow.`,
        'Keep one of the tags.',
        name,
      );
    if (outer.isComponent) {
      const mend = 'Put it beside the component, not below it.';
      problems.add('component_body', section.place, `“${name}” is inside a component.`, mend, name);
    }
    if (isWorld) {
      const declared = worldOf(section, name, problems);
      const world = draftWorld(declared, outer.world, outer.world?.world.path ?? null);
      claim(outer.world?.names ?? top, { name, place: section.place }, problems);
      (outer.world?.workflows ?? worlds).push(world);
      open.push({ level: heading.level, world, isComponent: false });
      continue;
    }
    components += 1;
    let world = outer.world;
    if (world === null) {
      if (implied === null) {
        implied = impliedWorld(section.place.line);
        worlds.push(implied);
        claim(top, { name: IMPLIED_WORLD, place: section.place }, problems);
      }
      world = implied;
    }
    claim(world.names, { name, place: section.place }, problems);
    world.components.push(componentOf(section, name, `${world.world.path}/${name}`, problems));
    open.push({ level: heading.level, world, isComponent: true });
  }
  return { worlds, components };
}

function impliedWorld(line: number): DraftWorld {
  const place = { line, column: 1 };
  const unset = { schedule: null, schedulePlace: null, imports: [], exports: null, deps: [] };
  return draftWorld({ name: IMPLIED_WORLD, place, ...unset }, null, null);
}

/** Takes a name among siblings. */
function claim(names: SiblingPlaces, { name, place }: PlacedName, problems: PlanProblems): void {
  const other = names.get(name);
  if (other === undefined) names.set(name, place);
  else {
    const message = `The name “${name}” is taken on line ${other.line}.`;
    problems.add('duplicate', place, message, 'Rename one of the two.', name);
  }
}

function isolated(world: DraftWorld, { name, place }: PlacedName, problems: PlanProblems): void {
  const message = `“${world.world.name}” cannot depend on “${name}”: only workflows inside another one depend on each other.`;
  problems.add(
    'dependency',
    place,
    message,
    'Remove :DEPS:, or put both below one :workflow: heading.',
    world.world.name,
  );
}

function titleOf(preamble: string): string | null {
  const title =
    TITLE.exec(preamble)?.[1]
      ?.replaceAll(/\p{Cc}/gu, '')
      .trim()
      .slice(0, TITLE_LENGTH) ?? '';
  return title === '' ? null : title;
}
