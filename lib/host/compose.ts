/** The composition root: builds every part of the engine once, and starts and stops them in order. */
import packageJson from '../../package.json' with { type: 'json' };
import { createAuth } from '../auth/auth.ts';
import { cookieRules } from '../auth/cookies.ts';
import { systemClock } from '../base/clock.ts';
import { makeFolderNow } from '../base/effects.ts';
import type { InstanceId } from '../base/ids.ts';
import { createLogger } from '../base/log.ts';
import { openSigner } from '../base/signing.ts';
import { Bundles } from '../bundles/bundles.ts';
import { CarriedWorkbooks } from '../bundles/carried-workbooks.ts';
import { Transfers } from '../bundles/transfers.ts';
import { Claims } from '../claims/claims.ts';
import { createAgents } from '../copies/agents.ts';
import { createBlueprints } from '../copies/blueprints.ts';
import { Copies } from '../copies/copies.ts';
import { Repairs } from '../copies/repairs.ts';
import { Seeding } from '../copies/seeding.ts';
import { createSnapshots } from '../copies/snapshots.ts';
import type { Takeovers } from '../health/host-lease.ts';
import { LoadSampler } from '../health/load/load-sampler.ts';
import { createMetrics } from '../health/metrics.ts';
import { StorageHealth } from '../health/storage-health.ts';
import { UsageUpkeep } from '../health/usage-upkeep.ts';
import { eventText } from '../http/answer.ts';
import { createChangeFeed } from '../http/change-feed.ts';
import { createDispatcher } from '../http/dispatch.ts';
import { openApiText } from '../http/openapi.ts';
import { ROUTES } from '../http/routes.ts';
import { SESSION_ROUTES } from '../http/session-api/routes.ts';
import { HostDrains } from '../jobs/host-drains.ts';
import { JobRunner } from '../jobs/runner.ts';
import { TenantForgetter } from '../jobs/tenant-forgetter.ts';
import { requireOwnKeys, requireUsableKeys } from '../keys/start-keys.ts';
import { ledgerEpoch } from '../ledger/epoch.ts';
import { createEventHub } from '../ledger/event-hub.ts';
import { createLedgerMaintenance } from '../ledger/ledger-maintenance.ts';
import { requireOwnRegistry, tellFlaw } from '../ledger/start-check.ts';
import { NetworkBroker } from '../network/broker.ts';
import { createGuard, ownersIn } from '../operations/guard.ts';
import { createOperations } from '../operations/operations.ts';
import { createRefusalRecorder } from '../operations/refusals.ts';
import { createInstanceSerializer, eventOf, webhookDataOf } from '../operations/serializer.ts';
import { warmCount } from '../operations/warm-count.ts';
import { createAddressPolicy } from '../outgoing/address-policy.ts';
import { registryDriver } from '../registry/drivers.ts';
import { Runs } from '../runs/runs.ts';
import { createSandboxes } from '../sandboxes/factory.ts';
import { SignInPrefetch } from '../sandboxes/files/sign-in-prefetch.ts';
import { ScheduleAllowance } from '../schedules/allowance.ts';
import { Scheduler } from '../schedules/scheduler.ts';
import { SECRET_PURPOSE, Secrets } from '../secrets/secrets.ts';
import { Terminals } from '../terminals/terminals.ts';
import { WebhookCourier } from '../webhooks/courier.ts';
import { SourceParser } from '../workbooks/source-parser.ts';
import { CpuGroups } from '../workers/cpu-groups.ts';
import { endLeftoverWorkers } from '../workers/leftover-workers.ts';
import { createPool } from '../workers/pool.ts';
import { buildWalls } from '../workers/walls/walls.ts';
import { createBackups } from './backups.ts';
import { createDrawers } from './drawers.ts';
import { readExamples } from './examples.ts';
import { createHelpers } from './helpers.ts';
import { createHops } from './hops.ts';
import type { Host, HostOptions } from './host.ts';
import { createLogs } from './logs.ts';
import { createNatives } from './natives.ts';
import { openAsHost } from './open-as-host.ts';
import { createReadyCheck } from './ready-check.ts';
import { createRegistryUpkeep } from './registry-upkeep.ts';
import { createStoreParts } from './store-parts.ts';

