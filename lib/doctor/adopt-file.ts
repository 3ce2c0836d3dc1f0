/**
 * Gives a file in a drawer its row back, or the row of its key its file: the row follows the file. A row changes only
 * by transitions of the state map, each with its ledger line. A file is verified first, and none is ever overwritten or
 * removed.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { makeFolder, renameFile, syncFolder } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { DEFAULT_POLICY } from '../instance/policies.ts';
import { plan } from '../lifecycle/plan.ts';
import type { State } from '../lifecycle/states.ts';
import type { Registry } from '../registry/registry.ts';
import type { FileRecord, InstanceRow, LedgerEntry, NewInstance } from '../registry/types.ts';
import { ledgerEntry, livePath, systemAudit } from '../sessions/engine.ts';
import { fileRecord, matchesRecord } from '../sessions/file-verification.ts';
import { stampOf } from '../storage/files.ts';
import type { Readers } from '../vfs/types.ts';

/** A file of a sandbox, wherever it lies. */
export interface AdoptableFile {
  id: string;
  /** Relative to the data folder. */
  path: string;
  drawer: 'live' | 'cold' | 'archive';
}

export interface RepairParts {
  dataFolder: string;
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

const PATH_IN: Readonly<Record<AdoptableFile['drawer'], (id: string) => string>> = {
  live: livePath,
  cold: (id) => `cold/${id}.sqlite`,
  archive: (id) => `archive/${id}.sqlite.zst`,
};

/** An id as the API accepts it. A file with another name belongs to no sandbox. */
const ID = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/**
 * Verifies the file and inserts or updates its row. A new row belongs to `tenant`. `type` is the type of the ledger
 * line; with `mustBe` only the file with that record is accepted. Returns the row. Throws `corrupt` for a damaged file,
 * `validation` for a key that is no id, `conflict` for the id of a deleted sandbox and for a path that is taken,
 * `quota_exceeded`, and disk errors.
 */
export async function adoptFile(
  hands: RepairParts,
  candidate: AdoptableFile,
  { tenant, type, mustBe = null }: { tenant: string; type: string; mustBe?: FileRecord | null },
): Promise<InstanceRow> {
  const { registry, clock } = hands;
  const { id, drawer } = candidate;
  if (!ID.test(id)) throw new WinterdockError('validation', `"${id}" is no id of a sandbox.`);
  const before = await registry.instances.get(id);
  if (before?.state === 'deleted') {
    throw new WinterdockError('conflict', `The sandbox "${id}" was deleted, and its id is never used again.`);
  }
  const known = await proved(hands, candidate);
  const found = stampOf(join(hands.dataFolder, candidate.path));
  if (mustBe !== null && (found === null || !matchesRecord(mustBe, found, known))) {
    throw new WinterdockError(
      'corrupt',
      `The file at ${candidate.path} is not the one that was filed of "${id}": look at it, then --adopt it.`,
    );
  }
  const path = PATH_IN[drawer](id);
  if (candidate.path !== path) await moveBack(hands.dataFolder, candidate.path, path);
  const stamp = stampOf(join(hands.dataFolder, path));
  if (stamp === null) throw new WinterdockError('missing_file', `The file of "${id}" went away.`);
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

/** What is known of a sound file; its log, if it was left with one, is taken up first. */
async function proved({ dataFolder, readers }: RepairParts, { id, path, drawer }: AdoptableFile) {
  const file = join(dataFolder, path);
  const packed = drawer === 'archive';
  if (stampOf(file)?.size === 0) throw new WinterdockError('corrupt', `The file of "${id}" at ${path} is empty.`);
  if (!packed && (stampOf(`${file}-wal`)?.size ?? 0) > 0) await readers.settle(file);
  const found = await readers.check(file, { packed, urgent: true });
  if (found.quickCheck === 'ok') return { ...found, quickCheck: packed ? null : found.quickCheck };
  throw new WinterdockError(
    'corrupt',
    `The file of "${id}" at ${path} is damaged: ${found.quickCheck.slice(0, 200).replace(/\.$/, '')}.`,
  );
}

/** Moves a file out of `orphans/` into its drawer. */
async function moveBack(dataFolder: string, from: string, path: string): Promise<void> {
  const target = join(dataFolder, path);
  if (existsSync(target)) throw new WinterdockError('conflict', `There is a file at ${path} already.`);
  const source = join(dataFolder, from);
  await makeFolder(dirname(target));
  await renameFile(source, target);
  await Promise.all([syncFolder(dirname(target)), syncFolder(dirname(dirname(target))), syncFolder(dirname(source))]);
}
