/**
 * Makes rows from the documents in the store below the drawers, where the registry has none of these ids: each row
 * names the object, whose file is brought when somebody needs it. Nothing that is there is changed, what was deleted
 * stays so, and so do tenants that were forgotten. Every row is a transaction of its own, so what is interrupted goes
 * on where it stopped.
 */
import { z } from 'zod';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { isUnavailable, isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import { isInstanceId, parseInstanceId } from '../base/ids.ts';
import type { CopyDocument } from '../copies/copy-document.ts';
import { plan } from '../lifecycle/plan.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { CopyContent } from '../registry/copies.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { NOBODYS } from '../registry/store-names.ts';
import type { FileRecord, LedgerEntry } from '../registry/types.ts';
import type { RowDocument } from '../sandboxes/store/row-document.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { INSTALLATION } from './backup-settings.ts';
import { type NamesInStore, namesInStore, newestWhole, wholeCopy } from './rows-in-store.ts';
import { RESTORING } from './settle-row.ts';

/** Sandboxes looked at at the same time: most of the time each waits for the store. */
const AT_ONCE = 16;

export interface RowsFromStore {
  store: ObjectStore;
  registry: Registry;
  clock: Clock;
  /** Name of the host that makes the rows. */
  host: string;
  /** Absolute path of a folder that is there, to which each object is brought and hashed first; null: none is. */
  verifyIn: string | null;
  /** Is told how many of how many sandboxes were looked at. */
  progress?: (done: number, of: number) => void;
}

export interface TakenRows {
  /** Rows that were made, by state. */
  states: Partial<Record<State, number>>;
  /** How many of these each tenant has. */
  tenants: Map<string, number>;
  snapshots: number;
  blueprints: number;
  /** Rows that were there already, and those of them that were deleted. */
  there: number;
  deleted: number;
  /** Objects that are not whole, or not what their documents say, where an older one was taken: a sentence each. */
  passedOver: string[];
  /** What was not taken, with the reason. */
  left: string[];
}

/** Whether a registry has nothing that could be another installation's. */
export async function isFresh({ instances, copies }: Registry): Promise<boolean> {
  const states = Object.values(await instances.countsByState());
  if (states.some((n) => n > 0)) return false;
  return (await copies.snapshots({}, 1)).rows.length + (await copies.blueprints(1)).rows.length === 0;
}

/**
 * Makes a registry the one of the installation whose store it is; one without rows takes its id. Throws `conflict` for
 * the registry of another.
 */
export async function takeInstallation(registry: Registry, id: string, clock: Clock): Promise<void> {
  const known = z
    .string()
    .nullable()
    .catch(null)
    .parse(await registry.facts.read(INSTALLATION));
  if (known === id) return;
  if (!(await isFresh(registry))) {
    throw new WinterdockError('conflict', 'The store belongs to another installation than this registry.', {
      hint: 'Use an empty data folder (WB_DATA): rows of one installation are not mixed with those of another.',
    });
  }
  await registry.facts.write(INSTALLATION, id, epochSeconds(clock));
}

/** Makes all rows that can be made. Throws `storage_unavailable` while the store is away: run it again. */
export async function rowsFromStore(work: RowsFromStore): Promise<TakenRows> {
  const names = await namesInStore(work.store);
  const taken: TakenRows = {
    ...{ states: {}, tenants: new Map(), snapshots: 0, blueprints: 0, there: 0, deleted: 0 },
    ...{ passedOver: [], left: names.strange.map((name) => `${name}: its name is of no object of a drawer`) },
  };
  await takeSandboxes(work, names, taken);
  for (const name of names.copies) await takeCopy(work, name, taken);
  return taken;
}

async function takeSandboxes(work: RowsFromStore, { sandboxes }: NamesInStore, taken: TakenRows): Promise<void> {
  const all = [...sandboxes].sort(([a], [b]) => (a < b ? -1 : 1));
  for (let at = 0; at < all.length; at += AT_ONCE) {
    work.progress?.(at, all.length);
    await Promise.all(
      all.slice(at, at + AT_ONCE).map(async ([id, names]) => {
        const before = await work.registry.instances.get(id);
        if (before !== null) {
          taken.there += 1;
          if (before.state === 'deleted') taken.deleted += 1;
          return;
        }
        const { found, passedOver } = await newestWhole(work.store, names, work.verifyIn);
        if (found === null) return void taken.left.push(...passedOver);
        taken.passedOver.push(...passedOver);
        const { document, name } = found;
        await attempt(taken, name, async () => {
          await requireRemembered(work, document.tenant, document.stored.at);
          await takeRow(work, document, name);
          taken.states[document.state] = (taken.states[document.state] ?? 0) + 1;
          taken.tenants.set(document.tenant, (taken.tenants.get(document.tenant) ?? 0) + 1);
        });
      }),
    );
  }
}

/** Notes what is refused: the others are not. */
async function attempt(taken: TakenRows, name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isWinterdockError(error) || isUnavailable(error)) throw error;
    taken.left.push(`${name}: ${messageOf(error)}`);
  }
}

async function requireRemembered({ registry }: RowsFromStore, tenant: string, at: number): Promise<void> {
  const last = await registry.tenantForgettings.last(tenant);
  if (last === null || (last.finished !== null && last.finished < at)) return;
  throw new WinterdockError('gone', `its tenant "${tenant}" was forgotten`);
}

