/**
 * Opens the registry for one host: its name, its term, and the lease that it renews where others reach the registry
 * too.
 */
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { readOrMakeSecretFile } from '../base/secret-file.ts';
import { newSigningKey, type Signer, signerOf } from '../base/signing.ts';
import type { RegistryTimes } from '../health/registry-times.ts';
import { admitAlone, admitBeside } from '../hosts/admission.ts';
import { fenceByLease } from '../hosts/host-fence.ts';
import { HostLease } from '../hosts/host-lease.ts';
import { HostWatch } from '../hosts/host-watch.ts';
import { fallenHost, KnownPlaces, refusedElsewhere, unreachableRow } from '../hosts/sandbox-places.ts';
import type { SandboxPlaces } from '../hosts/whereabouts.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import type { Registry } from '../registry/registry.ts';
import { registryOfHost } from '../registry/registry-of-host.ts';
import type { HostIdentity, InstanceRow } from '../registry/types.ts';
import { withAnswers } from '../registry/with-answers.ts';
import type { ShippedRegistry } from '../replication/shipped-registry.ts';
import type { Engine } from '../sandboxes/engine.ts';
import { withCurrentPlans } from '../workbooks/current-plans.ts';
import type { SourceParser } from '../workbooks/source-parser.ts';
import { WorkerHold } from '../workers/worker-hold.ts';
import { claimFact } from './cold-store.ts';
import { openShippedRegistry } from './open-registry.ts';

/** The key of this data folder among the hosts of its registry. It is in no backup: a copy would be the same host. */
const KEY_FILE = 'host.key';

interface OpenedAsHost {
  registry: Registry;
  keeper: ShippedRegistry | null;
  registryTimes: RegistryTimes;
  host: HostIdentity;
  /** Null where the registry is a file, which nobody else reaches. */
  lease: HostLease | null;
  /** The hosts as this one sees them; null where nobody else uses the registry. */
  watch: HostWatch | null;
  /** Signs what is sent on to other hosts; null where nobody else uses the registry. */
  hopSigner: Signer | null;
  /** Where sandboxes are; everything is here where nobody else uses the registry. */
  places: SandboxPlaces;
  /** The refusal of a sandbox that is another host's. */
  elsewhere: Engine['elsewhere'];
  /** What is known of a sandbox whose host does not answer. */
  unreachable: Engine['unreachable'];
  /** The host of a row, if it is dead. */
  fallen: Engine['fallen'];
  /** Whether this host is being emptied, as its row was seen last. */
  isDraining: () => boolean;
  /** Stops the workers that have it while this host may not act. */
  hold: WorkerHold;
  /** Says in the registry what this host is. To be called before it does anything. */
  begin(): Promise<void>;
  /** Gives the name back. To be called when nothing acts any more, before the registry is closed. */
  end(): Promise<void>;
}

/**
 * `isAlone`: no other host uses the registry, because it is locked. Where others reach it, one that has not handed it
 * back is waited for, which `tell` gets a sentence of. Rejects with `conflict` when this server is not to be among its
 * hosts (`lib/hosts/admission.ts`). `isAwakeHere`: whether a process of this host has a sandbox open.
 */
export async function openAsHost(
  driver: RegistryDriver,
  config: Config,
  {
    clock,
    log,
    isAlone,
    sources,
    tell,
    isAwakeHere,
    endTaken,
    onLost = () => undefined,
  }: {
    clock: Clock;
    log: Logger;
    isAlone: boolean;
    sources: SourceParser;
    tell: (line: string) => void;
    isAwakeHere: (id: InstanceId) => boolean;
    endTaken: () => Promise<void>;
    onLost: ((why: Error) => void) | undefined;
  },
): Promise<OpenedAsHost> {
  const { opened, keeper, registryTimes } = await openShippedRegistry(driver, config);
  const workbooks = withCurrentPlans(opened.workbooks, { sources, log });
  const { hostName: name, hostRow } = config;
  const path = join(config.dataFolder, KEY_FILE);
  const hasOthers = config.registry.driver === 'postgres';
  const signer = hasOthers ? signerOf(readOrMakeSecretFile(path, newSigningKey), path) : null;
  const publicKey = signer?.issuer ?? null;
  if (publicKey !== null) {
    const { hosts, facts } = opened;
    const admission = { hosts, facts, name, publicKey, tell, now: epochSeconds(clock) };
    const { cold, replica } = config.store;
    const stores = Object.entries({ WB_COLD_URL: cold, WB_REPLICA_URL: replica }).map(([setting, store]) => ({
      ...{ setting, url: store?.url ?? null, fact: claimFact(setting) },
    }));
    const admitted = isAlone ? admitAlone(admission) : admitBeside(admission, stores);
    await admitted.catch(async (error: unknown) => {
      await opened.close();
      throw error;
    });
  }
  const term = await opened.hosts.begin(name, clock.now(), { alone: isAlone });
  const host: HostIdentity = { name, term, isAlone };
  const registry: Registry = registryOfHost(withAnswers({ ...opened, workbooks }), host);
  const { url, labels, leaseMs } = hostRow;
  const capacity = { active: config.maxActive, memoryBytes: config.memoryBytes };
  const said = { url, labels, capacity, version: packageJson.version };
  const watch = isAlone || publicKey === null ? null : new HostWatch({ hosts: opened.hosts, leaseMs, log });
  const row = (id: InstanceId) => registry.instances.get(id);
  const places = new KnownPlaces({ self: host, watch, row, isAwakeHere });
  const elsewhere = (row: InstanceRow) => refusedElsewhere(places, row);
  const unreachable = (row: InstanceRow) => unreachableRow(places, row);
  const fallen = (row: InstanceRow) => fallenHost(watch, name, row);
  const isDraining = () => watch?.get(name)?.isDraining === true;
  const hopSigner = watch === null ? null : signer;
  const seen = { watch, places, hopSigner, elsewhere, unreachable, fallen, isDraining };
  const made = { registry, keeper, registryTimes, host, ...seen, hold: new WorkerHold() };
  if (publicKey === null) {
    const details = { ...said, leaseMs: null, token: null, publicKey };
    const begin = () => registry.hosts.describe(name, details);
    return { ...made, lease: null, begin, end: async () => undefined };
  }
  const details = { ...said, leaseMs, publicKey };
  const lease = new HostLease({ hosts: opened.hosts, name, details, clock, log });
  fenceByLease({ lease, workers: made.hold, endTaken, log, onLost });
  return {
    ...made,
    lease,
    async begin() {
      await lease.start();
      await watch?.start();
    },
    async end() {
      await watch?.stop();
      await lease.stop();
    },
  };
}
