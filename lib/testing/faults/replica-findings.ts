/**
 * Finds what is wrong with the replica of a data folder: what a restore of now would have of a sandbox, what of it is
 * in a restore once everything was shipped, and what lies in the spool or in the store that nothing explains. Knows
 * nothing of faults or their causes.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../base/errors.ts';
import { examine } from '../../doctor/examine.ts';
import { createDrawers } from '../../host/drawers.ts';
import { registryDriver } from '../../registry/drivers.ts';
import { findMoment, restoreMoment } from '../../replication/moments/replica-reader.ts';
import { parseSegmentName, REGISTRY_ID } from '../../replication/names/replica-names.ts';
import { sha256Of } from '../../storage/files.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { filesIn } from '../files-in.ts';
import type { PlainHost } from '../plain-ids.ts';
import { KEPT, REPLICA_FOLDER, type Stage, stageConfig, textIn } from './stage.ts';

/** The file of a sandbox that scenarios write again and again: what it has is a number. */
export const NUMBER = '/n';
const CONNECTION = { endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} };
const SETTLES_MS = 60_000;
const STEP_MS = 20;
/** A log that could not be removed stays until the next start. */
const KEPT_LOG = /^spool\/[^/]+\/log-[^/]+$/;

/** What a restore may have of a sandbox: the text of its file (null: none), and the state of its row; null: no row. */
export interface MayBe {
  texts: readonly (string | null)[];
  states: readonly (string | null)[];
}

/** What is wrong with what a restore of this moment would have of a sandbox, and of the registry. */
export async function restorableFindings(folder: string, id: string, { texts, states }: MayBe): Promise<string[]> {
  return withRestored(folder, async (restored) => {
    const found: string[] = [];
    const registry = await restored(REGISTRY_ID);
    if (registry === null) return ['a restore has no registry'];
    const rows = queryOf(registry.path, 'SELECT state FROM instances WHERE id = ?', id);
    const state = rows === undefined ? null : String(rows.state);
    if (!states.includes(state)) found.push(`in a restore it is ${state}, not ${states.join(' or ')}`);
    const file = await restored(id);
    if (texts.length === 0) return found;
    const text = file === null ? null : contentOf(file.path, NUMBER);
    if (!texts.includes(text)) found.push(`a restore has ${text} of it, not ${texts.join(' or ')}`);
    if (file !== null && contentOf(file.path, '/kept') !== KEPT.workspace) found.push('a restore lacks its kept file');
    return found;
  });
}

/**
 * What is wrong once everything was shipped: a restore has what the sandbox has, and of one at rest its very bytes;
 * nothing waits in the spool, and nothing lies there or in the store that nobody needs. `keepsLog`: a log may have
 * stayed there.
 */
export async function shippedFindings(host: PlainHost, id: string, keepsLog: boolean): Promise<string[]> {
  const folder = host.config.dataFolder;
  try {
    await settled(host);
  } catch (error) {
    return [messageOf(error)];
  }
  const found = await lastingLeftovers(host, keepsLog);
  const row = await host.registry.instances.get(id);
  if (row === null || row.vfsPath === null || row.state === 'created' || row.state === 'deleted') return found;
  const live = await textIn(host, id, 'workspace', NUMBER);
  const compared = await withRestored(folder, async (restored) => {
    const file = await restored(id);
    if (file === null) return ['a restore has nothing of it'];
    const text = contentOf(file.path, NUMBER);
    if (text !== live) return [`a restore has ${text} of it, and it has ${live}`];
    const atRest = row.state === 'suspended' || row.state === 'frozen';
    if (!atRest || row.vfsPath === null) return [];
    const own = await sha256Of(join(folder, row.vfsPath));
    return own === file.sha256 ? [] : ['a restore has other bytes than its file at rest'];
  });
  return [...found, ...compared];
}

/** Resolves once the replica has everything that was committed by now. Throws when it does not come to that. */
export async function settled(host: PlainHost): Promise<void> {
  const { replica } = host;
  if (replica === null) throw new Error('There is no replica.');
  const until = performance.now() + SETTLES_MS;
  const isWhole = () =>
    replica.uploads.bytes === 0 &&
    replica.uploads.away === null &&
    replica.files.stale.size === 0 &&
    replica.files.lags().every(({ behindMs }) => behindMs === 0) &&
    filesIn(join(host.config.dataFolder, 'replica')).every((path) => !/^(spool\/.*\.ltx|resting\/)/.test(path));
  for (;;) {
    const flushed = Promise.all([replica.registry?.flush(), replica.levels.whenMerged()]);
    const isFlushed = await Promise.race([
      flushed.then(() => true),
      pause(Math.max(0, until - performance.now()), false),
    ]);
    if (isFlushed && isWhole()) return;
    if (performance.now() > until) throw new Error(`the replica is not whole: ${await whyNot(host)}`);
    await pause(STEP_MS);
  }
}