async function takeRow(work: RowsFromStore, document: RowDocument, name: string): Promise<void> {
  try {
    await adopt(work, document, name, document.name);
  } catch (error) {
    if (!isWinterdockError(error) || error.field !== 'name') throw error;
    await adopt(work, document, name, null);
  }
}

async function adopt(work: RowsFromStore, document: RowDocument, object: string, name: string | null): Promise<void> {
  const { registry, clock, host } = work;
  const now = epochSeconds(clock);
  const { id, tenant, state, file, stored, bytes, generation, holdUntil } = document;
  const { created, updated, stateSince, form: _, ...settings } = document;
  const hops = plan('created', state) ?? [];
  const filed = new Date(stored.at * 1000).toISOString();
  const without = name === document.name ? '' : `; its name "${document.name}" is another one's`;
  const line = (type: string, extra: Partial<LedgerEntry>) =>
    ledgerEntry({ clock }, { id, tenant }, RESTORING, type, extra);
  await registry.instances.adopt(
    { ...settings, name, vfsPath: stored.address, file: { ...UNSEEN, ...file }, bytes },
    state,
    now,
    [
      line('instance.recovered', { reason: `from ${object} in the store, of ${filed}${without}` }),
      ...hops.map((to, at) => line('transition', { from: hops[at - 1] ?? 'created', to })),
    ],
    {
      host,
      generation,
      created: Math.min(created, now),
      // An ephemeral one has its time again: its end is counted from the last activity.
      updated: document.ephemeral ? now : Math.min(updated, now),
      stateSince: Math.min(stateSince, now),
      holdUntil,
      stored,
    },
  );
}

/** Of a file that this machine has not seen: it is hashed when it is brought, and checked then. */
const UNSEEN: Omit<FileRecord, 'size' | 'sha256'> = { inode: '', mtimeNs: '', ctimeNs: '', quickCheck: null };

/** A name that was recorded before its rows were, by a run that was killed, is used. */
async function takeCopy(work: RowsFromStore, name: string, taken: TakenRows): Promise<void> {
  const { store, registry, clock, host, verifyIn } = work;
  const { found, passedOver } = await wholeCopy(store, name, verifyIn);
  if (found === null) return void taken.left.push(...passedOver);
  const { document } = found;
  const { kind, tenant, sha256: hash, snapshots = [], blueprints = [] } = document;
  const rows = await missingRows(registry, document);
  taken.there += snapshots.length + blueprints.length - rows.snapshots.length - rows.blueprints.length;
  if (rows.snapshots.length + rows.blueprints.length === 0) return;
  await attempt(taken, name, async () => {
    const of = tenant === NOBODYS ? null : tenant;
    if (of !== null)
      await requireRemembered(work, of, Math.max(...[...snapshots, ...blueprints].map(({ created }) => created)));
    const known = await registry.storeNames.get(name);
    if (known?.state === 'superseded') throw new WinterdockError('gone', 'this registry has given it up');
    if (known === null) {
      await registry.storeNames.begin({ ...{ name, instance: null, tenant, kind, hash, host }, begunMs: clock.now() });
    }
    if (known?.state !== 'current') await registry.storeNames.finishCopy(name);
    const bytes = document.bytes ?? 0;
    const content: CopyContent = {
      ...{ hash, bytes, volumes: document.volumes ?? [] },
      file: { ...UNSEEN, size: bytes, sha256: hash },
    };
    const reason = `from ${name} in the store`;
    const line = (type: string, about: string, source: string | null) => {
      const sandbox = source !== null && isInstanceId(source) && of !== null ? { id: source, tenant: of } : null;
      return ledgerEntry({ clock }, sandbox, RESTORING, type, { reason: `${about}, ${reason}` });
    };
    for (const { source, moment_ms: ofMoment, ...row } of rows.snapshots) {
      const whose = await registry.instances.get(parseInstanceId(source));
      // A named moment goes with its sandbox: without one it is kept as a snapshot.
      const momentMs = whose === null || whose.state === 'deleted' ? null : ofMoment;
      const snapshot = { ...content, ...row, tenant, source: parseInstanceId(source), deleted: null, momentMs };
      await registry.copies.addSnapshot(snapshot, line('snapshot.recovered', row.id, source));
      taken.snapshots += 1;
    }
    for (const { source, ...row } of rows.blueprints) {
      const blueprint = { ...content, ...row, tenant: of, source: source === null ? null : parseInstanceId(source) };
      await registry.copies.addBlueprint(blueprint, line('blueprint.recovered', row.name, source));
      taken.blueprints += 1;
    }
  });
}

/** The rows of a document that are not there, deleted ones included. */
async function missingRows({ copies }: Registry, { kind, snapshots = [], blueprints = [] }: CopyDocument) {
  const missing = { snapshots: [] as typeof snapshots, blueprints: [] as typeof blueprints };
  if (kind === 'snapshot') {
    for (const row of snapshots) if ((await copies.snapshot(row.id)) === null) missing.snapshots.push(row);
  } else {
    for (const row of blueprints) if ((await copies.blueprint(row.name)) === null) missing.blueprints.push(row);
  }
  return missing;
}
