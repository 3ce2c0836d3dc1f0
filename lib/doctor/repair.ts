/**
 * What a look has found, mended: the safe part by `fix`, and by `adopt` the files that have no row. Works on the
 * stopped server's folder, whose lock the caller holds. Every change is a line of the ledger.
 */
import { join } from 'node:path';
import { makeFolder, syncFolder } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import { instanceIdOfFile } from '../base/ids.ts';
import { isThere } from '../base/is-there.ts';
import { beginEpochOf, type Epoch } from '../ledger/epoch.ts';
import { countOfFiles, findStartRefusal } from '../ledger/start-check.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import { fileAt } from '../sandboxes/files/file-locations.ts';
import type { LogSuffix } from '../storage/drawer.ts';
import { clearStaging } from '../storage/files.ts';
import { isOfCopy } from '../storage/inventory.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { adoptCopy } from './adopt-copy.ts';
import { type AdoptableFile, adoptFile, type RepairParts } from './adopt-file.ts';
import type { ExaminationResult } from './findings.ts';
import { removeProbes } from './store.ts';

export interface Repair extends RepairParts {
  driver: RegistryDriver;
  /** Absolute. */
  keysFolder: string;
  /** The epoch of the ledger whose server used the object store last. Default: none did. */
  beyond?: number;
  /** Where files at rest are that left this machine; null: nowhere. */
  store?: ObjectStore | null;
}

export interface RepairResult {
  /** What was done, a sentence each. */
  done: string[];
  /** What could not be done, and why. */
  refused: string[];
}

const CAUSE = { ...systemAudit('operator'), actor: 'doctor' };

/**
 * Does the safe part: rows whose file lies, proved, under its key in another drawer follow it, logs beside files at
 * rest are set aside, counts are made again, unfinished work and what killed probes left in the store are removed.
 */
export async function fix(repair: Repair, { findings, adoptable }: ExaminationResult): Promise<RepairResult> {
  const repaired: RepairResult = { done: [], refused: [] };
  const { registry, clock, dataFolder, store = null } = repair;
  for (const { kind, about, path } of findings.filter(({ way }) => way === 'fix')) {
    await attempt(repaired, async () => {
      if (kind === 'row.log' && path !== null) return setLogAside(repair, about ?? '', path);
      if (kind !== 'row.elsewhere' || about === null) return null;
      const candidate = candidatesOf(adoptable).find(({ id }) => id === about);
      if (candidate === undefined) return null;
      const row = await registry.instances.get(instanceIdOfFile(about));
      const { state, vfsPath } = await adoptFile(repair, candidate, {
        tenant: row?.tenant ?? '',
        type: 'instance.found',
        mustBe: row?.file ?? null,
      });
      return `${about}: its row says ${state} at ${vfsPath} now`;
    });
  }
  await attempt(repaired, async () => {
    const tables = await registry.maintenance.recount(ledgerEntry({ clock }, null, CAUSE, 'registry.recounted'));
    return tables.length === 0 ? null : `counted again: ${tables.join(', ')}`;
  });
  if (findings.some(({ kind }) => kind === 'staging.left')) {
    await attempt(repaired, async () => {
      await registry.ledger.append([
        ledgerEntry({ clock }, null, CAUSE, 'staging.cleared', { reason: 'unfinished work' }),
      ]);
      await clearStaging(dataFolder);
      return 'unfinished work was removed';
    });
  }
  if (store !== null && findings.some(({ kind }) => kind === 'probe.left')) {
    await attempt(repaired, async () => {
      const reason = 'probes in the object store';
      await registry.ledger.append([ledgerEntry({ clock }, null, CAUSE, 'staging.cleared', { reason })]);
      return `${await removeProbes(store, findings, clock.now())} objects of killed probes were removed from the store`;
    });
  }
  return repaired;
}

export interface AdoptionScope {
  /** Of the sandboxes that no row and no line of the ledger knows; null: such files are refused. */
  tenant: string | null;
  /** Ids to take back; none given: all. */
  keys: readonly string[];
  /** Whose a sandbox is as far as the ledger tells. */
  tenantOf(id: string): Promise<string | null>;
}

/**
 * Takes files back: those without a row get one, those that their row does not name get it changed. When no file is
 * left without a row, and a server would not start on this registry as it is, an epoch is begun: last, so that until
 * then a start is refused.
 */
