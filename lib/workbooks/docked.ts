/**
 * The plan of the workbook that a sandbox is docked to, and what is looked up in it. Reads stored versions through the
 * registry's interface; a plan that was read is kept by its hash. Knows nothing of org.
 */
import { WinterdockError } from '../base/errors.ts';
import type { PlanComponent, PlanWorld, WorkbookPlan } from './types.ts';

/** A version as it is stored. */
export interface StoredPlan {
  version: number;
  hash: string;
  /** JSON of the plan; null when its source has problems. */
  plan: string | null;
}

export interface PlanStore {
  /** A version of a workbook; null when there is none. */
  planOf(tenant: string, id: string, version: number): Promise<StoredPlan | null>;
}

/** What an instance's row says of its workbook. */
export interface DockedInstance {
  id: string;
  tenant: string;
  workbook: string | null;
  workbookVersion: number | null;
}

export interface DockedPlan {
  plan: WorkbookPlan;
  version: number;
  hash: string;
}

/** Plans kept in memory. */
const KEPT_PLANS = 64;

/** Reads the plans of docked workbooks. */
export class DockedPlans {
  readonly #store: PlanStore;
  readonly #kept = new Map<string, WorkbookPlan>();

  constructor(store: PlanStore) {
    this.#store = store;
  }

  /** The plan that a sandbox runs; null when it is docked to no workbook, or to one that is not there. */
  async dockedPlan({ tenant, workbook, workbookVersion }: DockedInstance): Promise<DockedPlan | null> {
    if (workbook === null || workbookVersion === null) return null;
    const stored = await this.#store.planOf(tenant, workbook, workbookVersion);
    if (stored === null || stored.plan === null) return null;
    const { version, hash } = stored;
    let plan = this.#kept.get(hash);
    if (plan === undefined) plan = JSON.parse(stored.plan) as WorkbookPlan;
    else this.#kept.delete(hash);
    this.#kept.set(hash, plan);
    if (this.#kept.size > KEPT_PLANS) this.#kept.delete(this.#kept.keys().next().value ?? '');
    return { plan, version, hash };
  }

  /** As `dockedPlan`; throws `conflict` where that is null. */
  async requiredPlan(instance: DockedInstance): Promise<DockedPlan> {
    const docked = await this.dockedPlan(instance);
    if (docked !== null) return docked;
    throw new WinterdockError(
      'conflict',
      instance.workbook === null
        ? `The sandbox "${instance.id}" has no workbook.`
        : `The workbook "${instance.workbook}" of the sandbox "${instance.id}" is not known here.`,
      { hint: 'Dock one: PATCH the sandbox with a workbook of its tenant.' },
    );
  }
}

/** Every world, own before nested. */
export function worldsOfPlan({ worlds }: WorkbookPlan): PlanWorld[] {
  const found: PlanWorld[] = [];
  const waiting = worlds.toReversed();
  for (let world = waiting.pop(); world; world = waiting.pop()) {
    found.push(world);
    waiting.push(...world.workflows.toReversed());
  }
  return found;
}

/** Every component, those of a world before those nested in it. */
export function componentsOfPlan(plan: WorkbookPlan): PlanComponent[] {
  return worldsOfPlan(plan).flatMap(({ components }) => components);
}

/** The paths of exactly the components that declare `:persist`, a world's own before nested ones. */
export function durableComponents(plan: WorkbookPlan): string[] {
  return componentsOfPlan(plan)
    .filter(({ persist }) => persist)
    .map(({ path }) => path);
}

/** How many schedules a plan declares. */
export function scheduledIn(plan: WorkbookPlan): number {
  return [...worldsOfPlan(plan), ...componentsOfPlan(plan)].filter(({ schedule }) => schedule !== null).length;
}

/**
 * The component of a name or path. Throws `not_found`, and `validation` with the candidates when a name is that of
 * several.
 */
export function findComponent(plan: WorkbookPlan, nameOrPath: string): PlanComponent {
  const all = componentsOfPlan(plan);
  const exact = all.find(({ path }) => path === nameOrPath);
  if (exact) return exact;
  const named = all.filter(({ name }) => name === nameOrPath);
  const [first, second] = named;
  if (first === undefined)
    throw new WinterdockError('not_found', `The workbook has no component "${nameOrPath.slice(0, 200)}".`, {
      hint: 'GET its plan for the names and paths of its components.',
    });
  if (second === undefined) return first;
  const paths = named.map(({ path }) => path);
  throw new WinterdockError('validation', `"${nameOrPath}" is the name of ${named.length} components.`, {
    hint: `Name one by its path: ${paths.slice(0, 10).join(', ')}.`,
    extra: { candidates: paths.slice(0, 100) },
  });
}

/** A component, or else a world, of a name or path, as something that can be due. Throws as `findComponent` does. */
export function findScheduled(plan: WorkbookPlan, nameOrPath: string): { target: 'component' | 'world'; path: string } {
  const worlds = worldsOfPlan(plan);
  const [exact] = worlds.filter(({ path }) => path === nameOrPath);
  if (exact !== undefined) return { target: 'world', path: exact.path };
  const isComponent = componentsOfPlan(plan).some(({ name, path }) => name === nameOrPath || path === nameOrPath);
  const named = worlds.filter(({ name }) => name === nameOrPath);
  if (!isComponent && named[0] !== undefined && named.length === 1) return { target: 'world', path: named[0].path };
  return { target: 'component', path: findComponent(plan, nameOrPath).path };
}
