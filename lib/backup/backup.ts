/**
 * Backs up a whole data folder: a consistent copy of the registry, the file of every sandbox in it, the files of
 * snapshots and blueprints, the signed head of the ledger and, on request, the key files. The server may be running or
 * stopped; a backup never blocks it. Knows nothing of the destination.
 */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { copyFile, unlinkFile, writeFile } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { isThere } from '../base/is-there.ts';
import type { Signer } from '../base/signing.ts';
import type { LiveRegistryReader, RegistryDriver } from '../registry/driver.ts';
import { registryDriver } from '../registry/drivers.ts';
import type { Drawers } from '../storage/drawer.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import type { Readers } from '../vfs/types.ts';
import { copyResting, FileMoved, objectAt } from './copy-file.ts';
import { copyRow, keep, type RowParts } from './copy-row.ts';
import { copyStoredCopy } from './copy-stored.ts';
import { encryptKeys, keyFilesOf, readKeys } from './key-files.ts';
import {
  type BackupCopy,
  type BackupManifest,
  type BackupRow,
  backupId,
  backupManifestText,
  MANIFEST_KIND,
  type ObjectRef,
  parseBackupManifest,
  unreadableIn,
} from './manifest.ts';
import type { BackupTarget } from './store.ts';

export interface BackupOptions {
  config: Pick<Config, 'dataFolder' | 'keysFolder' | 'maxSandboxBytes'>;
  driver: RegistryDriver;
  drawers: Drawers;
  target: BackupTarget;
  /** Who opens files of sandboxes. They can write beside drafts of the target. */
  readers: Readers;
  /** The host whose files are here, where others have theirs on their own disks. Default: all are here. */
  onlyOf?: string | null;
  /** Opens the store below the drawers; null or absent: none is set. */
  cold?: (() => Promise<ObjectStore>) | null;
  signer: Signer;
  clock: Clock;
  /** Encrypts the key files; null: they are left out. */
  passphrase: string | null;
  /** The id of the backup. Default: one of the moment that it is of. */
  id?: string;
  /** Told how many sandboxes of how many are copied. */
  progress?: (done: number, all: number) => void;
}

export interface BackupResult {
  manifest: BackupManifest;
  /** Objects that were not there yet. */
  added: { objects: number; bytes: number };
  /** What is not sound in the source, a sentence each. */
  wrong: string[];
}

/** Rows read of the registry at a time. */
const PAGE = 500;
/** Sandboxes copied at the same time: hashing is on other threads, and the disk has one arm. */
const AT_ONCE = 2;
/** How often what was reused is asked for again. */
const ROUNDS = 4;

/**
 * Makes a backup. Throws `not_found` when there is no registry, and system errors of the target; earlier backups there
 * stay whole.
 */
export async function makeBackup(options: BackupOptions): Promise<BackupResult> {
  const { config, driver, drawers, target, signer, clock, passphrase } = options;
  if (!driver.isKept) {
    throw new WinterdockError('not_found', 'A registry in memory has no file: there is nothing to back up.');
  }
  if ((await driver.presence()).kind === 'missing') {
    throw new WinterdockError('not_found', `There is no registry at ${driver.name}.`, {
      hint: 'Set WB_DATA, and WB_REGISTRY where it lies elsewhere, as the server has them.',
    });
  }
  const added = { objects: 0, bytes: 0 };
  const fresh = new Set<string>();
  const count = (object: ObjectRef) => {
    fresh.add(object.sha256);
    added.objects += 1;
    added.bytes += object.bytes;
  };
  // Before the registry, so that the ledger goes through it.
  const head = await smallFile(options, driver.headPath, count);
  const begun = clock.now();
  const live = await driver.readLive();
  const draft = target.draft();
  let moment: LiveRegistryReader | null = null;
  try {
    await live.copyTo(draft);
    const registry = await objectAt(draft);
    moment = await registryDriver({ driver: 'sqlite', path: draft }).readLive();
    const parts: RowParts = {
      config,
      drawers,
      target,
      onlyOf: options.onlyOf ?? null,
      readers: options.readers,
      cold: options.cold ?? null,
      row: (id) => live.row(id),
      before: new Map((target.last?.rows ?? []).map((row) => [row.id, row])),
      added: count,
    };
    const { copies, rows } = await copyAll({ ...options, count, live, moment, parts, fresh });
    const migrations = await moment.migrations();
    const ledger = await moment.chainHead();
    await moment.close();
    moment = null;
    await keep({ target, added: count }, draft, registry);
    const files = keyFilesOf(config);
    const document: Omit<BackupManifest, 'issuer'> = {
      kind: MANIFEST_KIND,
      id: options.id ?? backupId(begun, randomBytes(4).toString('hex')),
      begun_ms: begun,
      made_ms: clock.now(),
      version: packageJson.version,
      migrations,
      registry,
      head,
      ledger,
      rows,
      copies,
      keys: {
        files,
        object: passphrase === null ? null : await keptKeys(options, passphrase, files, count),
      },
    };
    const text = backupManifestText(document, signer);
    await target.finish(document.id, text);
    return { manifest: parseBackupManifest(text), added, wrong: unreadableIn(document) };
  } finally {
    await moment?.close();
    await live.close();
    await unlinkFile(draft);
  }
}

