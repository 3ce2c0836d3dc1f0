/**
 * Does the tasks of work.ts: makes backups, tries them, and brings sandboxes back from them. Knows nothing of
 * processes, or of who asked.
 */
import { randomInt } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { makeFolder } from '../base/effects.ts';
import { isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import { readSecretFile } from '../base/secret-file.ts';
import { openSigner } from '../base/signing.ts';
import { hostAmongSeveral } from '../hosts/needs-of-several.ts';
import { registryDriver } from '../registry/drivers.ts';
import type { Drawers } from '../storage/drawer.ts';
import { sha256Of } from '../storage/files.ts';
import { makeBackup } from './backup.ts';
import { claimPlace, requireClaim } from './claim-place.ts';
import { requirePassphrase } from './key-files.ts';
import { type BackupManifest, type BackupRow, objectsOf, parseBackupManifest, unreadableIn } from './manifest.ts';
import { takeMoment } from './moment-task.ts';
import { type OpenedBackup, openPlaced } from './open-backup.ts';
import { coldStoreOf, openPlace } from './open-place.ts';
import type { BackupPlace } from './place.ts';
import { expandTo } from './place-file.ts';
import { prunePlace } from './prune.ts';
import { findInBackup, objectOf, rowIn } from './restore-one.ts';
import { retained } from './retention.ts';
import { type ReadersFor, soundFile } from './sound-file.ts';
import { type BackupTarget, manifestIdsIn, manifestName, manifestsIn, openTarget } from './store.ts';
import {
  type BackupAnswers,
  type BackupTask,
  type MakeTask,
  type MomentTask,
  type PlanTask,
  placedBackup,
  type TakeTask,
  type TrialTask,
} from './work.ts';

/** In the folder of the keys: what encrypts them in a backup, where the environment does not say. */
const PASSPHRASE_FILE = 'backup-passphrase.txt';
/** Sentences of what is not sound that an answer has. */
const MOST_WRONG = 20;
/** Sandboxes drawn until one of them has a file of its own. */
const DRAWS = 50;

export interface TaskParts {
  config: Config;
  drawers: Drawers;
  clock: Clock;
  /** Absolute path of a folder of this machine, for this run alone. */
  folder: string;
  /** Of the environment; null: there is none. */
  passphrase: string | null;
  readersFor: ReadersFor;
  progress(done: number, all: number): void;
}

/** What encrypts key files: of the environment, or of a file beside them; null: there is none. */
export function backupPassphraseOf(
  { keysFolder }: Pick<Config, 'keysFolder'>,
  ofEnvironment: string | null,
): string | null {
  return ofEnvironment ?? (readSecretFile(join(keysFolder, PASSPHRASE_FILE))?.trim() || null);
}

/** Whether the server can encrypt key files for a backup. */
export function hasBackupPassphrase({ keysFolder }: Pick<Config, 'keysFolder'>, ofEnvironment: string | null): boolean {
  return backupPassphraseOf({ keysFolder }, ofEnvironment) !== null;
}

/** Does one task. */
export async function runBackupTask<T extends BackupTask>(
  parts: TaskParts,
  task: T,
): Promise<BackupAnswers[T['kind']]> {
  if (task.kind === 'moment') return (await takeMoment(parts, task)) as BackupAnswers[T['kind']];
  const { place, close } = await openPlace(task.target, parts.config, join(parts.folder, 'drafts'));
  try {
    // Only what writes there needs it to be the owner's.
    if (task.kind === 'make' || task.kind === 'look') await claimPlace(place, task.owner);
    return (await answerTo(parts, place, task)) as BackupAnswers[T['kind']];
  } finally {
    await close();
  }
}

function answerTo(
  parts: TaskParts,
  place: BackupPlace,
  task: Exclude<BackupTask, MomentTask>,
): Promise<BackupAnswers[BackupTask['kind']]> {
  switch (task.kind) {
    case 'make':
      return make(parts, place, task);
    case 'look':
      return contentIn(parts, place, task.owner.trusted);
    case 'trial':
      return withBackup(parts, place, task, (backup) => tryOne(parts, backup));
    case 'take':
      return withBackup(parts, place, task, (backup) => take(parts, backup, task));
    case 'plan':
      return withBackup(parts, place, task, (backup) => planOf(backup, task));
  }
}

async function contentIn(
  { clock }: TaskParts,
  place: BackupPlace,
  trusted: readonly string[],
): Promise<BackupAnswers['look']> {
  const { manifests } = await manifestsIn(place, clock);
  const own = manifests.filter(({ issuer }) => trusted.includes(issuer)).map((manifest) => placedBackup(manifest));
  return { own, ids: await manifestIdsIn(place) };
}

async function make(parts: TaskParts, place: BackupPlace, task: MakeTask): Promise<BackupAnswers['make']> {
  const { config, drawers, clock } = parts;
  const passphrase = task.withKeys ? passphraseOf(parts) : null;
  const opened = await openTarget(place);
  const target: BackupTarget = {
    ...opened,
    // Another server may have claimed the place at the same time: a backup is made only where the next one may be too.
    finish: async (id, text) => {
      await requireClaim(place, task.owner);
      await opened.finish(id, text);
    },
  };
  const cold = coldStoreOf(config);
  let made: Awaited<ReturnType<typeof makeBackup>>;
  let pruned: Awaited<ReturnType<typeof prune>>;
  try {
    const { readers, stop } = await parts.readersFor([dirname(target.draft())]);
    try {
      made = await makeBackup({
        config,
        driver: registryDriver(config.registry),
        drawers,
        target,
        onlyOf: hostAmongSeveral(config),
        cold: cold.open,
        readers,
        signer: openSigner(config.keysFolder),
        clock,
        passphrase,
        id: task.id,
        progress: parts.progress,
      });
    } finally {
      await stop();
    }
    pruned = await prune(parts, place, task);
  } finally {
    await cold.close();
    await target.close();
  }
  return {
    backup: placedBackup(made.manifest, made.added),
    wrong: made.wrong.slice(0, MOST_WRONG),
    place: await contentIn(parts, place, task.owner.trusted),
    ...pruned,
  };
}

/** Removes what the retention does not keep. The backup is made, whatever comes of that. */
async function prune(
  { clock }: TaskParts,
  place: BackupPlace,
  { keep, timezone, owner, spared }: MakeTask,
): Promise<Pick<BackupAnswers['make'], 'removed' | 'pruneError'>> {
  const unwanted = (manifests: readonly BackupManifest[]) => {
    const own = manifests.filter(({ issuer }) => owner.trusted.includes(issuer));
    const kept = retained(
      own.map(({ id, begun_ms }) => ({ id, begunMs: begun_ms })),
      keep,
      timezone,
    );
    return new Set(own.map(({ id }) => id).filter((id) => !kept.has(id) && !spared.includes(id)));
  };
  try {
    const { objects, bytes } = await prunePlace(place, unwanted, clock);
    return { removed: { objects, bytes }, pruneError: null };
  } catch (error) {
    return { removed: { objects: 0, bytes: 0 }, pruneError: messageOf(error) };
  }
}

/** That of the environment, or of a file in the folder of the keys. Throws `validation` when there is none. */
function passphraseOf({ config, passphrase }: TaskParts): string {
  const given = backupPassphraseOf(config, passphrase);
  if (given !== null) return requirePassphrase(given);
  throw new WinterdockError('validation', 'The key files cannot be backed up: there is no passphrase.', {
    hint: `Set WB_BACKUP_PASSPHRASE, or put one into ${PASSPHRASE_FILE} beside the key files, mode 0600.`,
  });
}

async function withBackup<T>(
  { folder }: TaskParts,
  place: BackupPlace,
  { id, owner }: TrialTask | TakeTask | PlanTask,
  work: (backup: OpenedBackup) => Promise<T>,
): Promise<T> {
  const text = await place.read(manifestName(id));
  if (text === null) {
    throw new WinterdockError('missing_file', `The backup ${id} is not in ${place.name}.`, {
      hint: 'Is this the place that it was made to? It may have been removed there.',
    });
  }
  const manifest = parseBackupManifest(text.toString());
  if (!owner.trusted.includes(manifest.issuer)) {
    throw new WinterdockError(
      'conflict',
      `The backup ${id} is signed by ${manifest.issuer}, which is not this server.`,
      {
        hint: 'Restore it with `npm run restore`, which names the signature.',
      },
    );
  }
  const backup = openPlaced(place, manifest, join(folder, 'objects'));
  try {
    return await work(backup);
  } finally {
    await backup.close();
  }
}

/**
 * Restores one drawn sandbox, or says that there is none. A damaged backup is an answer; a place that is away is not.
 */
async function tryOne(parts: TaskParts, backup: OpenedBackup): Promise<BackupAnswers['trial']> {
  const started = performance.now();
  const row = draw(backup.manifest.rows);
  const { registry } = backup.manifest;
  let bytes = 0;
  try {
    await backup.prepare([registry]);
    await backup.path(registry, 'the registry');
    if (row !== null) ({ bytes } = await bring(parts, backup, row.id, false));
    return answer(null);
  } catch (error) {
    if (isWinterdockError(error) && ['corrupt', 'missing_file'].includes(error.code)) return answer(error.message);
    throw error;
  }

  function answer(error: string | null): BackupAnswers['trial'] {
    const tookMs = Math.round(performance.now() - started);
    return { instance: row?.id ?? null, tenant: row?.tenant ?? null, bytes, tookMs, error };
  }
}

/** A sandbox whose file was sound; null: there is none. */
function draw(rows: readonly BackupRow[]): BackupRow | null {
  const isSound = ({ object, wrong }: BackupRow) => object !== null && wrong === null;
  for (let nth = 0; nth < DRAWS && rows.length > 0; nth += 1) {
    const row = rows[randomInt(rows.length)];
    if (row !== undefined && isSound(row)) return row;
  }
  return rows.find(isSound) ?? null;
}

function take(parts: TaskParts, backup: OpenedBackup, task: TakeTask): Promise<BackupAnswers['take']> {
  return bring(parts, backup, task.instance, task.isNew, task.folder);
}

/** Brings the file of a sandbox to a folder, expanded, and checks it as it was backed up. Throws `corrupt`. */
async function bring(
  parts: TaskParts,
  backup: OpenedBackup,
  id: BackupRow['id'],
  isNew: boolean,
  folder = join(parts.folder, 'trial'),
): Promise<BackupAnswers['take']> {
  await makeFolder(folder);
  const label = `the sandbox "${id}"`;
  const row = await rowIn(backup, id, join(folder, 'registry.sqlite'));
  const { object, packed } = await objectOf(backup, row);
  await backup.prepare([object]);
  const path = join(folder, 'plain.sqlite');
  await expandTo(backup, object, path, { label, packed });
  const expected = packed ? (findInBackup(backup, id)?.row.expands ?? null) : object.sha256;
  const found = await sha256Of(path);
  if (expected !== null && found !== expected) {
    throw new WinterdockError('corrupt', `The backup's file of ${label} does not come back as it was backed up.`);
  }
  const sound = await soundFile(parts, { path, sha256: found }, folder, { whose: `${label} in the backup`, isNew });
  return { ...sound, row };
}

async function planOf(backup: OpenedBackup, { instance }: PlanTask): Promise<BackupAnswers['plan']> {
  const { rows, copies, keys, ...manifest } = backup.manifest;
  const states: Partial<Record<string, number>> = {};
  for (const { state, how } of rows) if (how !== 'memory') states[state] = (states[state] ?? 0) + 1;
  const one = instance === null ? null : rows.find(({ id }) => id === instance);
  if (one === undefined) {
    throw new WinterdockError('not_found', `There is no sandbox "${instance}" in the backup ${manifest.id}.`);
  }
  return {
    states,
    copies: copies.filter(({ object }) => object !== null).length,
    bytes: [...objectsOf(backup.manifest).values()].reduce((sum, { bytes }) => sum + bytes, 0),
    memory: rows.filter(({ how }) => how === 'memory').length,
    missing: rows.filter(({ how }) => how === 'missing').length,
    unsound: unreadableIn({ rows, copies }).length,
    keys: keys.object !== null,
    instance: one === null ? null : { ...contentOfRow(one), absent: whyAbsent(backup, one.id) },
  };
}

function contentOfRow({ state, tenant, object, wrong }: BackupRow) {
  return { state, tenant, bytes: object?.bytes ?? 0, wrong };
}

function whyAbsent(backup: OpenedBackup, id: string): string | null {
  try {
    findInBackup(backup, id);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
