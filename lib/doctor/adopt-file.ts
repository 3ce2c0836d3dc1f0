/**
 * Gives a file in a drawer its row back, or the row of its key its file: the row follows the file. A row changes only
 * by transitions of the state map, each with its ledger line. A file is verified first, and none is ever overwritten or
 * removed.
 */
import { join } from 'node:path';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { makeFolder, syncFolder } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { type InstanceId, isInstanceId } from '../base/ids.ts';
import { plan } from '../lifecycle/plan.ts';
import type { State } from '../lifecycle/state-map.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { FileRecord, InstanceRow, LedgerEntry, NewInstance } from '../registry/types.ts';
import { livePath, systemAudit } from '../sandboxes/engine.ts';
import { fileAt, hasLog } from '../sandboxes/files/file-locations.ts';
import { fileRecord, matchesRecord, stampAt } from '../sandboxes/files/file-verification.ts';
import { fileOnDisk } from '../storage/disk.ts';
import type { Drawers, RestingFile } from '../storage/drawer.ts';
import type { Readers } from '../vfs/types.ts';
import { DEFAULT_POLICY } from '../workers/protocol/policies.ts';

/** A file of a sandbox, wherever it lies. */
export interface AdoptableFile {
  id: string;
  /** Its address in the drawer, or a path in `orphans/`. */
  path: string;
  /** The drawer that it lies in, or was set aside from. */
  drawer: 'live' | 'cold' | 'archive';
}

export interface RepairParts {
  dataFolder: string;
  drawers: Drawers;
  registry: Registry;
  readers: Readers;
  clock: Clock;
}

/** The state of a sandbox whose file is in a drawer. */
const STATE_IN: Readonly<Record<AdoptableFile['drawer'], State>> = {
  live: 'suspended',
  cold: 'frozen',
  archive: 'archived',
};

/**
 * Verifies the file and inserts or updates its row. A new row belongs to `tenant`. `type` is the type of the ledger
 * line; with `mustBe` only the file with that record is accepted. Returns the row. Throws `corrupt` for a damaged file,
 * `validation` for a key that is no id, `conflict` for the id of a deleted sandbox and for a path that is taken,
 * `quota_exceeded`, and disk errors.
 */
export async function adoptFile(
  repair: RepairParts,
  candidate: AdoptableFile,
  { tenant, type, mustBe = null }: { tenant: string; type: string; mustBe?: FileRecord | null },
): Promise<InstanceRow> {
  const { registry, clock } = repair;
  const { id, drawer } = candidate;
  if (!isInstanceId(id)) throw new WinterdockError('validation', `"${id}" is not the id of a sandbox.`);
  const before = await registry.instances.get(id);
  if (before?.state === 'deleted') {
    throw new WinterdockError('conflict', `The sandbox "${id}" was deleted, and its id is never used again.`);
  }
  const home = homeOf(repair, id, drawer);
  const source = candidate.path === home.address ? home : setAsideFile(repair, candidate);
  const known = await prove(repair, candidate, source);
  const found = await stampAt(source);
  if (mustBe !== null && (found === null || !matchesRecord(mustBe, found, known))) {
    throw new WinterdockError(
      'corrupt',
      `The file at ${candidate.path} is not the one that was filed of "${id}": look at it, then --adopt it.`,
    );
  }
  const path = home.address;
  if (source !== home) await moveHome(repair, candidate, home);
  const stamp = await stampAt(home);
  if (stamp === null) throw new WinterdockError('missing_file', `The file of "${id}" has disappeared.`);
  const record = fileRecord(stamp, known);
  const cause = { ...systemAudit('operator'), actor: 'doctor' };
  const to = STATE_IN[drawer];
  const now = epochSeconds(clock);
  const hops = plan(before?.state ?? 'created', to) ?? [];
  const way: (State | null)[] = [before?.state ?? 'created', ...hops];
  const lines = (row: Pick<InstanceRow, 'id' | 'tenant'>): LedgerEntry[] => [
    ledgerEntry({ clock }, row, cause, type, { reason: `found at ${candidate.path}` }),
    ...hops.map((hop, at) => ledgerEntry({ clock }, row, cause, 'transition', { from: way[at] ?? null, to: hop })),
  ];
  if (before === null) {
    const instance: NewInstance = {
      id,
      tenant,
      name: null,
      vfsPath: path,
      ephemeral: false,
      policy: DEFAULT_POLICY,
      keepHot: false,
      hotToWarmSeconds: null,
      idleToSuspendSeconds: null,
      idleToFreezeSeconds: null,
      labels: {},
      workbook: null,
      lineageBlueprint: null,
      lineageSnapshot: null,
      lineageParent: null,
      file: record,
      bytes: stamp.size,
    };
    return registry.instances.adopt(instance, to, now, lines({ id, tenant }));
  }
  return registry.instances.commit({
    id,
    from: before.state,
    to,
    ...(hops.length > 1 ? { through: hops.slice(0, -1) } : {}),
    generation: before.generation,
    vfsPath: path,
    file: record,
    bytes: stamp.size,
    fault: null,
    now,
    ledger: lines(before),
  });
}

/** The file of the sandbox in its drawer, whether it is there or not. */
function homeOf({ dataFolder, drawers }: RepairParts, id: InstanceId, drawer: AdoptableFile['drawer']): RestingFile {
  return drawer === 'live' ? fileAt({ drawers, config: { dataFolder } }, id, livePath(id)) : drawers[drawer].at(id);
}

/** A file in `orphans/`, which is a folder of the data folder whatever the drawers are. */
function setAsideFile({ dataFolder }: RepairParts, { path, drawer }: AdoptableFile): RestingFile {
  return fileOnDisk(dataFolder, path, { packed: drawer === 'archive' });
}

/** What is known of a sound file; its log, if it was left with one, is taken up first. */
async function prove({ readers }: RepairParts, { id, path }: AdoptableFile, file: RestingFile) {
  const { packed } = file;
  if ((await file.stat())?.size === 0) throw new WinterdockError('corrupt', `The file of "${id}" at ${path} is empty.`);
  const found = await file.read(async (local) => {
    if (!packed && (await hasLog(file))) await readers.settle(local);
    return readers.check(local, { packed, urgent: true });
  });
  if (found.quickCheck === 'ok') return { ...found, quickCheck: packed ? null : found.quickCheck };
  throw new WinterdockError(
    'corrupt',
    `The file of "${id}" at ${path} is damaged: ${found.quickCheck.slice(0, 200).replace(/\.$/, '')}.`,
  );
}

/** Moves a file out of `orphans/` into its drawer. */
async function moveHome(
  { dataFolder, drawers }: RepairParts,
  { id, path, drawer }: AdoptableFile,
  home: RestingFile,
): Promise<void> {
  if ((await home.stat()) !== null)
    throw new WinterdockError('conflict', `There is a file at ${home.address} already.`);
  if (drawer !== 'live') await drawers[drawer].prepare();
  else {
    await makeFolder(join(dataFolder, 'live', id));
    await syncFolder(join(dataFolder, 'live'));
  }
  await home.giveBack(join(dataFolder, path), '');
}
