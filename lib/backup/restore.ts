/**
 * Restores a whole backup into a data folder whose server is stopped. Existing files are set aside, never overwritten.
 * Files are restored first, then the registry with rows that match them, then the ledger begins a new epoch. An
 * interrupted restore can be run again, and no server starts before it is complete. Knows nothing of how backups are
 * made.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { type CopyKind, parseCopyPath } from '../base/copy-paths.ts';
import { chmodFile, copyFile, removeTree, renameFile, syncFile, syncFolder, writeFile } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import { isThere } from '../base/is-there.ts';
import { KEY_FILES, oldKeyFile } from '../base/key-files.ts';
import { readSecretFile } from '../base/secret-file.ts';
import { issuerOf } from '../base/signing.ts';
import { closedSecrets, recordRestoredKeys } from '../keys/restored-keys.ts';
import { unusableKeys } from '../keys/start-keys.ts';
import { beginEpoch } from '../ledger/epoch.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import { registryDriver } from '../registry/drivers.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { fileRecord } from '../sandboxes/files/file-verification.ts';
import { fileOnDisk } from '../storage/disk.ts';
import type { Drawers } from '../storage/drawer.ts';
import type { FileStamp } from '../storage/stamp.ts';
import { addFormerIssuer } from './backup-settings.ts';
import { epochInStore } from './epoch-in-store.ts';
import { decryptKeys, keyPath, lossesWithout } from './key-files.ts';
import { keepLastBackup, lastBackupOf } from './last-backup.ts';
import { type BackupRow, objectsOf, unreadableIn } from './manifest.ts';
import { type OpenedBackup, requireRestorable, restoredFrom } from './open-backup.ts';
import { placeFile } from './place-file.ts';
import { restoredInWords } from './replica-report.ts';
import { forgetCopies, RESTORING, restoredFile, settleRow } from './settle-row.ts';
import { clearAll, countFiles, endRestore, markRestore, setAsideAll, unfinishedRestore } from './unfinished-restore.ts';

/** So many times no sandbox goes to another host between a backup and its restore. */
const MOST_MOVES = 1_000_000;

export interface RestoreOptions {
  config: Config;
  driver: RegistryDriver;
  drawers: Drawers;
  backup: OpenedBackup;
  /** Where it was found, for the record. */
  from: string;
  clock: Clock;
  /** Sets aside the present files of the folder. */
  force: boolean;
  /** Opens the key files in the backup; null: they are left there. */
  passphrase: string | null;
  progress?: (done: number, all: number) => void;
}

/** What a restore of everything does, in numbers and sentences. */
export interface RestorePlan {
  /** Sandboxes, by the state that they will be in. */
  states: Partial<Record<State, number>>;
  /** Without a file of their own: they lived in memory, or nothing was there. */
  memory: string[];
  missing: string[];
  /** In the store below the drawers, and left there. */
  stored: number;
  copies: number;
  bytes: number;
  /** What lies in the folder and is set aside: files in the drawers, and whether there is a registry. */
  aside: { files: number; registry: boolean } | null;
  /** An interrupted restore is started again. */
  again: boolean;
  keys: { kept: string[]; restored: string[]; lost: string[] };
  /** Secrets in the backup that the keys do not open which are there afterwards. */
  closed: string[];
}

/** The plan of `restoreAll`. Changes nothing. */
export async function planRestore({
  config,
  driver,
  drawers,
  backup,
  passphrase,
}: Pick<RestoreOptions, 'config' | 'driver' | 'drawers' | 'backup' | 'passphrase'>): Promise<RestorePlan> {
  const { copies, keys } = backup.manifest;
  const again = isThere(config.dataFolder) && unfinishedRestore(config.dataFolder) !== null;
  const present = again ? 0 : await countFiles(config, drawers);
  const hasRegistry = !again && (await driver.presence()).kind !== 'missing';
  const kept = keys.files.filter((name) => isThere(keyPath(config, name)));
  const absent = keys.files.filter((name) => !kept.includes(name));
  const opens = keys.object !== null && passphrase !== null;
  const restored = await openKeys({ config, backup, passphrase });
  const texts = secretsTexts(config, restored);
  await backup.prepare([backup.manifest.registry]);
  await requireRestorable(backup);
  const path = await backup.path(backup.manifest.registry, 'the registry');
  return {
    ...sandboxesOf(backup.manifest),
    copies: copies.filter(({ object }) => object !== null).length,
    bytes: [...objectsOf(backup.manifest).values()].reduce((sum, { bytes }) => sum + bytes, 0),
    aside: present > 0 || hasRegistry ? { files: present, registry: hasRegistry } : null,
    again,
    keys: { kept, restored: opens ? absent : [], lost: opens ? [] : absent },
    closed: await closedSecrets(registryDriver({ driver: 'sqlite', path }), texts),
  };
}

