/**
 * Opens a replica as a backup of the newest moment up to a time: the registry as it was then, and of each sandbox the
 * newest state that was committed by then. Only the registry is made at once; the file of a sandbox is made when it is
 * prepared, and what it is, is known then. Changes nothing in the replica.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { isCloudAddress } from '../base/cloud-address.ts';
import { parseCopyPath } from '../base/copy-paths.ts';
import { makeFolder, removeTree, syncFile, unlinkFile, writeFile } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { LiveRegistryReader } from '../registry/driver.ts';
import { registryDriver } from '../registry/drivers.ts';
import type { InstanceRow } from '../registry/types.ts';
import { surveyReplica } from '../replication/levels/replica-survey.ts';
import { makeMoment } from '../replication/moments/make-moment.ts';
import { type FoundMoment, findMoment } from '../replication/moments/replica-reader.ts';
import { REGISTRY_ID } from '../replication/names/replica-names.ts';
import type { TenantBundles } from '../replication/segment-bundles/bundle-reader.ts';
import { MEMORY } from '../sandboxes/engine.ts';
import { sha256Of, stampOf } from '../storage/files.ts';
import { readMarker } from '../storage/object-store/marker.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { pack } from '../storage/zstd.ts';
import { openLiveFile, restLiveFile } from '../vfs/handles.ts';
import { INSTALLATION } from './backup-settings.ts';
import { type BackupCopy, type BackupManifest, type BackupRow, MANIFEST_KIND, type ObjectRef } from './manifest.ts';
import type { OpenedBackup } from './open-backup.ts';
import { allBegun, type Begun, wordsOfBegun } from './replica-begun.ts';
import { copyInReplica, type KeysInReplica, keysAt } from './replica-extras.ts';
import type { ReplicaReport } from './replica-report.ts';
import { fewAtOnce, isBehind, newestMoments, rowsInMoment } from './replica-rows.ts';

/** Files made at the same time. */
const FILES_AT_ONCE = 4;
/** Room for the tables alone. */
const EMPTY_BYTES = 1024 * 1024;
const EARLIER = 'Restore an earlier moment with --at, or what is sound of it one sandbox at a time with --instance.';

export interface ReplicaOptions {
  store: ObjectStore;
  /** Absolute; made for what is restored, on the disk of the data folder. */
  tmpFolder: string;
  /** Epoch milliseconds; null: the newest moment. */
  atMs: number | null;
  /** The one sandbox that is wanted; null: all. */
  only: InstanceId | null;
}

/** What an object of the manifest is made from. */
type Source =
  | { kind: 'sandbox'; row: InstanceRow; moment: FoundMoment }
  /** As it was when it began. */
  | Exclude<Begun, { kind: 'missing' }>
  | { kind: 'copy'; name: string; sha256: string }
  | { kind: 'keys'; bytes: Uint8Array };

interface Made {
  path: string;
  object: ObjectRef;
  /** Whether the state of the row is that of the file. */
  isFiled: boolean;
  /** Of a packed one: the hash of what it expands to. */
  expands: string | null;
}

/** Whether a store has the replica of an installation. Throws `storage_unavailable`. */
export async function hasReplica(store: ObjectStore): Promise<boolean> {
  for await (const page of store.list(`replica/${REGISTRY_ID}/`)) if (page.length > 0) return true;
  return false;
}

/**
 * Opens the replica of an installation. Throws `not_found` when it has no moment up to `atMs`, `conflict` when it is
 * not that of the installation whose marker lies there, `corrupt` when the registry's moment is damaged.
 */
export async function openReplica(options: ReplicaOptions): Promise<OpenedBackup> {
  try {
    return await opened(options);
  } catch (error) {
    await removeTree(options.tmpFolder);
    throw error;
  }
}

