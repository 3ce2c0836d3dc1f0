/**
 * Goes on without files: where a start is refused because none of a drawer's files is there, their sandboxes get the
 * fault that they have without a file, and copies are known to be lost. Removes no row and no file.
 */
import { epochSeconds } from '../base/clock.ts';
import { LOST_COPIES, lookForFileOf } from '../ledger/empty-drawers.ts';
import { findStartRefusal } from '../ledger/start-check.ts';
import type { Fault } from '../lifecycle/words.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import type { RepairParts } from './adopt-file.ts';

const PAGE = 500;
const CAUSE = { ...systemAudit('operator'), actor: 'doctor' };

/** What was found of a file, and the fault of its sandbox. `other`: a file of another size lies there. */
const FAULT_OF: Readonly<Record<'absent' | 'other', { fault: Fault; reason: string }>> = {
  absent: { fault: 'missing', reason: 'its file was not there when the registry was accepted without it' },
  other: { fault: 'corrupt', reason: 'another file lay in its place when the registry was accepted without its own' },
};

/**
 * Gives up the files of drawers that have none, when a start is refused for them; otherwise does nothing. `reason` of
 * the person who accepts it. May be repeated. Returns what was done, a sentence each.
 */
export async function giveUpFiles(
  repair: RepairParts & { driver: RegistryDriver; keysFolder: string; onlyOf?: string },
  reason: string,
): Promise<string[]> {
  const refusal = await findStartRefusal(repair);
  if (refusal?.disagreement.kind !== 'no_files') return [];
  const { registry } = repair;
  const names = refusal.disagreement.drawers.map(({ name }) => name);
  let faulted = 0;
  for (let after: string | null = ''; after !== null; ) {
    const rows: InstanceRow[] = await registry.instances.withFile(after, PAGE);
    for (const row of rows) {
      if (row.fault === 'missing' || row.fault === 'corrupt') continue;
      if (repair.onlyOf !== undefined && row.ownerHost !== null && row.ownerHost !== repair.onlyOf) continue;
      if (!names.some((name) => row.vfsPath?.startsWith(`${name}/`) === true)) continue;
      const found = await lookForFileOf(repair, row);
      if (found !== 'absent' && found !== 'other') continue;
      const raised = FAULT_OF[found];
      const line = { reason: raised.fault, error: `${raised.reason}: ${reason}` };
      await registry.instances.setFault(row.id, raised, ledgerEntry(repair, row, CAUSE, 'fault.raised', line), row);
      faulted += 1;
    }
    after = rows.length < PAGE ? null : (rows.at(-1)?.id ?? null);
  }
  // Of copies no row says whose disk they are on.
  const lost = repair.onlyOf === undefined ? await lostCopiesIn(repair) : [];
  if (lost.length > 0) await registry.facts.write(LOST_COPIES, lost, epochSeconds(repair.clock));
  return [
    `${faulted} sandboxes have no file: fault missing`,
    ...(lost.length > 0 ? [`${lost.length} snapshots and blueprints have no file`] : []),
  ];
}

/** The hashes of copies whose files are not there. */
async function lostCopiesIn({ driver, drawers }: RepairParts & { driver: RegistryDriver }): Promise<string[]> {
  const moment = await driver.inspect();
  try {
    const lost = new Set<string>();
    for (const { kind, hash } of await moment.copies()) {
      if ((await drawers[kind].at(hash).stat()) === null) lost.add(hash);
    }
    return [...lost];
  } finally {
    await moment.close();
  }
}
