/**
 * What is asked of the workbook that a sandbox is docked to, as the steps that its process runs. A process runs the
 * version that its first call found until it ends. Knows nothing of wakes.
 */
import { createHash } from 'node:crypto';
import { WinterdockError } from '../base/errors.ts';
import { type DockedPlan, DockedPlans, findComponent, worldsOfPlan } from '../workbooks/docked.ts';
import { portProblem } from '../workbooks/port-values.ts';
import type { PlanComponent, PlanWorld, WorkbookPlan } from '../workbooks/types.ts';
import { stepsOfWorld, type WorkflowSteps } from '../workbooks/workflow-steps.ts';
import type { ComponentSpec, ComponentStep, ComponentsRequest } from '../workers/protocol/component-call.ts';
import type { InstanceProcess } from '../workers/protocol/instance.ts';
import { type OwnContext, requireOwnInstance } from './engine.ts';
import type { SandboxRuntime } from './runtimes.ts';
import type { WorkbookCall } from './workbook-call.ts';

/** The request for the process, and what its steps and outputs are called. */
export interface PreparedCall {
  request: ComponentsRequest;
  paths: string[];
  outputs: WorkflowSteps['outputs'];
  docked: PinnedPlan;
}

interface PinnedPlan extends DockedPlan {
  id: string;
}

export class ComponentRequests {
  readonly #engine: OwnContext;
  readonly #plans: DockedPlans;
  readonly #pinned = new WeakMap<InstanceProcess, PinnedPlan>();
  readonly #specs = new WeakMap<PlanComponent, ComponentSpec>();

  constructor(engine: OwnContext) {
    this.#engine = engine;
    this.#plans = new DockedPlans(engine.registry.workbooks);
  }

  /** Throws `conflict` without a workbook, `not_found` and `validation` for what the plan has not. */
  async prepare(runtime: SandboxRuntime, call: WorkbookCall, trigger: string): Promise<PreparedCall> {
    const docked = await this.#planFor(runtime);
    const { plan, version, id } = docked;
    const { component, input = {}, timeoutMs, longestMs } = call;
    const { steps, outputs } =
      component === null ? this.#stepsOf(requireWorld(plan, call.world), input) : this.#single(plan, component);
    const request: ComponentsRequest = {
      workbook: { id, version },
      steps,
      input: JSON.stringify(input),
      trigger,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(longestMs === undefined ? {} : { longestMs }),
    };
    return { request, paths: steps.map((step) => step.component.path), outputs, docked };
  }

  /** The process that ran a call goes on with its plan, whatever the sandbox is docked to meanwhile. */
  pin({ process }: SandboxRuntime, { docked }: PreparedCall): void {
    if (process !== null && !this.#pinned.has(process)) this.#pinned.set(process, docked);
  }

  async #planFor({ id, process }: SandboxRuntime): Promise<PinnedPlan> {
    const pinned = process === null ? undefined : this.#pinned.get(process);
    if (pinned !== undefined) return pinned;
    const row = await requireOwnInstance(this.#engine, id);
    return { ...(await this.#plans.requiredPlan(row)), id: row.workbook ?? '' };
  }

  #single(plan: WorkbookPlan, name: string): { steps: ComponentStep[]; outputs: WorkflowSteps['outputs'] } {
    const component = this.#specOf(findComponent(plan, name));
    return { steps: [{ component, after: [], inputs: null }], outputs: [] };
  }

  #stepsOf(
    world: PlanWorld,
    input: Record<string, unknown>,
  ): { steps: ComponentStep[]; outputs: WorkflowSteps['outputs'] } {
    const problem = portProblem(world.imports, input, { strict: true });
    if (problem !== null) {
      throw new WinterdockError('validation', `The workflow "${world.path}" cannot begin: ${problem}`, {
        hint: 'Its plan says what it imports.',
        extra: { errors: [{ path: 'input', message: problem }] },
      });
    }
    const { steps, outputs } = stepsOfWorld(world);
    return { steps: steps.map((step) => ({ ...step, component: this.#specOf(step.component) })), outputs };
  }

  #specOf(component: PlanComponent): ComponentSpec {
    const known = this.#specs.get(component);
    if (known !== undefined) return known;
    const { path, lang, src, file, uses, in: inputs, out, persist, persist_memory: whole } = component;
    const keeps = !persist ? 'no' : whole === true ? 'memory' : 'state';
    const made = [lang, src, file ?? null, uses, keeps];
    const hash = createHash('sha256').update(JSON.stringify(made)).digest('hex');
    const spec: ComponentSpec = { path, lang, hash, src, uses, in: inputs, out, persist: keeps };
    if (file !== undefined) spec.file = file;
    this.#specs.set(component, spec);
    return spec;
  }
}

/** The world of a name or path, or the only one. */
function requireWorld(plan: WorkbookPlan, name: string | undefined): PlanWorld {
  const candidates = name === undefined ? plan.worlds : worldsOfPlan(plan);
  const exact = candidates.filter(({ path }) => name === undefined || path === name);
  const found = exact.length > 0 ? exact : candidates.filter((world) => world.name === name);
  const [world] = found;
  if (world !== undefined && found.length === 1) return world;
  const paths = (found.length > 0 ? found : candidates).map(({ path }) => path).slice(0, 100);
  const message =
    found.length > 0
      ? `The workbook has ${found.length} workflows ${name === undefined ? '' : `named "${name}"`}: name one by its path.`
      : `The workbook has no workflow${name === undefined ? '' : ` "${name.slice(0, 200)}"`}.`;
  throw new WinterdockError(found.length > 0 ? 'validation' : 'not_found', message.replace(' :', ':'), {
    hint:
      paths[0] === undefined ? 'There are none.' : `Give the field "world" one of ${paths.slice(0, 10).join(', ')}.`,
    extra: { candidates: paths },
  });
}
