/** The workbook that a sandbox is docked to, as its tab shows it. */
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type {
  ComponentPort,
  Instance,
  PlanComponent,
  PlanWorld,
  UpgradeAnswer,
  Workbook,
  WorkbookPlan,
} from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { readUpgrade, readWorkbook } from '../../workbooks/reading.ts';

export interface Docked {
  /** As it is now: its newest version. */
  workbook: Workbook;
  /** The version that the sandbox runs, and its plan. */
  version: number;
  plan: WorkbookPlan;
}

/** Null when it is docked to nothing, or to what is no workbook of its tenant. */
export async function readDocked(caller: Caller, instance: Instance): Promise<Docked | null> {
  const { workbook: id, workbook_version: version, tenant } = instance;
  if (id === null || version === null) return null;
  const found = await readWorkbook(caller, id, { tenant });
  if (found === null) return null;
  try {
    const { plan } = await getHost().operations.workbookPlan(caller, id, { tenant, version });
    return plan === null ? null : { workbook: found.workbook, version, plan };
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'not_found') return null;
    throw error;
  }
}

/** What a newer version would change; null when there is none that could be docked. */
export async function readOffer(caller: Caller, { workbook, version }: Docked): Promise<UpgradeAnswer | null> {
  const { id, tenant, version: to, components } = workbook;
  if (to <= version || components === null) return null;
  return readUpgrade(caller, id, { tenant, from: version, to });
}

/** What the Run form is about. */
export interface RunTarget {
  kind: 'component' | 'world';
  path: string;
}

function worldsIn(worlds: readonly PlanWorld[]): PlanWorld[] {
  return worlds.flatMap((world) => [world, ...worldsIn(world.workflows)]);
}

function componentsIn(plan: WorkbookPlan): PlanComponent[] {
  return worldsIn(plan.worlds).flatMap(({ components }) => components);
}

/** What the address asks for: a component, a world, or else the first world. */
export function targetIn(plan: WorkbookPlan, search: Readonly<Record<string, string>>): RunTarget | null {
  const component = componentsIn(plan).find(({ path }) => path === search.component);
  if (component !== undefined) return { kind: 'component', path: component.path };
  const world = plan.worlds.find(({ path }) => path === search.world) ?? plan.worlds[0];
  return world === undefined ? null : { kind: 'world', path: world.path };
}

/** The inputs of a component or a world. */
export function portsOfTarget(plan: WorkbookPlan, { kind, path }: RunTarget): readonly ComponentPort[] {
  if (kind === 'component') return componentsIn(plan).find((component) => component.path === path)?.in ?? [];
  return plan.worlds.find((world) => world.path === path)?.imports ?? [];
}

/** Paths of all that a schedule may run: worlds first, then components. */
export function targetsOf(plan: WorkbookPlan): string[] {
  const worlds = plan.worlds.map(({ path }) => path);
  return [...worlds, ...componentsIn(plan).map(({ path }) => path)];
}
