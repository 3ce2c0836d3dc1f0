/**
 * Whether a server may begin on a registry that others reach: alone, when nothing is left of several that it would take
 * for lost; beside others, under a name that is its own. Knows nothing of locks and settings.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { WinterdockError } from '../base/errors.ts';
import type { FactStore } from '../registry/facts.ts';
import type { HostRecord, HostStore } from '../registry/hosts.ts';
import { waitForFormerHosts } from './former-host.ts';
import { HostObserver, LOOKS_PER_LEASE } from './host-observer.ts';

/** The fact that several servers may have files of this registry on their disks. */
const SEVERAL = 'several_hosts';

interface AdmissionParts {
  hosts: Pick<HostStore, 'list' | 'owned'>;
  facts: FactStore;
  name: string;
  /** The key of this data folder. */
  publicKey: string;
  /** Epoch seconds. */
  now: number;
  /** Gets a sentence before something is waited for. */
  tell: (line: string) => void;
}

/**
 * Resolves when a server may begin that has the registry for itself: each former one has handed it back or is dead.
 * Rejects with `conflict` and `start_refused` while other hosts have sandboxes on their disks.
 */
export async function admitAlone({ hosts, facts, name, publicKey, now, tell }: AdmissionParts): Promise<void> {
  await waitForFormerHosts({ hosts, publicKey, tell });
  if ((await facts.read(SEVERAL)) !== true) return;
  const own = new Set([
    name,
    ...(await hosts.list()).filter((one) => one.publicKey === publicKey).map((one) => one.name),
  ]);
  const others = (await hosts.owned()).filter(({ host }) => !own.has(host));
  if (others.length > 0) throw haveSandboxes(others);
  await facts.write(SEVERAL, false, now);
}

/** A store that all servers have in common. */
interface CommonStore {
  setting: string;
  /** Null: this server has none. */
  url: string | null;
  /** The name of the fact with the one that was claimed last. */
  fact: string;
}

/**
 * Resolves when a server may begin beside others. Rejects with `conflict` and `start_refused` when its name is that of
 * another data folder whose server lives, when its data folder has another name in the registry, or when one of its
 * `stores` is not that of the servers that run. One that they have not claimed yet may be the first's.
 */
export async function admitBeside(
  { hosts, facts, name, publicKey, now, tell }: AdmissionParts,
  stores: readonly CommonStore[],
): Promise<void> {
  const rows = await hosts.list();
  const former = rows.find((one) => one.publicKey === publicKey && one.name !== name);
  if (former !== undefined) throw hasAnotherName(former.name, name);
  const running = rows.filter((one) => one.token !== null && one.name !== name);
  for (const store of stores) {
    const claimed = await facts.read(store.fact);
    if (claimed === null || claimed === store.url) continue;
    if (running.length > 0) throw hasAnotherStore(running, claimed, store);
    // Whoever comes next has none either.
    if (store.url === null) await facts.write(store.fact, null, now);
  }
  await requireFreeName(hosts, { name, publicKey, tell });
  if ((await facts.read(SEVERAL)) !== true) await facts.write(SEVERAL, true, now);
}

/** A name whose server was begun on another data folder is free when that one has handed it back, or is dead. */
async function requireFreeName(
  hosts: Pick<HostStore, 'list'>,
  { name, publicKey, tell }: Pick<AdmissionParts, 'name' | 'publicKey' | 'tell'>,
): Promise<void> {
  const observer = new HostObserver();
  let first: HostRecord | null = null;
  for (;;) {
    const askedMs = performance.now();
    const rows = (await hosts.list()).filter((one) => one.name === name && one.publicKey !== publicKey);
    const [row] = rows;
    const verdict = observer.read({ askedMs, answeredMs: performance.now(), hosts: rows }).get(name);
    if (row === undefined || row.leaseMs === null || verdict !== 'held') return;
    if (first === null) {
      first = row;
      tell(`The name ${name} is that of a host on another data folder. This server begins when that one is dead.`);
    } else if (first.token !== row.token || first.renewals !== row.renewals) throw isTaken(name);
    await pause(row.leaseMs / LOOKS_PER_LEASE);
  }
}

function isTaken(name: string): WinterdockError {
  return refused('host_name', `Another server has the name ${name} in this registry, and lives. Nothing was changed.`, [
    'set WB_HOST_NAME to a name that no other server has',
  ]);
}

function hasAnotherName(former: string, name: string): WinterdockError {
  return refused(
    'host_renamed',
    `This data folder is that of the host ${former}, and the server was started as ${name}. Nothing was changed.`,
    [`set WB_HOST_NAME to ${former}: its sandboxes are in this folder, and the other servers know them by that name`],
  );
}

/** What rests in the store wakes on any of them, and what was shipped to the replica too. */
function hasAnotherStore(
  running: readonly HostRecord[],
  claimed: unknown,
  { setting, url }: CommonStore,
): WinterdockError {
  const names = running.map((one) => one.name).join(', ');
  return refused(
    'store_of_others',
    `${setting} is ${url ?? 'not set'}, and the other servers of the registry (${names}) have ${String(claimed)}. Nothing was changed.`,
    ['give all of them the same store'],
  );
}

function haveSandboxes(others: readonly { host: string; sandboxes: number }[]): WinterdockError {
  const list = others.map(({ host, sandboxes }) => `${host} (${sandboxes})`).join(', ');
  return refused(
    'other_hosts',
    `Several servers have used this registry, and sandboxes are on the disks of others: ${list}. A server that has the registry for itself would take them for lost. Nothing was changed.`,
    [
      'start this server beside others again: with WB_HOST_URL and WB_COLD_URL (docs/fleet.md)',
      'start those servers, and freeze their sandboxes: what is whole in the object store is on no disk',
    ],
  );
}

function refused(reason: string, message: string, waysOut: readonly string[]): WinterdockError {
  const text = `The server does not start: ${message}\nWays out:\n${waysOut.map((way) => `  ${way}`).join('\n')}`;
  return new WinterdockError('conflict', text, { extra: { start_refused: reason } });
}