interface CopyingParts extends BackupOptions {
  count: (object: ObjectRef) => void;
  live: LiveRegistryReader;
  moment: LiveRegistryReader;
  parts: RowParts;
  /** Hashes of the objects that this backup has added. */
  fresh: ReadonlySet<string>;
}

/**
 * Copies everything but the registry. Objects that were there already are asked for again at the end, and what is no
 * longer there is copied after all. Throws `conflict` when they go away as often as they are copied.
 */
async function copyAll(copying: CopyingParts): Promise<Pick<BackupManifest, 'copies' | 'rows'>> {
  const { target, parts, fresh } = copying;
  let copies = await copyCopies(copying);
  const rows = await copyRows(parts, copying.moment, copying.progress);
  for (let round = 1; ; round += 1) {
    const reused = new Map<string, ObjectRef>();
    for (const { object } of [...copies, ...rows]) if (object !== null) reused.set(object.sha256, object);
    for (const { listing } of rows) if (listing !== null) reused.set(listing.sha256, listing);
    const asked = [...reused.values()].filter(({ sha256 }) => !fresh.has(sha256));
    const gone = new Set((await target.missing(asked)).map(({ sha256 }) => sha256));
    if (gone.size === 0) return { copies, rows };
    if (round === ROUNDS) {
      throw new WinterdockError('conflict', `Objects of earlier backups went away while they were named again.`, {
        hint: 'Does something else remove files from the place of backups?',
      });
    }
    copies = await copyCopies(copying);
    for (const [at, { id, object, listing }] of rows.entries()) {
      if (gone.has(object?.sha256 ?? '') || gone.has(listing?.sha256 ?? '')) rows[at] = await copyRow(parts, id);
    }
  }
}

async function copyRows(
  parts: RowParts,
  moment: LiveRegistryReader,
  progress: BackupOptions['progress'],
): Promise<BackupRow[]> {
  const all = await moment.count();
  const rows: BackupRow[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await moment.rows(after, PAGE);
    for (let at = 0; at < page.length; at += AT_ONCE) {
      rows.push(...(await Promise.all(page.slice(at, at + AT_ONCE).map(({ id }) => copyRow(parts, id)))));
      progress?.(rows.length, all);
    }
    after = page.at(-1)?.id;
  }
  return rows;
}

/**
 * The files of snapshots and blueprints: named by their hash and never changed, so one that is there already is not
 * read.
 */
async function copyCopies({ drawers, target, cold, moment, live, count }: CopyingParts): Promise<BackupCopy[]> {
  const copies: BackupCopy[] = [];
  for (const { kind, hash, bytes } of await moment.copies()) {
    const known = { sha256: hash, bytes };
    if (await target.has(known)) {
      copies.push({ kind, hash, object: known, wrong: null });
      continue;
    }
    const draft = target.draft();
    try {
      const { object } = await copyResting(drawers[kind].at(hash), draft);
      await keep({ target, added: count }, draft, object);
      const wrong = object.sha256 === hash ? null : 'its bytes are not those of its name';
      copies.push({ kind, hash, object, wrong });
    } catch (error) {
      if (!(error instanceof FileMoved)) throw error;
      const name = await live.storedCopy(kind, hash);
      const stored = cold == null || name === null ? null : await ofStore({ target, added: count }, cold, name, known);
      if (stored !== null) {
        copies.push({ kind, hash, object: stored, wrong: null });
        continue;
      }
      const needed = (await live.copies()).some((copy) => copy.kind === kind && copy.hash === hash);
      copies.push({ kind, hash, object: null, wrong: needed ? 'there was no file of it' : null });
    } finally {
      await unlinkFile(draft);
    }
  }
  return copies;
}

/** A copy that is in the store alone; null: it is not there, or not as it was. */
async function ofStore(...args: Parameters<typeof copyStoredCopy>): Promise<ObjectRef | null> {
  try {
    return await copyStoredCopy(...args);
  } catch (error) {
    if (error instanceof FileMoved) return null;
    throw error;
  }
}

async function smallFile(
  { target }: BackupOptions,
  path: string | null,
  count: (object: ObjectRef) => void,
): Promise<ObjectRef | null> {
  if (path === null || !isThere(path)) return null;
  const draft = target.draft();
  try {
    await copyFile(path, draft);
    const object = await objectAt(draft);
    await keep({ target, added: count }, draft, object);
    return object;
  } finally {
    await unlinkFile(draft);
  }
}

async function keptKeys(
  { config, target }: BackupOptions,
  passphrase: string,
  files: string[],
  count: (object: ObjectRef) => void,
): Promise<ObjectRef> {
  const draft = target.draft();
  try {
    await writeFile(draft, await encryptKeys(readKeys(config, files), passphrase));
    const object = await objectAt(draft);
    await keep({ target, added: count }, draft, object);
    return object;
  } finally {
    await unlinkFile(draft);
  }
}

/** Whether a path is, or lies in, a data folder: a backup there would be lost with it. */
export function isInside(path: string, { dataFolder }: Pick<Config, 'dataFolder'>): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (at === dataFolder) return true;
    if (at === dirname(at)) return false;
  }
}