async function opened(options: ReplicaOptions): Promise<OpenedBackup> {
  const { store, tmpFolder, atMs, only } = options;
  const marker = await readMarker(store);
  if (marker === null || marker === 'other') {
    throw new WinterdockError('not_found', `${store.url} has no marker of an installation.`);
  }
  const moment = await findMoment(store, REGISTRY_ID, atMs, null);
  if (moment === null) {
    const upTo = atMs === null ? '' : ` up to ${new Date(atMs).toISOString()}`;
    throw new WinterdockError('not_found', `The replica in ${store.url} has no moment of the registry${upTo}.`, {
      hint: 'A registry on Postgres is in no replica: bring it back by its own means, or from a backup.',
    });
  }
  await makeFolder(tmpFolder);
  const registryAt = join(tmpFolder, 'registry.sqlite');
  const by = { id: REGISTRY_ID, atMs, bundles: null };
  const to = { target: registryAt, whose: 'The registry', hint: EARLIER };
  const { rebuilt: registry } = await makeMoment(store, by, moment, to);
  const driver = registryDriver({ driver: 'sqlite', path: registryAt });
  await requireSame(store, driver, marker.id);
  const reader = await driver.readLive();
  try {
    const survey = await surveyReplica(store);
    const rows = await rowsInMoment(reader, only);
    const bundles = new Map<string, TenantBundles>();
    const moments = await newestMoments(options, rows, survey.ids, bundles);
    const copies = await copiesOf(store, reader, rows, only);
    const begun = await allBegun(
      store,
      reader,
      rows.filter(({ id }) => !moments.has(id)),
      moment.timeMs,
    );
    const files = new ReplicaFiles(options, { rows, moments, bundles, begun, copies: copies.sources });
    const { keys, damaged } = await keysAt(store, moment.timeMs);
    const known = new Set(rows.map(({ id }) => String(id)));
    const times = new Map([...moments].map(([id, { timeMs }]) => [id, timeMs]));
    const behind = rows.flatMap((row) => (isBehind(row, moments.get(row.id)) ? [row.id] : []));
    const replica: ReplicaReport = {
      url: store.url,
      installation: marker.id,
      registryMs: moment.timeMs,
      lastTerm: survey.lastTerm,
      moments: times,
      notRestored: only === null ? survey.ids.filter((id) => id !== REGISTRY_ID && !known.has(id)) : [],
      begun: wordsOfBegun(begun),
      behind,
    };
    files.onEarlier(({ id }, { timeMs }) => {
      times.set(id, timeMs);
      if (!behind.includes(id)) behind.push(id);
    });
    const fixed = {
      kind: MANIFEST_KIND,
      id: `replica-${new Date(moment.timeMs).toISOString().replaceAll(':', '')}`,
      begun_ms: moment.timeMs,
      made_ms: moment.timeMs,
      version: packageJson.version,
      migrations: await reader.migrations(),
      registry: { sha256: registry.sha256, bytes: registry.bytes },
      head: null,
      ledger: await reader.chainHead(),
      issuer: keys?.issuer ?? '',
    } as const;
    const backup = files.asBackup(fixed, copies.list, keys, replica, { sha256: registry.sha256, path: registryAt });
    backup.passedOver.push(...damaged.map((name) => `The key files in ${name} cannot be read.`));
    return backup;
  } finally {
    await reader.close();
  }
}

async function requireSame(store: ObjectStore, driver: ReturnType<typeof registryDriver>, id: string): Promise<void> {
  const inside = await driver.inspect();
  try {
    if ((await inside.fact(INSTALLATION)) === id) return;
  } finally {
    await inside.close();
  }
  throw new WinterdockError(
    'conflict',
    `The marker in ${store.url} is that of another installation than its replica.`,
    {
      hint: 'Nothing was restored. Was the replica copied to the place of another one?',
    },
  );
}

/** The files of snapshots and blueprints that the rows need. Those in the store below the drawers stay there. */
async function copiesOf(
  store: ObjectStore,
  reader: LiveRegistryReader,
  rows: readonly InstanceRow[],
  only: InstanceId | null,
): Promise<{ list: BackupCopy[]; sources: Map<string, Source> }> {
  const list: BackupCopy[] = [];
  const sources = new Map<string, Source>();
  for (const { kind, hash } of await reader.copies()) {
    const isWanted = rows.some(({ vfsPath }) => parseCopyPath(vfsPath ?? '')?.hash === hash);
    if ((only !== null && !isWanted) || (await reader.storedCopy(kind, hash)) !== null) continue;
    const name = copyInReplica(kind, hash);
    const stat = await store.head(name);
    if (stat !== null) sources.set(hash, { kind: 'copy', name, sha256: hash });
    const object = stat === null ? null : { sha256: hash, bytes: stat.bytes };
    list.push({ kind, hash, object, wrong: stat === null ? 'the replica has no file of it' : null });
  }
  return { list, sources };
}

type Fixed = Omit<BackupManifest, 'rows' | 'copies' | 'keys'>;

/** The files of one moment, as they are made. */
class ReplicaFiles {
  readonly #options: ReplicaOptions;
  readonly #rows: readonly InstanceRow[];
  readonly #moments: ReadonlyMap<InstanceId, FoundMoment>;
  readonly #bundles: ReadonlyMap<string, TenantBundles>;
  readonly #begun: ReadonlyMap<InstanceId, Begun>;
  /** By the hash in the manifest: of a file that is not made yet, of the name of its last segment. */
  readonly #sources: Map<string, Source>;
  readonly #made = new Map<string, Made>();
  /** Files by their hash: several sandboxes may have the same bytes. */
  readonly #paths = new Map<string, string[]>();
  /** Of a hash that a snapshot and a blueprint have: how many more need its one file. */
  readonly #shared = new Map<string, number>();
  #files = 0;
  #told: (row: InstanceRow, moment: FoundMoment) => void = () => undefined;