export async function adopt(
  repair: Repair,
  { findings, adoptable }: ExaminationResult,
  { tenant, keys, tenantOf }: AdoptionScope,
): Promise<RepairResult & { epoch: Epoch | null }> {
  const repaired: RepairResult = { done: [], refused: [] };
  const candidates = candidatesOf(adoptable);
  for (const candidate of candidates) {
    const { id, path } = candidate;
    if (keys.length > 0 && !keys.includes(id)) continue;
    await attempt(repaired, async () => {
      const row = await repair.registry.instances.get(instanceIdOfFile(id));
      const owner = row?.tenant ?? (await tenantOf(id)) ?? tenant;
      if (owner === null) throw new Error(`no row says which tenant ${path} belongs to: pass --tenant NAME`);
      const after = await adoptFile(repair, candidate, { tenant: owner, type: 'instance.adopted' });
      return `${id}: ${path} is the file of a sandbox of ${after.tenant}, ${after.state}`;
    });
  }
  for (const file of keys.length > 0 ? [] : adoptable) {
    if ('id' in file || !isOfCopy(file)) continue;
    await attempt(repaired, async () => `${file.path} is ${await adoptCopy(repair, file, tenant)} now`);
  }
  for (const key of keys.filter((key) => !candidates.some(({ id }) => id === key))) {
    repaired.refused.push(`${key}: there is no file of it that a row does not name`);
  }
  const refusal = await findStartRefusal(repair);
  const wasRefused = findings.some(({ kind, way }) => kind.startsWith('registry.') && way === 'adopt');
  if (refusal === null && !wasRefused) return { ...repaired, epoch: null };
  if (refusal?.disagreement.kind === 'no_files') {
    repaired.refused.push(
      'the files that rows name are not there, so a start is still refused: bring them back, or go on without them with --accept REASON',
    );
    return { ...repaired, epoch: null };
  }
  const left = refusal?.unnamed.length ?? 0;
  if (left > 0) {
    repaired.refused.push(
      `${countOfFiles(left)} without a row still, so a start is still refused: take back the rest too, or go on without it with --accept REASON (a start then sets it aside)`,
    );
    return { ...repaired, epoch: null };
  }
  const epoch = await accept(repair, `${countOfFiles(repaired.done.length)} taken back by the key`);
  repaired.done.push(`epoch ${epoch.epoch} of the ledger was begun at line ${epoch.head.seq}`);
  return { ...repaired, epoch };
}

/** Begins an epoch: the registry as it is now is the one that servers start on. */
export function accept({ registry, driver, keysFolder, clock, beyond = 0 }: Repair, reason: string): Promise<Epoch> {
  return beginEpochOf(registry, { driver, keysFolder, clock, reason, beyond, actor: 'doctor' });
}

function candidatesOf(adoptable: ExaminationResult['adoptable']): AdoptableFile[] {
  return adoptable.flatMap((file) => {
    if ('id' in file) return [{ id: file.id, path: file.path, drawer: file.drawer }];
    const { key, path, drawer } = file;
    return drawer === 'live' || drawer === 'cold' || drawer === 'archive' ? [{ id: key, path, drawer }] : [];
  });
}

async function attempt(repaired: RepairResult, work: () => Promise<string | null>): Promise<void> {
  try {
    const done = await work();
    if (done !== null) repaired.done.push(done);
  } catch (error) {
    repaired.refused.push(messageOf(error));
  }
}

/** Moves a log that is not the file's own to `orphans/`, where it can be looked at. */
async function setLogAside(
  { dataFolder, drawers, registry, clock }: Repair,
  id: string,
  path: string,
): Promise<string> {
  const folder = join(dataFolder, 'orphans');
  const kept = `${clock.now()}-${id}-${path.slice(path.lastIndexOf('/') + 1)}`;
  if (isThere(join(folder, kept))) throw new Error(`${kept} is there already`);
  await makeFolder(folder);
  await syncFolder(dataFolder);
  const [part] = /-(?:wal|journal)$/.exec(path) ?? [''];
  const file = fileAt(
    { drawers, config: { dataFolder } },
    instanceIdOfFile(id),
    path.slice(0, path.length - part.length),
  );
  await file.takeOut(part as LogSuffix, join(folder, kept));
  const row = await registry.instances.get(instanceIdOfFile(id));
  await registry.ledger.append([
    ledgerEntry({ clock }, row, CAUSE, 'orphan.set_aside', {
      reason: `${path} lay beside a file at rest; kept as orphans/${kept}`,
    }),
  ]);
  return `${id}: ${path} was set aside as orphans/${kept}`;
}
