/**
 * Finds what is wrong with a data folder under a running engine: compares rows, files and ledger. Knows nothing of
 * faults or their causes.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { objectNameOf, parseCloudAddress } from '../../base/cloud-address.ts';
import type { Host } from '../../host/host.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { LISTING_SUFFIX, ROW_SUFFIX } from '../../sandboxes/store/row-document.ts';
import { sha256Of, stampOf } from '../../storage/files.ts';
import { isProbeName } from '../../storage/object-store/probe.ts';
import { filesIn } from '../files-in.ts';
import { REPLICA_FOLDER, STORE_FOLDER } from './stage.ts';

/** Files of the server itself, beside those of sandboxes. */
const OF_SERVER = /^(?:lock\.sqlite|[a-z._-]+\.(?:key|secret)|\.staging|load\/minutes\.sqlite(?:-wal|-shm)?)$/;
/** Where the cached copies of stored files lie. */
const LOCAL = {
  cold: (id: string) => `cold/${id}.sqlite`,
  archive: (id: string) => `archive/${id}.sqlite.zst`,
} as const;
/** What a replica has here and there, and what a restore has set aside. */
const OF_REPLICA = new RegExp(`^(?:replica|${REPLICA_FOLDER}|replaced-[^/]+)/`);
const MOST_NAMES = 100_000;
const SETTLES_MS = 120_000;
const STEP_MS = 25;

/** Exceptions for scenarios that keep a file aside on purpose. */
interface Leave {
  /** Sandboxes that may be faulted. */
  faults?: readonly string[];
  /** Files may lie in `orphans/`. */
  keptAside?: boolean;
  /** Other hosts use the registry too. */
  amongOthers?: boolean;
}

/** A sentence for every finding; none when all is well. */
async function findings(
  host: Host,
  { faults = [], keptAside = false, amongOthers = false }: Leave = {},
): Promise<string[]> {
  const { registry, config } = host;
  const folder = config.dataFolder;
  const found: string[] = [];
  const explained = new Set<string>();
  const rows: InstanceRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await registry.instances.list({ sort: 'name', reverse: false, limit: 200, ...(cursor && { cursor }) });
    rows.push(...page.rows);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  for (const row of rows) {
    // Its files are on another host's disk.
    if (row.ownerHost !== null && row.ownerHost !== config.hostName) continue;
    const says = (what: string) => found.push(`${row.id} (${row.state}): ${what}`);
    if (row.pending !== null) says(`its ${row.pending.verb} is unfinished`);
    if (row.fault !== null && !faults.includes(row.id)) says(`it is ${row.fault}: ${row.faultReason}`);
    const { rows: hops } = await registry.ledger.page({ instance: row.id, type: 'transition' }, 1);
    const last = hops[0]?.to ?? 'created';
    if (last !== row.state) says(`the ledger says ${last}`);
    if (row.vfsPath === null || row.vfsPath === ':memory:') {
      if (row.state !== 'created' && row.state !== 'deleted') says('its row names no file');
      continue;
    }
    const stored = parseCloudAddress(row.vfsPath);
    const name = stored === null ? row.vfsPath : LOCAL[stored.kind](row.id);
    const path = join(folder, name);
    explained.add(name);
    if (stored !== null && !existsSync(join(folder, STORE_FOLDER, objectNameOf(row.vfsPath)))) {
      says(`the store does not have ${row.vfsPath}`);
    }
    if (row.state === 'archived') {
      explained.add(`archive/${row.id}.json`);
      if (row.vfsPath.startsWith('live/')) explained.add(`archive/${row.id}.sqlite.zst`);
    }
    const stamp = stampOf(path);
    if (stamp === null) {
      if (stored === null) says(`there is no file at ${row.vfsPath}`);
      continue;
    }
    if (row.state === 'active') {
      for (const suffix of ['-wal', '-shm', '-shipped']) explained.add(`${row.vfsPath}${suffix}`);
      continue;
    }
    if (row.file === null) says('nothing is recorded of its file');
    else if (row.file.inode !== stamp.inode && row.file.sha256 === null && row.file.identity === null) {
      says('its file is not the recorded one');
    } else if (row.file.sha256 !== null && !name.endsWith('.zst') && row.file.sha256 !== (await sha256Of(path))) {
      says('its file has other bytes than were recorded');
    }
  }
  const snapshots = await registry.copies.snapshots({}, 200);
  for (const { hash } of snapshots.rows) explained.add(`snapshots/${hash}.sqlite`);
  const blueprints = await registry.copies.blueprints(200);
  for (const { hash } of blueprints.rows) explained.add(`blueprints/${hash}.sqlite`);
  for (const copy of explained) {
    if (/^(snapshots|blueprints)\//.test(copy) && !existsSync(join(folder, copy))) found.push(`${copy} is gone`);
  }
  for (const path of await registry.copies.unclaimedFiles()) {
    // It may be landing on another host, which removes the mark.
    if (amongOthers && !existsSync(join(folder, path))) continue;
    // The file of a deleted copy that a sandbox is still to be made from goes with that.
    if (await registry.copies.isNeeded(path)) explained.add(path);
    else found.push(`the mark of ${path} was left`);
  }
  if (host.store !== null) {
    explained.add(`${STORE_FOLDER}/winterdock.json`);
    for (const { name } of await registry.storeNames.page('', MOST_NAMES)) {
      for (const suffix of ['', ROW_SUFFIX, LISTING_SUFFIX]) explained.add(`${STORE_FOLDER}/${name}${suffix}`);
    }
    const { n } = await registry.instances.uploadBacklog();
    if (n > 0) found.push(`${n} are not in the store yet`);
  }
  for (const path of filesIn(folder)) {
    // What a killed upload left goes with its name, a day later.
    if (path.startsWith(`${STORE_FOLDER}/.staging/`)) continue;
    // What a killed start left of trying it the doctor removes.
    if (isProbeName(path.slice(STORE_FOLDER.length + 1))) continue;
    if (keptAside && path.startsWith('orphans/')) continue;
    // Looked at by itself.
    if (host.replica !== null && OF_REPLICA.test(path)) continue;
    if (!explained.has(path) && !OF_SERVER.test(path)) found.push(`${path} is nobody’s`);
  }
  for (const name of readdirSync(join(folder, 'live'))) {
    if (name !== '.staging' && readdirSync(join(folder, 'live', name)).length === 0)
      found.push(`live/${name} is empty`);
  }
  const proof = await host.ledger.verify();
  if (proof.flaw !== null) found.push(`the ledger: ${proof.flaw.why}`);
  return found;
}

/** The same, once background work is done: what is still wrong then stays wrong. */
export async function lastingFindings(host: Host, leave?: Leave): Promise<string[]> {
  const until = performance.now() + SETTLES_MS;
  let found = await findings(host, leave);
  while (found.length > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    await host.sandboxes.tick();
    found = await findings(host, leave);
  }
  return found;
}
