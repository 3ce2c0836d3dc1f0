/**
 * One world: who depends on whom, which output feeds which input, what comes in and what goes out. Nested worlds are
 * resolved first. Pure. Knows nothing of org.
 */
import { cyclesOf } from './cycles.ts';
import type { DeclaredComponent, DeclaredWorld, PlacedName, PlacedPort } from './declarations.ts';
import { requireNoInputs } from './plan-schedule.ts';
import { typesMeet } from './port-types.ts';
import { nearestTo, type PlanProblems, type SourcePlace } from './problems.ts';
import type { ComponentPort, PlanEdge, PlanWorld } from './types.ts';

/** The names of the components and sub-workflows of one world, with their places. */
export type SiblingPlaces = Map<string, SourcePlace>;

export interface DraftWorld {
  world: PlanWorld;
  imports: PlacedPort[];
  exports: PlacedName[] | null;
  deps: PlacedName[];
  place: SourcePlace;
  schedulePlace: SourcePlace | null;
  names: SiblingPlaces;
  components: DeclaredComponent[];
  workflows: DraftWorld[];
}

/** A component or sub-workflow, as its siblings see it. */
interface Sibling {
  name: string;
  place: SourcePlace;
  deps: PlacedName[];
  inputs: PlacedPort[];
  outputs: PlacedPort[];
}

/** Producers of one output that are remembered: more than one is a problem already. */
const MOST_PRODUCERS = 8;
const MOST_EDGES_SHOWN = 8;

/** An empty world in or beside others. */
export function draftWorld(declared: DeclaredWorld, outer: DraftWorld | null, outerPath: string | null): DraftWorld {
  const { name, schedule, schedulePlace, imports, exports, deps, place } = declared;
  const path = outer === null || outerPath === null ? name : `${outerPath}/${name}`;
  const world: PlanWorld = {
    name,
    path,
    schedule,
    imports: [],
    exports: [],
    components: [],
    edges: [],
    workflows: [],
    deps: deps.map((dep) => dep.name),
    line: place.line,
  };
  return { world, imports, exports, deps, place, schedulePlace, names: new Map(), components: [], workflows: [] };
}

/** Fills in a world and those in it. */
export function resolveWorld(draft: DraftWorld, problems: PlanProblems): PlanWorld {
  const { world } = draft;
  world.workflows = draft.workflows.map((nested) => resolveWorld(nested, problems));
  world.components = draft.components.map(({ component }) => component);
  const siblings = siblingsOf(draft);
  const byName = new Map(siblings.map((sibling) => [sibling.name, sibling]));
  for (const sibling of siblings) checkDeps(sibling, byName, problems);
  for (const cycle of cyclesOf(siblings.map(({ name, deps }) => ({ name, deps: deps.map((dep) => dep.name) })))) {
    const first = byName.get(cycle[0] ?? '');
    const names = [...cycle.slice(0, MOST_EDGES_SHOWN), ...(cycle.length > MOST_EDGES_SHOWN ? ['…'] : []), cycle[0]];
    const message = `“${cycle[0]}” waits for itself: ${names.join(' → ')}.`;
    problems.add('cycle', first?.place ?? draft.place, message, 'Take one of these out of :deps.', cycle[0]);
  }
  const producers = producersOf(siblings, problems);
  const imports = new Map<string, ComponentPort>();
  for (const { port, place } of draft.imports) {
    if (imports.has(port.name))
      problems.add('duplicate', place, `“${world.name}” imports “${port.name}” twice.`, 'Keep one.', world.name);
    imports.set(port.name, port);
  }
  const declared = new Set(imports.keys());
  const consumed = new Set<string>();
  for (const sibling of siblings) {
    const fed = new Set<string>();
    const deps = new Set(sibling.deps.map((dep) => dep.name));
    for (const input of sibling.inputs) {
      const from = producers.get(input.port.name)?.find(({ name }) => deps.has(name));
      if (from) {
        checkTypes(from.port, input, `“${from.name}” gives`, sibling.name, problems);
        world.edges.push({ from: from.name, to: sibling.name, name: input.port.name });
        fed.add(from.name);
        consumed.add(input.port.name);
        continue;
      }
      const known = imports.get(input.port.name);
      if (known !== undefined && declared.has(known.name))
        checkTypes(known, input, `“${world.name}” imports`, sibling.name, problems);
      else if (deps.size === 0) infer(imports, input, sibling.name, problems);
      else if (!input.port.optional) dangling(sibling, input, { world, producers }, problems);
    }
    for (const dep of sibling.deps)
      if (byName.has(dep.name) && !fed.has(dep.name)) world.edges.push(orderEdge(dep.name, sibling.name));
  }
  world.imports = [...imports.values()];
  requireNoInputs(draft.schedulePlace, world.name, world.imports, problems);
  world.exports = exportsOf(draft, producers, consumed, problems);
  return world;
}

