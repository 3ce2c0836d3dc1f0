/**
 * Compares the registry with the files in the drawers and reports every disagreement. Opens the registry read-only and
 * the files only to hash them; changes nothing. Beside a running server a sandbox that moves meanwhile may show up as a
 * finding: run it again. The live drawer, `orphans/`, listings and unfinished work are folders of the data folder,
 * whatever the other drawers are.
 */
import { join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import {
  describeDisagreement,
  findStartRefusal,
  type RegistryLocation,
  type StartRefusal,
} from '../ledger/start-check.ts';
import type { RegistryDriver, RegistryMoment } from '../registry/driver.ts';
import { isStaging } from '../storage/files.ts';
import { isOfCopy, type KeptFile, keptFiles, namesIn } from '../storage/inventory.ts';
import type { Readers } from '../vfs/types.ts';
import { examineCopies } from './copies.ts';
import type { DrawerFiles } from './examination.ts';
import { examineFilesWithoutRow } from './files-without-row.ts';
import { type ExaminationResult, type Finding, orphanOf } from './findings.ts';
import { examineRows } from './rows.ts';
import { examineHead } from './signed-head.ts';

export interface ExamineOptions {
  location: RegistryLocation;
  /** Readers that hash every file at rest. Null: compare only what `stat` says of the files. */
  readers: Readers | null;
}

/** Examines everything. Throws only disk errors; an unreadable registry is a finding. */
export async function examine({ location, readers }: ExamineOptions): Promise<ExaminationResult> {
  const { dataFolder, drawers, driver } = location;
  const examined: ExaminationResult = { findings: [], looked: { rows: 0, files: 0, hashed: 0 }, adoptable: [] };
  const find = (finding: Finding) => examined.findings.push(finding);
  const files = await filesOf(location);
  examined.looked.files = files.kept.length;
  await examineStart(location, find);
  const registry = await openOrTell(driver, find);
  try {
    if (registry !== null) {
      const integrity = await registry.integrity();
      if (integrity !== 'ok') find(wrong('registry.damaged', `the registry is damaged: ${integrity.slice(0, 300)}`));
      for (const table of await registry.miscounted()) {
        find({ ...wrong('registry.miscounted', `the counts in ${table} are not those of the rows`), way: 'fix' });
      }
      await examineHead(location, registry, find);
    }
    const { onlyOf = null } = location;
    const looking = { drawers, config: { dataFolder }, registry, files, readers, examined, onlyOf, find };
    await examineFilesWithoutRow(looking, await examineRows(looking));
    await examineCopies(looking);
  } finally {
    await registry?.close();
  }
  for (const folder of stagings(dataFolder)) {
    for (const name of namesIn(join(dataFolder, folder))) {
      const path = `${folder}/${name}`;
      find({ ...note('staging.left', 'unfinished work: the next start removes it'), path });
    }
  }
  return examined;
}

/** A finding that is wrong and concerns no single sandbox. */
function wrong(kind: string, says: string): Finding {
  return { kind, weight: 'wrong', way: null, about: null, path: null, says };
}

/** A finding that needs no action. */
function note(kind: string, says: string): Finding {
  return { kind, weight: 'note', way: null, about: null, path: null, says };
}

/** What mends a refused start. */
function wayOutOf(kind: StartRefusal['disagreement']['kind']): Finding['way'] {
  if (kind === 'log_only') return null;
  return kind === 'no_files' ? 'accept' : 'adopt';
}

async function examineStart(location: RegistryLocation, find: (finding: Finding) => void): Promise<void> {
  try {
    const refusal = await findStartRefusal(location);
    if (refusal === null) return;
    const { disagreement, unnamed } = refusal;
    find({
      ...wrong(
        `registry.${disagreement.kind}`,
        `${describeDisagreement(disagreement, location.driver).replace(/\.$/, '')}; a server does not start on it; files without a row: ${unnamed.length}`,
      ),
      way: wayOutOf(disagreement.kind),
    });
  } catch (error) {
    find(wrong('registry.unreadable', `the registry ${location.driver.name} cannot be read: ${messageOf(error)}`));
  }
}

async function openOrTell(driver: RegistryDriver, find: (finding: Finding) => void): Promise<RegistryMoment | null> {
  const presence = await driver.presence();
  if (presence.kind !== 'there') return null;
  if (presence.logBytes > 0) {
    find(
      note(
        'registry.log',
        `the registry has a log of ${presence.logBytes} bytes: a server is running, or was killed; the next one that opens the registry reads the log`,
      ),
    );
  }
  try {
    const registry = await driver.inspect();
    // A file of an older version lacks columns: the first row tells.
    try {
      await registry.rows('', 1);
    } catch (error) {
      await registry.close();
      find(
        wrong(
          'registry.older',
          `the registry is of another version (${messageOf(error)}): a start brings it up to date`,
        ),
      );
      return null;
    }
    return registry;
  } catch {
    // The look at the start has told why.
    return null;
  }
}

async function filesOf({ dataFolder, drawers }: RegistryLocation): Promise<DrawerFiles> {
  const kept: KeptFile[] = [];
  for await (const page of keptFiles(dataFolder, drawers)) kept.push(...page);
  const byKey = Map.groupBy(
    kept.filter((file) => !isOfCopy(file)),
    ({ key }) => key,
  );
  const orphans = Map.groupBy(
    [...namesIn(join(dataFolder, 'orphans'))].flatMap((name) => orphanOf(name) ?? []),
    ({ id }) => id,
  );
  // The one that was set aside last is the newest.
  for (const same of orphans.values()) same.sort((a, b) => b.setAsideMs - a.setAsideMs);
  return { kept, byKey, orphans };
}

/** Folders of unfinished work, relative to the data folder. */
function stagings(dataFolder: string): string[] {
  const folders = ['live', 'cold', 'archive', 'snapshots', 'blueprints', 'bundles', 'expanded', 'orphans'];
  const inDrawers = folders.flatMap((folder) => {
    return [...namesIn(join(dataFolder, folder))].filter(isStaging).map((staging) => `${folder}/${staging}`);
  });
  return [...inDrawers, 'staging'];
}