function sandboxesOf({
  rows,
}: OpenedBackup['manifest']): Pick<RestorePlan, 'states' | 'memory' | 'missing' | 'stored'> {
  const states: RestorePlan['states'] = {};
  for (const { state, how } of rows) if (how !== 'memory') states[state] = (states[state] ?? 0) + 1;
  const those = (by: BackupRow['how']) => rows.filter(({ how }) => how === by).map(({ id }) => id);
  return { states, memory: those('memory'), missing: those('missing'), stored: those('stored').length };
}

/** What is restored, as the ledger names it. */
function wordsFor({ manifest, replica }: OpenedBackup): string {
  return replica === null
    ? `the backup ${manifest.id}`
    : `the replica as of ${new Date(manifest.begun_ms).toISOString()}`;
}

/**
 * Restores a whole backup. The caller holds the folder's lock. Throws `conflict` for a folder that is not empty without
 * `force` and for a backup that is too old, and `corrupt` and `missing_file` for damage in it, before anything is
 * changed.
 */
export async function restoreAll(options: RestoreOptions): Promise<RestorePlan & { asideIn: string | null }> {
  const { config, driver, drawers, backup, clock, force } = options;
  const { dataFolder } = config;
  const places = { dataFolder, driver };
  const { manifest } = backup;
  const unusable = unusableKeys({ ...config, driver });
  if (unusable.length > 0) {
    throw new WinterdockError('conflict', `Nothing was restored: its keys cannot be used. ${unusable.join(' ')}`);
  }
  const planned = await planRestore(options);
  if (planned.aside !== null && !force) {
    throw new WinterdockError('conflict', `There are sandboxes in ${dataFolder} already.`, {
      hint: 'Restore into an empty folder, or with --force: what is there is then set aside, in the same folder.',
    });
  }
  await backup.prepare([...objectsOf(manifest)].map(([sha256, { bytes }]) => ({ sha256, bytes })));
  const keys = await openKeys(options);
  const ready = objectsOf(backup.manifest);
  for (const [sha256, { bytes, names }] of ready) await backup.path({ sha256, bytes }, names.join(', '));
  await requireRestorable(backup);

  const before = unfinishedRestore(dataFolder);
  const aside = before?.aside ?? `replaced-${new Date(clock.now()).toISOString().replaceAll(':', '')}`;
  if (before?.phase === 'laying') await clearAll(places, drawers);
  else {
    await markRestore(dataFolder, { backup: manifest.id, aside, phase: 'aside' });
    const isUsed = (await driver.presence()).kind !== 'missing' || (await countFiles(config, drawers)) > 0;
    if (isUsed) await setAsideAll(places, drawers, aside);
  }
  await markRestore(dataFolder, { backup: manifest.id, aside, phase: 'laying' });

  for (const [name, text] of Object.entries(keys)) await layKey(keyPath(config, name), text);
  const stamps = await layFiles(options);
  await layRegistry(options, stamps, planned);
  // Where replicas of the files of before end.
  await removeTree(join(dataFolder, REPLICA_POSITIONS));
  await beginEpoch({
    driver,
    keysFolder: config.keysFolder,
    clock,
    reason: `${wordsFor(backup)} was restored`,
    beyond: await epochInStore(config),
    actor: 'restore',
  });
  await endRestore(dataFolder);
  return { ...planned, ...sandboxesOf(backup.manifest), asideIn: isThere(join(dataFolder, aside)) ? aside : null };
}

/** Texts of the key files that are to be laid: those that the folder has not. */
async function openKeys({
  config,
  backup,
  passphrase,
}: Pick<RestoreOptions, 'config' | 'backup' | 'passphrase'>): Promise<Record<string, string>> {
  const { object } = backup.manifest.keys;
  if (object === null || passphrase === null) return {};
  await backup.prepare([object]);
  const keys = await decryptKeys(await readFile(await backup.path(object, 'the key files')), passphrase);
  return Object.fromEntries(Object.entries(keys).filter(([name]) => !isThere(keyPath(config, name))));
}

/** What will lie there of keys that open secrets: that of now, and that before a rotation. */
function secretsTexts(config: Config, restored: Readonly<Record<string, string>>): string[] {
  return [KEY_FILES.secrets, oldKeyFile('secrets')].flatMap(
    (name) => readSecretFile(keyPath(config, name)) ?? restored[name] ?? [],
  );
}

async function layKey(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, text);
  await syncFile(draft);
  await renameFile(draft, path);
  await syncFolder(dirname(path));
}

/** Files placed at the same time: most of the time each waits for the disk. */
const AT_ONCE = 4;

/** Of the data folder; see lib/replication/positions.ts. */
const REPLICA_POSITIONS = 'replica/positions';

interface Laid {
  /** By sandbox. For a sandbox without a file of its own: the stamp of its snapshot or blueprint. */
  rows: Map<string, FileStamp>;
  /** By kind and hash. */
  copies: Map<string, FileStamp>;
}

