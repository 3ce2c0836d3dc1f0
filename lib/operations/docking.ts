/** Docking: which version of which workbook a sandbox runs, and what must be accepted before that changes. */
import { WinterdockError } from '../base/errors.ts';
import type { PatchInput } from '../contract/schema.ts';
import type { InstancePatch } from '../registry/instances.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { PlanProblem, WorkbookPlan } from '../workbooks/types.ts';
import { checkUpgrade } from '../workbooks/upgrade.ts';

type Parts = { registry: Pick<Registry, 'workbooks'> };
type Docking = Required<Pick<InstancePatch, 'workbook' | 'workbookVersion'>>;

/** Breaking changes, or problems, that are in the message. */
const TOLD = 3;

/** The docking to a version of a workbook, by default the newest. Throws `validation`. */
export async function dockingTo(
  { registry }: Parts,
  tenant: string,
  workbook: string,
  version?: number,
): Promise<Docking & { plan: WorkbookPlan }> {
  const row = await registry.workbooks.get(tenant, workbook);
  const address = (part = '', query = '') => `/api/workbooks/${workbook}${part}?tenant=${tenant}${query}`;
  if (row === null) {
    throw refused(
      'workbook',
      `The tenant "${tenant}" has no workbook "${workbook}".`,
      `Store it first: winterdock workbook put ${workbook} FILE --tenant ${tenant}, or PUT ${address()}.`,
    );
  }
  const found = await registry.workbooks.planOf(tenant, workbook, version ?? row.version);
  if (found === null) {
    throw refused(
      'workbook_version',
      `The workbook "${workbook}" has no version ${version}; the newest is ${row.version}.`,
      `List its versions: winterdock workbook versions ${workbook} --tenant ${tenant}, or GET ${address('/versions')}.`,
    );
  }
  if (found.plan === null) {
    const at = found.version;
    const stored = await registry.workbooks.version(tenant, workbook, at);
    const problems = stored === null ? [] : (JSON.parse(stored.problemList) as PlanProblem[]);
    const cli = `winterdock workbook plan ${workbook} --version ${at} --tenant ${tenant}`;
    throw refused(
      'workbook',
      `The workbook "${workbook}" cannot be docked: version ${at} has ${problemsInWords(problems)}`,
      `Read all of them: ${cli}, or GET ${address('/plan', `&version=${at}`)}. Then store a version without them.`,
    );
  }
  return { workbook, workbookVersion: found.version, plan: JSON.parse(found.plan) as WorkbookPlan };
}

/**
 * What a change of a sandbox's settings does to its docking: nothing when it names no workbook. Throws `validation`,
 * and `conflict` with the changes when some of them break and are not accepted.
 */
export async function dockingOf(parts: Parts, row: InstanceRow, input: PatchInput): Promise<Partial<Docking>> {
  const { workbook, workbook_version: version, accept_changes: accepted = false } = input;
  if (workbook === undefined && version === undefined) return {};
  const id = workbook === undefined ? row.workbook : workbook;
  if (id === null) {
    if (version !== undefined) {
      throw refused(
        'workbook_version',
        `The sandbox "${row.id}" is docked to no workbook, so it has no version to change.`,
        'Name the workbook as well.',
      );
    }
    return { workbook: null, workbookVersion: null };
  }
  const { plan, ...docking } = await dockingTo(parts, row.tenant, id, version);
  const before = await planBefore(parts, row);
  if (before === null || accepted) return docking;
  const changes = checkUpgrade(before, plan);
  const breaking = changes.filter((change) => change.breaking);
  if (breaking.length === 0) return docking;
  const told = breaking.slice(0, TOLD).map(({ message }) => message);
  const more = breaking.length > TOLD ? ` And ${breaking.length - TOLD} more.` : '';
  throw new WinterdockError('conflict', `The change breaks what the sandbox has: ${told.join(' ')}${more}`, {
    hint: 'Send it again with accept_changes: true to do it anyway.',
    extra: { from: row.workbookVersion, to: docking.workbookVersion, changes },
  });
}

/** The ledger's words for a docking. */
export function dockingWords({ workbook, workbookVersion }: Partial<Docking>): string | null {
  if (workbook === undefined) return null;
  return workbook === null ? 'no workbook' : `workbook ${workbook}, version ${workbookVersion}`;
}

async function planBefore({ registry }: Parts, row: InstanceRow): Promise<WorkbookPlan | null> {
  if (row.workbook === null || row.workbookVersion === null) return null;
  const stored = await registry.workbooks.planOf(row.tenant, row.workbook, row.workbookVersion);
  return stored === null || stored.plan === null ? null : (JSON.parse(stored.plan) as WorkbookPlan);
}

/** `2 problems. Line 3: … And 1 more.` */
function problemsInWords(problems: readonly PlanProblem[]): string {
  const told = problems.slice(0, TOLD).map(({ line, message }) => `Line ${line}: ${message}`);
  const more = problems.length > TOLD ? ` And ${problems.length - TOLD} more.` : '';
  return `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}. ${told.join(' ')}${more}`;
}

/** `message`: a sentence. */
function refused(path: string, message: string, hint: string): WinterdockError {
  return new WinterdockError('validation', message, { hint, extra: { errors: [{ path, message }] } });
}