  constructor(
    options: ReplicaOptions,
    parts: {
      rows: readonly InstanceRow[];
      moments: ReadonlyMap<InstanceId, FoundMoment>;
      /** By tenant. */
      bundles: ReadonlyMap<string, TenantBundles>;
      begun: ReadonlyMap<InstanceId, Begun>;
      copies: Map<string, Source>;
    },
  ) {
    this.#options = options;
    this.#rows = parts.rows;
    this.#moments = parts.moments;
    this.#bundles = parts.bundles;
    this.#sources = parts.copies;
    this.#begun = parts.begun;
    for (const [id, begun] of parts.begun) if (begun.kind !== 'missing') this.#sources.set(beginOf(id), begun);
    for (const row of this.#rows) {
      const moment = this.#moments.get(row.id);
      if (moment !== undefined) this.#sources.set(keyOf(row.id, moment), { kind: 'sandbox', row, moment });
    }
  }

  /** Calls back when something is damaged and the file of a sandbox is of an earlier moment than was found. */
  onEarlier(listener: (row: InstanceRow, moment: FoundMoment) => void): void {
    this.#told = listener;
  }

  asBackup(
    fixed: Fixed,
    copies: BackupCopy[],
    keys: KeysInReplica | null,
    replica: ReplicaReport,
    registry: { sha256: string; path: string },
  ): OpenedBackup {
    const stays = new Map([[registry.sha256, registry.path]]);
    const sealed = keys?.sealed ?? null;
    const keysObject = sealed === null ? null : { sha256: hashOf(sealed), bytes: sealed.length };
    if (sealed !== null && keysObject !== null) {
      this.#sources.set(keysObject.sha256, { kind: 'keys', bytes: sealed });
    }
    const copiesInStore = new Set<string>();
    for (const { hash } of copies) {
      if (copiesInStore.has(hash)) this.#shared.set(hash, (this.#shared.get(hash) ?? 0) + 1);
      copiesInStore.add(hash);
    }
    let manifest: BackupManifest | null = null;
    const files = this;
    return {
      replica,
      passedOver: [],
      get manifest() {
        manifest ??= {
          ...fixed,
          rows: files.#rows.map((row) => files.#rowOf(row, copiesInStore)),
          copies,
          keys: { files: keys?.files ?? [], object: keysObject },
        };
        return manifest;
      },
      async prepare(objects) {
        const wanted = objects.filter(({ sha256 }) => files.#sources.has(sha256) && !files.#made.has(sha256));
        await fewAtOnce(wanted, FILES_AT_ONCE, ({ sha256 }) => files.#make(sha256));
        manifest = null;
      },
      async path(object, label) {
        const key = files.#made.get(object.sha256)?.object.sha256 ?? object.sha256;
        const path = stays.get(key) ?? files.#paths.get(key)?.at(-1);
        if (path !== undefined) return path;
        throw new WinterdockError('missing_file', `The replica has no object ${object.sha256}, which is ${label}.`);
      },
      take: ({ sha256 }) => files.#take(sha256),
      close: () => removeTree(files.#options.tmpFolder),
    };
  }

  /** Copies are placed first and one after the other: each that shares its file with a later one copies it. */
  #take(sha256: string): string | null {
    const shared = this.#shared.get(sha256) ?? 0;
    if (shared === 0) return this.#paths.get(sha256)?.pop() ?? null;
    this.#shared.set(sha256, shared - 1);
    return null;
  }

  async #make(key: string): Promise<void> {
    const source = this.#sources.get(key);
    if (source === undefined || this.#made.has(key)) return;
    const { store, tmpFolder } = this.#options;
    this.#files += 1;
    const path = join(tmpFolder, `${this.#files}.sqlite`);
    if (source.kind === 'sandbox') return this.#add(key, await this.#makeFile(source.row, source.moment, path));
    if (source.kind === 'empty') return this.#add(key, await makeEmpty(path));
    if (source.kind === 'origin') {
      const { name, sha256 } = source;
      await store.download(name, path, { sha256 });
      return this.#add(key, { path, object: { sha256, bytes: bytesOf(path) }, isFiled: false, expands: null });
    }
    if (source.kind === 'keys') await writeFile(path, source.bytes);
    else await store.download(source.name, path, { sha256: source.sha256 });
    this.#add(key, { path, object: { sha256: key, bytes: bytesOf(path) }, isFiled: true, expands: null });
  }

  #add(key: string, made: Made): void {
    this.#made.set(key, made);
    const { sha256 } = made.object;
    this.#paths.set(sha256, [...(this.#paths.get(sha256) ?? []), made.path]);
  }

  async #makeFile(row: InstanceRow, found: FoundMoment, path: string): Promise<Made> {
    const bundles = this.#bundles.get(row.tenant) ?? null;
    const { store, atMs } = this.#options;
    const by = { id: row.id, atMs, bundles };
    const to = { target: path, whose: `"${row.id}"`, hint: EARLIER };
    const { rebuilt, moment } = await makeMoment(store, by, found, to);
    const { sha256, bytes, wasAtRest } = rebuilt;
    if (moment !== found) this.#told(row, moment);
    const filed = row.file?.sha256 ?? null;
    const isSame = filed === null ? wasAtRest && row.file?.size === bytes : filed === sha256;
    const isFiled = isSame && row.state !== 'active';
    // Of the one that is wanted nobody needs it packed.
    const isPacked = isFiled && row.state === 'archived' && this.#options.only === null;
    if (!isPacked) return { path, object: { sha256, bytes }, isFiled, expands: null };
    const packed = `${path}.zst`;
    await pack(path, packed);
    await syncFile(packed);
    await unlinkFile(path);
    const object = { sha256: await sha256Of(packed), bytes: bytesOf(packed) };
    return { path: packed, object, isFiled, expands: sha256 };
  }