/**
 * Builds the engine. Nothing runs before `start`. Throws when a store cannot be opened, and `conflict` when the
 * registry is not the one of this data folder.
 */
export async function createHost(options: HostOptions): Promise<Host> {
  const { config } = options;
  const clock = options.clock ?? systemClock;
  const log = options.log ?? createLogger(config.logLevel);
  makeFolderNow(config.dataFolder);
  const localDrawers = options.drawers ?? createDrawers(config);
  const driver = options.driver ?? registryDriver(config.registry);
  const places = { ...config, driver };
  await requireUsableKeys(places);
  const { isAlone = true, notify: tell = () => undefined } = options;
  await requireOwnRegistry({ ...places, drawers: localDrawers, ...(isAlone ? {} : { onlyOf: config.hostName }) });
  const keys = await requireOwnKeys(places);
  const sourceParser = new SourceParser();
  const isAwakeHere = (id: InstanceId) => sandboxes.isAwakeHere(id);
  const told = { tell, onLost: options.onLost, endTaken: () => sandboxes.endTaken() };
  const as = await openAsHost(driver, config, { clock, log, isAlone, sources: sourceParser, isAwakeHere, ...told });
  const { registry, host, keeper, registryTimes } = as;
  const upgraded = await registry.storage.upgrade();
  if (upgraded !== null) {
    options.notify?.(`registry: ${upgraded.from} → ${upgraded.to} migrations, copy at ${upgraded.copy}`);
  }
  const stores = { config, registry, host, epoch: await ledgerEpoch(registry, driver.headPath), clock, log };
  const replicated = { sandboxes: () => sandboxes, keeper, states: () => walls.states };
  const store = await createStoreParts(stores, localDrawers, replicated).catch(async (error: unknown) => {
    await registry.close();
    throw error;
  });
  const { drawers } = store;
  const secrets = new Secrets({ registry, sealer: keys.sealer(SECRET_PURPOSE), clock });
  const network = new NetworkBroker({ config, clock, log, registry, secrets, resolve: options.resolve });
  const walls = await buildWalls({ ...config, maxStartMs: config.readyMs });
  const { helperWalls, readers, stopHelpers } = await createHelpers(config, walls, { log, readers: options.readers });
  const native = await createNatives(config, { walls, hold: as.hold, replica: store.replica });
  const pool = createPool({
    fetch: network.fetch,
    ...{ native, walls, hold: as.hold },
    size: config.poolSize,
    ...{ maxActive: config.maxActive, memoryBytes: config.memoryBytes },
    ...{ dataFolder: config.dataFolder, cacheFolder: config.cacheFolder },
    maxStartMs: config.readyMs,
    healthCheckTimes: config,
    log,
  });
  await Promise.all(Object.values(drawers).map((drawer) => drawer.prepare()));
  const cpuGroups = config.cpuGroups ? CpuGroups.open() : null;
  const { failpoint } = options;
  const registryIsWhole = () => ledger.flaw() === null;
  const takeovers: Takeovers = new Map();
  const unlogged = createSandboxes({
    ...{ cpuGroups, config, clock, log, registry, host },
    ...{ pool, readers, drawers },
    ...{ store: store.sandboxes, replica: store.replica, moments: store.moments },
    ...{ elsewhere: as.elsewhere, unreachable: as.unreachable, fallen: as.fallen, isDraining: as.isDraining },
    tookOver: (how) => void takeovers.set(how, (takeovers.get(how) ?? 0) + 1),
    ...{ failpoint, registryIsWhole },
  });
  const { logs, sandboxes, scheduled } = createLogs({ config, clock, log, registry, secrets }, unlogged);
  const prefetch = new SignInPrefetch({ most: config.prefetchAtSignIn, log, registry, sandboxes });
  const auth = createAuth({
    config,
    log,
    clock,
    registry,
    before: keys.before,
    entered: (person) => void prefetch.begin(person),
  });
  const events = createEventHub({
    registry,
    log,
    serialise: (line) => eventText(null, eventOf(line, auth.actors), line.seq),
  });
  const { dataFolder } = config;
  const load = new LoadSampler({ clock, log, registry, network, feed: sandboxes.load, dataFolder });
  const metrics = createMetrics({
    ...{ registry, pool, sandboxes, load, logs, clock, log },
    ...{ store: store.report, replica: store.replicaHealth, registryTimes },
    hosts: as.lease && { lease: as.lease, takeovers },
    streams: () => events.listeners,
    keepDays: config.usageKeepDays,
    ashNames: config.sessionApi,
  });
  const claims = new Claims({ registry, host, log });
  const claiming = { claims, config, clock, log, registry, host, isDraining: as.isDraining };
  const usage = new UsageUpkeep(claiming);
  const runner = new JobRunner({ ...claiming, sandboxes, pool });
  const drains = new HostDrains({ ...claiming, runner, watch: as.watch });
  const runs = new Runs({ config, clock, log, registry, sandboxes });
  const terminals = new Terminals({ config, clock, log, registry, runs, sandboxes });
  const scheduler = new Scheduler({
    ...claiming,
    sandboxes: scheduled,
    room: new ScheduleAllowance({ config, clock, log, registry, sandboxes, pool }),
    observe: (result, lateMs) => metrics.scheduleRan(result, lateMs === null ? null : lateMs / 1000),
    ...(options.failpoint === undefined ? {} : { failpoint: options.failpoint }),
  });
  const signer = openSigner(config.keysFolder);
  await keys.record(registry.facts, clock);
  // One that began at the same moment may have recorded others.
  if (!isAlone) await requireOwnKeys(places);
  const guard = createAddressPolicy(config.outgoingAllowed);
  const sealer = keys.sealer();
  const courier = new WebhookCourier({
    ...claiming,
    guard,
    sealer,
    dataOf: webhookDataOf,
    observe: (outcome) => metrics.webhookAttempted(outcome),
    userAgent: `winterdock/${packageJson.version}`,
  });
  const { tickMs, ledgerKeepDays: keepDays } = config;
  const { headPath } = driver;
  const ledger = createLedgerMaintenance({ claims, registry, headPath, signer, clock, log, keepDays, tickMs });
  const health = new StorageHealth({
    config,
    registry,
    drawers,
    store: store.report,
    replica: store.replicaHealth,
    pool,
    cpuGroups,
    walls,
    clock,
    log,
  });
  const copies = new Copies({ config, clock, log, registry, host, readers, drawers, failpoint, registryIsWhole });
  const seeding = new Seeding({ ...claiming, sandboxes });
  const changes = createChangeFeed({
    actors: auth.actors,
    events,
    registry,
    runs,
    seeding,
    ...{ sandboxes, hosts: as.watch },
    serializer: createInstanceSerializer({ registry, sandboxes, clock }),
    countWarm: (tenants) => warmCount({ registry, sandboxes }, tenants),
  });
  const snapshots = createSnapshots({ clock, registry, sandboxes, copies, seeding });
  const agents = createAgents({ clock, log, registry, sandboxes, snapshots, seeding, failpoint });
  const transfers = new Transfers(config, helperWalls);
  const workbooks = new CarriedWorkbooks({ clock, config, log, registry, sourceParser });
  const bundles = new Bundles({ config, clock, log, registry, sandboxes, signer, transfers, workbooks });
  const repairs = new Repairs({ config, clock, log, registry, sandboxes, snapshots, transfers: transfers });
  const backups = createBackups({ ...claiming, copies, drawers, readers, sandboxes, signer, transfers });
  const blueprints = createBlueprints({ clock, registry, bundles, sandboxes, copies, seeding });
  const storage = { config, clock, log, registry, drawers, store: store.tenants, replica: store.replicaOfTenants };
  const forgetter = new TenantForgetter({ ...storage, claims, sandboxes, copies, auth, runner, signer, failpoint });
  const { operations, admit } = createGuard(
    createOperations({
      pool,
      agents,
      auth,
      backups,
      blueprints,
      bundles,
      clock,
      config,
      courier,
      drawers,
      forgetter,
      guard,
      health,
      network,
      keeper: ledger,
      logs,
      metrics,
      registry,
      repairs,
      runner,
      runs,
      scheduler,
      sealer,
      secrets,
      sandboxes,
      snapshots,
      terminals,
      sourceParser,
      store: store.tenants,
      ...{ usage, load, watch: as.watch },
    }),
    ownersIn(registry),
    createRefusalRecorder({ registry, clock }),
  );

  let started: Promise<void> | null = null;
  let stopped: Promise<void> | null = null;
  let serving = false;

  const ready = createReadyCheck({ config, registry, drawers, log, isServing: () => serving });

  let document: string | null = null;
  const openapi = (): string => {
    document ??= openApiText(ROUTES, { version: packageJson.version, sessionCookie: cookieRules(config).session });
    return document;
  };
  const { hopSigner } = as;
  const hops = hopSigner === null ? null : createHops({ config, places: as.places, signer: hopSigner, auth, tell });
  const dispatcher = createDispatcher({
    passOn: hops?.passOn ?? null,
    routes: config.sessionApi ? [...ROUTES, ...SESSION_ROUTES] : ROUTES,
    services: {
      operations,
      admit,
      events,
      changes,
      metrics,
      ready,
      degraded: store.degraded,
      walls,
      openapi,
      publicUrl: config.publicUrl,
    },
    admit,
    auth,
    log,
    ...config,
  });

  const upkeep = createRegistryUpkeep({ clock, log, registry });
  const start = async (): Promise<void> => {
    await as.begin();
    await endLeftoverWorkers(config.dataFolder);
    await readers.start();
    await claims.start();
    await ledger.start();
    tellFlaw(ledger.flaw(), options.notify);
    await transfers.start();
    await store.prepare();
    await sandboxes.reconcile();
    await copies.start();
    store.start();
    await pool.start();
    await runs.start();
    logs.start();
    terminals.start();
    sandboxes.start();
    await runner.start();
    drains.start();
    await scheduler.start();
    await seeding.start();
    await agents.start();
    await forgetter.start();
    courier.start();
    usage.start();
    await load.start();
    const lost = await secrets.lost();
    if (lost !== null) log.warn({ err: lost }, 'secrets have to be set again');
    network.start();
    backups.runner.start();
    await upkeep.start();
    serving = true;
  };

  const stop = async (): Promise<void> => {
    serving = false;
    upkeep.stop();
    events.close();
    await Promise.all([started?.catch(() => undefined), ledger.keep()]);
    scheduler.stop();
    await courier.stop();
    await backups.runner.stop();
    runs.stopTaking();
    terminals.stop();
    const seeded = seeding.stop();
    await health.stop();
    await transfers.stop();
    await sourceParser.stop();
    await forgetter.stop();
    await usage.stop();
    await Promise.all([drains.stop(), runner.stop()]);
    await prefetch.stop();
    await sandboxes.stop();
    load.stop();
    await runs.settled();
    await scheduler.end();
    await logs.stop();
    await seeded;
    await copies.stop();
    await store.stop();
    await pool.stop();
    await network.stop();
    walls.close();
    cpuGroups?.close();
    await stopHelpers();
    await auth.close();
    hops?.close();
    await metrics.close();
    await upkeep.sumUp();
    await ledger.stop();
    await claims.stop();
    await store.close();
    await as.end();
    await registry.close();
  };

  return {
    config,
    clock,
    log,
    registry,
    ...{ pool, lease: as.lease, places: as.places },
    walls,
    ...{ sandboxes, load },
    ...{ scheduler, terminals, courier, backups },
    ...{ store: store.watched, replica: store.replicaWork },
    bringCopiesHome: store.bringCopiesHome,
    operations,
    auth,
    events,
    ledger,
    metrics,
    ...{ dispatcher, hops },
    openapi,
    examples: readExamples,
    start() {
      started ??= start();
      return started;
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}
