/**
 * A world of a plan as steps in the order of their dependencies: nested worlds are dissolved, each input names the step
 * or the import that it comes from. Pure.
 */
import type { PlanComponent, PlanWorld } from './types.ts';

/** Where a value comes from: an input of the whole workflow, or an output of an earlier step. */
type ValueSource = { input: string } | { step: number; output: string };

export interface WorkflowStep {
  component: PlanComponent;
  /** Steps, by number, that must be done before. */
  after: number[];
  inputs: { name: string; from: ValueSource }[];
}

export interface WorkflowSteps {
  steps: WorkflowStep[];
  /** The exports of the world. */
  outputs: { name: string; from: ValueSource }[];
}

/** What one component or nested world came to. */
interface Unit {
  steps: number[];
  outputs: ReadonlyMap<string, ValueSource>;
}

export function stepsOfWorld(world: PlanWorld): WorkflowSteps {
  const steps: WorkflowStep[] = [];
  const { outputs } = addWorld(steps, world, new Map(), []);
  return { steps, outputs: [...outputs].map(([name, from]) => ({ name, from })) };
}

/** `imports`: what the parent gives. An import that it does not give is an input of the whole workflow. */
function addWorld(
  steps: WorkflowStep[],
  world: PlanWorld,
  imports: ReadonlyMap<string, ValueSource>,
  after: readonly number[],
): Unit {
  const members = new Map<string, PlanComponent | PlanWorld>(
    [...world.components, ...world.workflows].map((member) => [member.name, member]),
  );
  const units = new Map<string, Unit>();
  const sourceOf = (name: string, deps: readonly string[]): ValueSource => {
    const given = deps.map((dep) => units.get(dep)?.outputs.get(name)).find((source) => source !== undefined);
    return given ?? imports.get(name) ?? { input: name };
  };
  const add = (name: string): void => {
    const member = members.get(name);
    if (member === undefined || units.has(name)) return;
    for (const dep of member.deps) add(dep);
    const before = [...after, ...member.deps.flatMap((dep) => units.get(dep)?.steps ?? [])];
    if ('lang' in member) {
      const inputs = member.in.map((port) => ({ name: port.name, from: sourceOf(port.name, member.deps) }));
      const step = steps.push({ component: member, after: [...new Set(before)], inputs }) - 1;
      const outputs = new Map(member.out.map((port) => [port.name, { step, output: port.name }]));
      units.set(name, { steps: [step], outputs });
      return;
    }
    const given = new Map(member.imports.map((port) => [port.name, sourceOf(port.name, member.deps)]));
    units.set(name, addWorld(steps, member, given, [...new Set(before)]));
  };
  for (const name of members.keys()) add(name);
  const exported = world.exports.flatMap(({ name }): [string, ValueSource][] => {
    const source = [...units.values()].map(({ outputs }) => outputs.get(name)).find((found) => found !== undefined);
    return source === undefined ? [] : [[name, source]];
  });
  return { steps: [...units.values()].flatMap((unit) => unit.steps), outputs: new Map(exported) };
}