  #rowOf(row: InstanceRow, copiesInReplica: ReadonlySet<string>): BackupRow {
    const { id, tenant, state, vfsPath } = row;
    const none = { id, tenant, state, object: null, packed: false, expands: null, listing: null, stamp: null };
    const without = (how: BackupRow['how'], wrong: string | null = null): BackupRow => ({ ...none, how, wrong });
    if (state === 'deleted') return without('none');
    if (vfsPath === MEMORY) return without('memory');
    const moment = this.#moments.get(id);
    if (moment !== undefined) return this.#rowWith(row, moment, none);
    const begun = this.#begun.get(id);
    if (begun !== undefined && begun.kind !== 'missing') {
      const bytes = begun.kind === 'origin' ? begun.bytes : 0;
      const object = this.#made.get(beginOf(id))?.object ?? { sha256: beginOf(id), bytes };
      return { ...without('whole'), state: 'suspended', object };
    }
    if (isCloudAddress(vfsPath)) return without('stored');
    if (vfsPath === null) return without('none');
    const copy = parseCopyPath(vfsPath);
    if (copy !== null) return without(copiesInReplica.has(copy.hash) ? 'shared' : 'stored');
    const since = new Date(row.stateSince * 1000).toISOString();
    const suspended = state === 'active' ? ({ state: 'suspended' } as const) : {};
    const why = begun === undefined ? `it was ${state} since ${since}` : begun.why;
    return { ...without('missing', `the replica has nothing of it; ${why}`), ...suspended };
  }

  #rowWith(row: InstanceRow, moment: FoundMoment, none: Omit<BackupRow, 'how' | 'wrong'>): BackupRow {
    const key = keyOf(row.id, moment);
    const made = this.#made.get(key);
    const object = made?.object ?? { sha256: key, bytes: moment.bytes };
    // Until it is made, a file at rest counts as the one that was filed.
    const isFiled = made?.isFiled ?? (row.state !== 'active' && row.file !== null);
    const expands = made?.expands ?? null;
    const wrong = !isFiled && row.fault === 'corrupt' ? (row.faultReason ?? 'it is corrupt') : null;
    const state = isFiled ? row.state : 'suspended';
    return { ...none, how: 'whole', state, object, packed: expands !== null, expands, wrong };
  }
}

/** Names a file that is not made yet: no file has such a hash. */
function keyOf(id: string, { series, chain }: FoundMoment): string {
  return hashOf(`${id} ${series.term} ${series.token} ${chain.at(-1)?.max}`);
}

const beginOf = (id: InstanceId) => hashOf(`${id} begins`);
const hashOf = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');
const bytesOf = (path: string) => stampOf(path)?.size ?? 0;

async function makeEmpty(path: string): Promise<Made> {
  restLiveFile(openLiveFile(path, { maxBytes: EMPTY_BYTES, mustExist: false }).db);
  await syncFile(path);
  const object = { sha256: await sha256Of(path), bytes: bytesOf(path) };
  return { path, object, isFiled: false, expands: null };
}