async function layFiles({ config, drawers, backup, progress }: RestoreOptions): Promise<Laid> {
  const { dataFolder } = config;
  const { rows, copies } = backup.manifest;
  const laid: Laid = { rows: new Map(), copies: new Map() };
  await Promise.all(Object.values(drawers).map((drawer) => drawer.prepare()));
  for (const { kind, hash, object } of copies) {
    if (object === null) continue;
    const label = `the ${kind} ${hash}`;
    laid.copies.set(`${kind} ${hash}`, await placeFile(backup, object, drawers[kind].at(hash), label));
  }
  const layRow = async (row: BackupRow) => {
    const file = restoredFile({ config, drawers }, row);
    if (file === null || row.object === null) return;
    const label = `the sandbox "${row.id}"`;
    laid.rows.set(row.id, await placeFile(backup, row.object, file, label));
    if (row.listing === null) return;
    await placeFile(backup, row.listing, fileOnDisk(dataFolder, `archive/${row.id}.json`), label);
  };
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    progress?.(at, rows.length);
    await Promise.all(rows.slice(at, at + AT_ONCE).map(layRow));
  }
  // Each sandbox has its own folder in the live drawer; the folder entry must be durable too.
  if (isThere(join(dataFolder, 'live'))) await syncFolder(join(dataFolder, 'live'));
  await syncFolder(dataFolder);
  return laid;
}

/**
 * The last term of what was shipped of any sandbox since a backup was made: where several hosts have a registry it
 * grows with each that takes a sandbox from another one. Nothing where one host alone has had it.
 */
async function lastPossibleTerm(
  { hosts }: Pick<Registry, 'hosts'>,
  { registry }: Pick<Config, 'registry'>,
): Promise<number | undefined> {
  if (registry.driver !== 'postgres') return undefined;
  return Math.max(0, ...(await hosts.list()).map(({ term }) => term)) + MOST_MOVES;
}

/** Restores the registry, with rows that match the restored files, and moves it to its path atomically. */
async function layRegistry(options: RestoreOptions, laid: Laid, { keys }: RestorePlan): Promise<void> {
  const { config, driver, backup, clock, from } = options;
  const { manifest } = backup;
  const copy = await backup.path(manifest.registry, 'the registry');
  const draft = await driver.draft(copy, { clock, thresholds: config });
  const { registry } = draft;
  try {
    const { replica } = backup;
    await registry.hosts.endTerms(clock.now(), replica?.lastTerm ?? (await lastPossibleTerm(registry, config)));
    await settleRows(registry, options, laid);
    if (replica === null) {
      await keepLastBackup(registry.facts, lastBackupOf(manifest, from, unreadableIn(manifest).length), clock);
    }
    if (manifest.issuer !== '') await addFormerIssuer(registry.facts, manifest.issuer, clock);
    const lines = [
      replica === null
        ? ledgerEntry({ clock }, null, RESTORING, 'backup.restored', {
            reason: `${manifest.id}, made ${new Date(manifest.begun_ms).toISOString()}`,
          })
        : ledgerEntry({ clock }, null, RESTORING, 'replica.restored', { reason: restoredInWords(replica) }),
    ];
    const lost = [...keys.lost, ...(issuerOf(config.keysFolder) === null ? [KEY_FILES.signing] : [])];
    const made = [...new Set(lost)].filter((name) => !isThere(keyPath(config, name)));
    if (made.length > 0) {
      lines.push(ledgerEntry({ clock }, null, RESTORING, 'keys.made', { reason: lossesWithout(made).join(' ') }));
    }
    await registry.ledger.append(lines);
    await recordRestoredKeys(registry.facts, { ...config, driver }, clock);
    const { headPath } = driver;
    if (headPath !== null && manifest.head !== null && !isThere(headPath)) {
      await copyFile(await backup.path(manifest.head, 'the head of the ledger'), headPath);
      await chmodFile(headPath, 0o600);
      await syncFile(headPath);
    }
    await draft.place();
  } finally {
    await draft.discard();
  }
}

async function settleRows(
  registry: Registry,
  { config, drawers, backup, clock }: RestoreOptions,
  laid: Laid,
): Promise<void> {
  const { manifest } = backup;
  const nowMs = clock.now();
  for (const [key, stamp] of laid.copies) {
    const [kind, hash] = key.split(' ') as [CopyKind, string];
    await registry.copies.updateFileRecord(kind, hash, fileRecord(stamp, { sha256: hash, quickCheck: 'ok' }));
  }
  const gone = manifest.copies.filter(({ object, wrong }) => object === null && wrong === null);
  await forgetCopies(registry, new Set(gone.map(({ kind, hash }) => `${kind} ${hash}`)), nowMs);
  for (const row of manifest.rows) {
    const stamp = laid.rows.get(row.id) ?? laid.copies.get(await sourceOf(registry, row.id, row.how)) ?? null;
    const address = restoredFile({ config, drawers }, row)?.address ?? null;
    await settleRow({ registry, nowMs, from: restoredFrom(backup, row.id), row, address, stamp });
  }
}

/** Which copy a sandbox that was never resumed is made from, as `laid.copies` names it. */
async function sourceOf(registry: Registry, id: InstanceId, how: string): Promise<string> {
  if (how !== 'shared') return '';
  const copy = parseCopyPath((await registry.instances.get(id))?.vfsPath ?? '');
  return copy === null ? '' : `${copy.kind} ${copy.hash}`;
}