/** What `doctor` finds in a data folder whose engine is stopped. */
export async function doctorFindings({ folder, among, stores }: Pick<Stage, 'folder' | 'among' | 'stores'>) {
  const config = stageConfig(folder, among, stores);
  const location = { ...config, driver: registryDriver(config.registry), drawers: createDrawers(config) };
  const { findings } = await examine({ location, readers: null });
  return findings.filter(({ weight }) => weight !== 'note').map(({ kind, says }) => `doctor finds ${kind}: ${says}`);
}

async function whyNot({ replica, config, registry }: PlainHost): Promise<string> {
  const { uploads, files } = replica ?? {};
  const late = files?.lags().filter(({ behindMs }) => behindMs > 0).length;
  const stale = await Promise.all([...(files?.stale ?? [])].map(async (id) => registry.instances.get(id)));
  const spooled = filesIn(join(config.dataFolder, 'replica')).filter((path) => /^(spool|resting)\//.test(path));
  return [
    `${uploads?.bytes} bytes wait, ${uploads?.away?.why ?? 'the store is there'}, ${late} are late`,
    ...stale.map((row) => `${row?.id} is ${row?.state} and stale`),
    ...spooled,
  ].join('; ');
}

/** The same as `leftoversIn`, once what is under way is done. */
async function lastingLeftovers(host: PlainHost, keepsLog: boolean): Promise<string[]> {
  const until = performance.now() + SETTLES_MS;
  for (;;) {
    const found = await leftoversIn(host, keepsLog);
    if (found.length === 0 || performance.now() > until) return found;
    await pause(STEP_MS);
  }
}

/** What lies beside the data or in the store, of the replica, and is of nobody. */
async function leftoversIn({ config, registry }: PlainHost, keepsLog: boolean): Promise<string[]> {
  const found: string[] = [];
  /** What is deleted goes with its hour from what is to be merged. */
  const isWanted = async (kind: string, id: string) => {
    const row = id === REGISTRY_ID ? null : await registry.instances.get(id);
    return id === REGISTRY_ID || (row !== null && (kind === 'levels' || row.state !== 'deleted'));
  };
  for (const path of filesIn(join(config.dataFolder, 'replica'))) {
    const [, kind, id = ''] = /^(levels|positions|registry)\/([^/]+?)(?:\.json|\/.+\.ltx)$/.exec(path) ?? [];
    const isOwn = /^(clock|keys\.json|unneeded-copies\.json)$/.test(path) || (keepsLog && KEPT_LOG.test(path));
    if (!isOwn && (kind === undefined || !(await isWanted(kind, id)))) found.push(`replica/${path} is nobody’s`);
  }
  for (const path of filesIn(join(config.dataFolder, REPLICA_FOLDER))) {
    const place = parseSegmentName(path);
    const isKnown = place !== null && (place.id === REGISTRY_ID || (await registry.instances.get(place.id)) !== null);
    // What a killed upload left stays there, without a name; of a killed probe a doctor tells, a day later.
    const isOwn = /^(winterdock\.json|\.staging\/.+|probe\/.+|replica\/_(keys|copies)\/.+)$/.test(path);
    if (!isKnown && !isOwn) found.push(`${path} is nobody’s in the replica`);
  }
  return found;
}

/** Runs `work` with what restores the newest moment of a sandbox, or of the registry; null: there is none. */
async function withRestored(
  folder: string,
  work: (restored: (id: string) => Promise<{ path: string; sha256: string } | null>) => Promise<string[]>,
): Promise<string[]> {
  const at = join(folder, REPLICA_FOLDER);
  if (!existsSync(at)) return ['there is no replica'];
  const store = await openObjectStore(pathToFileURL(at).href, CONNECTION);
  const tmp = mkdtempSync(join(tmpdir(), 'winterdock-restored-'));
  try {
    return await work(async (id) => {
      const moment = await findMoment(store, id, null, null);
      if (moment === null) return null;
      const target = join(tmp, `${id}.sqlite`);
      const { sha256 } = await restoreMoment(store, moment, { target, tmp: join(tmp, 'segments'), atRest: true });
      const check = queryOf(target, 'PRAGMA quick_check');
      if (check?.quick_check !== 'ok') throw new Error(`the database of ${id} is damaged in a restore`);
      return { path: target, sha256 };
    });
  } catch (error) {
    return [`a restore fails: ${messageOf(error)}`];
  } finally {
    await store.close();
    rmSync(tmp, { recursive: true, force: true });
  }
}

function contentOf(path: string, name: string): string | null {
  const row = queryOf(path, "SELECT content FROM vfs WHERE volume = 'workspace' AND path = ?", name);
  return row === undefined ? null : Buffer.from(row.content as Uint8Array).toString();
}

function queryOf(path: string, sql: string, ...values: string[]): Record<string, unknown> | undefined {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return db.prepare(sql).get(...values);
  } finally {
    db.close();
  }
}