function orderEdge(from: string, to: string): PlanEdge {
  return { from, to };
}

function siblingsOf(draft: DraftWorld): Sibling[] {
  const workflows = draft.workflows.map(({ world, deps, place }) => ({
    name: world.name,
    place,
    deps,
    inputs: world.imports.map((port) => ({ port, place })),
    outputs: world.exports.map((port) => ({ port, place })),
  }));
  return [...draft.components.map((one) => ({ name: one.component.name, ...one })), ...workflows];
}

function checkDeps(sibling: Sibling, byName: ReadonlyMap<string, Sibling>, problems: PlanProblems): void {
  for (const { name, place } of sibling.deps) {
    if (byName.has(name)) continue;
    const near = nearestTo(name, byName.keys());
    problems.add(
      'dependency',
      place,
      `“${sibling.name}” depends on “${name.slice(0, 80)}”, which is not in its world.`,
      near === null || near === sibling.name ? 'Remove it, or add a component of that name.' : `Did you mean ${near}?`,
      sibling.name,
    );
  }
}

type Producers = ReadonlyMap<string, readonly { name: string; port: ComponentPort }[]>;

/** Who gives which output: in one world an output has one producer. */
function producersOf(siblings: readonly Sibling[], problems: PlanProblems): Producers {
  const producers = new Map<string, { name: string; port: ComponentPort }[]>();
  for (const { name, outputs } of siblings) {
    for (const { port, place } of outputs) {
      const others = producers.get(port.name);
      if (others === undefined) producers.set(port.name, [{ name, port }]);
      else {
        if (others.length < MOST_PRODUCERS) others.push({ name, port });
        const message = `“${name}” and “${others[0]?.name}” both give the output “${port.name}”.`;
        problems.add('output_taken', place, message, 'Rename one of the outputs.', name);
      }
    }
  }
  return producers;
}

function checkTypes(
  given: ComponentPort,
  { port, place }: PlacedPort,
  giver: string,
  taker: string,
  problems: PlanProblems,
): void {
  if (typesMeet(given.type, port.type)) return;
  const message = `“${taker}” takes “${port.name}” as ${port.type}, but ${giver} it as ${given.type}.`;
  problems.add('type', place, message, `Make both ${given.type}, or one of them any.`, taker);
}

/** A component without dependencies takes what nobody declares from outside: its world imports it. */
function infer(
  imports: Map<string, ComponentPort>,
  { port, place }: PlacedPort,
  taker: string,
  problems: PlanProblems,
) {
  const other = imports.get(port.name);
  if (other === undefined) {
    imports.set(port.name, port);
    return;
  }
  if (!typesMeet(port.type, other.type) && !typesMeet(other.type, port.type)) {
    const message = `“${taker}” takes “${port.name}” from outside as ${port.type}, another component as ${other.type}.`;
    problems.add('type', place, message, `Make both ${other.type}, or rename one.`, taker);
  }
  const narrower = other.type === 'any' || typesMeet(port.type, other.type) ? port.type : other.type;
  imports.set(port.name, {
    name: port.name,
    type: port.type === 'any' ? other.type : narrower,
    optional: port.optional && other.optional,
  });
}

function dangling(
  sibling: Sibling,
  { port, place }: PlacedPort,
  { world, producers }: { world: PlanWorld; producers: Producers },
  problems: PlanProblems,
): void {
  const producer = producers.get(port.name)?.[0];
  problems.add(
    'input',
    place,
    `Nothing gives “${sibling.name}” its input “${port.name}”: none of what it depends on has that output, and “${world.name}” does not import it.`,
    producer !== undefined && producer.name !== sibling.name
      ? `Add ${producer.name} to its :deps.`
      : `Add :out ${port.name}:${port.type} to what it depends on, or :IMPORTS: ${port.name}:${port.type} to the world.`,
    sibling.name,
  );
}

function exportsOf(
  { world, exports }: DraftWorld,
  producers: Producers,
  consumed: ReadonlySet<string>,
  problems: PlanProblems,
): ComponentPort[] {
  if (exports === null)
    return [...producers].flatMap(([name, [first]]) => (first === undefined || consumed.has(name) ? [] : [first.port]));
  return exports.flatMap(({ name, place }) => {
    const port = producers.get(name)?.[0]?.port;
    if (port !== undefined) return [port];
    const near = nearestTo(name, producers.keys());
    const message = `“${world.name}” exports “${name.slice(0, 80)}”, which nothing in it gives.`;
    problems.add('dependency', place, message, near === null ? 'Remove it.' : `Did you mean ${near}?`, world.name);
    return [];
  });
}
