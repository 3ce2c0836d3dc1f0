/**
 * `npm run restore -- --all --from DIR|FILE.tar|URL`: restores a backup into the data folder (WB_DATA, WB_REGISTRY) of
 * a stopped server: everything, or with `--instance ID` one sandbox, under its own id or `--as NEWID`. `--to FILE`
 * only writes that sandbox's file out. `--at TIME` takes the newest backup up to then, `--dry-run` prints what would
 * be done. Existing files are refused, or set aside with `--force`. `--with-keys` restores the key files, with
 * WB_BACKUP_PASSPHRASE or a typed passphrase. From the store below the drawers (WB_COLD_URL) it makes the rows of
 * sandboxes that the registry has not; `--rows` where that has backups too, `--verify` hashes every object first. Exits
 * with 0 when it is done.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { lossesWithout } from '../lib/backup/key-files.ts';
import { type OpenedBackup, openBackup, openNewest } from '../lib/backup/open-backup.ts';
import { isStoreUrl, openPlace } from '../lib/backup/open-place.ts';
import { planRestore, type RestorePlan, restoreAll } from '../lib/backup/restore.ts';
import { findInBackup, restoreOne, writeFileOf } from '../lib/backup/restore-one.ts';
import { systemClock } from '../lib/base/clock.ts';
import { type Config, readConfig } from '../lib/base/config.ts';
import { makeFolder } from '../lib/base/effects.ts';
import { isWinterdockError, messageOf } from '../lib/base/errors.ts';
import { type InstanceId, parseInstanceId } from '../lib/base/ids.ts';
import { issuerOf } from '../lib/base/signing.ts';
import { lockStores } from '../lib/front/lock.ts';
import { createDrawers } from '../lib/host/drawers.ts';
import { createReadersAlone } from '../lib/host/helpers.ts';
import type { RegistryDriver } from '../lib/registry/driver.ts';
import { registryDriver } from '../lib/registry/drivers.ts';
import { openReplicaAt, refuseLoneFiles, sayOfReplica } from './backup/restore-replica.ts';
import { hasDrawers, restoreRows } from './backup/restore-rows.ts';
import { askPassphrase, refuse, say, size, time } from './backup/terminal.ts';

const USAGE =
  'Usage: npm run restore -- --from DIR|FILE.tar|URL [--all] [--at TIME] [--dry-run] [--force] [--with-keys] [--instance ID [--as NEWID | --to FILE]]\n       npm run restore -- --from URL [--rows] [--verify] [--dry-run]';

/** Names of secrets that are shown. */
const MOST_CLOSED = 50;

interface RestoreOptions {
  from: string;
  at: number | null;
  instance: InstanceId | null;
  as: InstanceId | null;
  to: string | null;
  dryRun: boolean;
  force: boolean;
  withKeys: boolean;
  /** Rows from the store below the drawers, and no backup. */
  rows: boolean;
  verify: boolean;
}

function readOptions(): RestoreOptions | null {
  const { values } = parseArgs({
    options: {
      from: { type: 'string' },
      all: { type: 'boolean' },
      at: { type: 'string' },
      instance: { type: 'string' },
      as: { type: 'string' },
      to: { type: 'string' },
      'dry-run': { type: 'boolean' },
      force: { type: 'boolean' },
      'with-keys': { type: 'boolean' },
      rows: { type: 'boolean' },
      verify: { type: 'boolean' },
    },
  });
  const at = values.at === undefined ? null : Date.parse(values.at);
  if (Number.isNaN(at)) throw new Error(`--at takes a time such as 2026-11-22T18:00:00Z, not "${values.at}".`);
  const loose = values.instance === undefined && (values.as !== undefined || values.to !== undefined);
  if (values.all === true && values.instance !== undefined) return null;
  if (values.from === undefined || loose || (values.as !== undefined && values.to !== undefined)) return null;
  const ofBackups = ['all', 'at', 'instance', 'force', 'with-keys'] as const;
  const ofRows = values.rows === true || values.verify === true;
  if (ofRows && (!isStoreUrl(values.from) || ofBackups.some((name) => values[name] !== undefined))) return null;
  // npm runs scripts in the project's folder; a path is meant from where the command was typed.
  const here = (path: string) => resolve(process.env.INIT_CWD ?? '.', path);
  return {
    from: isStoreUrl(values.from) ? values.from : here(values.from),
    at,
    instance: values.instance === undefined ? null : parseInstanceId(values.instance),
    as: values.as === undefined ? null : parseInstanceId(values.as),
    to: values.to === undefined ? null : here(values.to),
    dryRun: values['dry-run'] ?? false,
    force: values.force ?? false,
    withKeys: values['with-keys'] ?? false,
    rows: ofRows,
    verify: values.verify ?? false,
  };
}

/** Says what a restore of everything does, or did. */
function tell(plan: RestorePlan, { manifest, replica }: OpenedBackup): void {
  const what = replica === null ? 'backup' : 'replica';
  const states = Object.entries(plan.states).map(([state, n]) => `${n} ${state}`);
  if (replica !== null) sayOfReplica(replica, plan);
  else say(`Backup ${manifest.id}, as of ${time(manifest.begun_ms)}, signed by ${manifest.issuer}.`);
  say(
    `Sandboxes: ${states.join(', ') || 'none'}; ${plan.copies} files of snapshots and blueprints; ${size(plan.bytes)}.`,
  );
  if (plan.memory.length > 0) say(`Lived in memory alone, and are gone: ${plan.memory.join(', ')}.`);
  if (plan.missing.length > 0) say(`Not in the ${what}, and will be missing: ${plan.missing.join(', ')}.`);
  if (plan.again) say('A restore was broken off here: what it laid is removed, and it is begun again.');
  if (plan.aside !== null) {
    say(`Set aside: ${plan.aside.registry ? 'the registry and ' : ''}${plan.aside.files} files in the drawers.`);
  }
  if (plan.keys.kept.length > 0) say(`Key files that are there and stay: ${plan.keys.kept.join(', ')}.`);
  if (plan.keys.restored.length > 0) say(`Key files from the ${what}: ${plan.keys.restored.join(', ')}.`);
  if (plan.keys.lost.length > 0) {
    const why = manifest.keys.object === null ? `are not in the ${what}` : 'need --with-keys and the passphrase';
    say(`Key files that ${why}; new ones are made:`);
    for (const one of lossesWithout(plan.keys.lost)) say(`  ${one}`);
  }
  if (plan.closed.length > 0) {
    const shown = plan.closed.slice(0, MOST_CLOSED).join(', ');
    const more = plan.closed.length > MOST_CLOSED ? ` and ${plan.closed.length - MOST_CLOSED} more` : '';
    say(`Secrets that do not open with the keys that are there, to be set again or rotated: ${shown}${more}.`);
  }
}

async function all(
  want: RestoreOptions,
  backup: OpenedBackup,
  config: Config,
  driver: RegistryDriver,
): Promise<number> {
  const { keys, issuer } = backup.manifest;
  const own = existsSync(config.keysFolder) ? issuerOf(config.keysFolder) : null;
  if (own !== null && issuer !== '' && own !== issuer) {
    say(`It is signed by ${issuer}, and that is not the key of ${config.dataFolder}, which is ${own}.`);
  }
  const passphrase =
    keys.object === null
      ? null
      : process.env.WB_BACKUP_PASSPHRASE || (want.withKeys ? await askPassphrase({ twice: false }) : null);
  if (want.withKeys && keys.object === null) return refuse('There are no key files in this backup.');
  if (want.dryRun) {
    const plan = await planRestore({ config, driver, drawers: createDrawers(config), backup, passphrase });
    tell(plan, backup);
    if (plan.aside !== null && !want.force)
      return refuse('Without --force this is refused: there are sandboxes already.');
    say('Nothing was changed.');
    return 0;
  }
  const started = performance.now();
  const unlock = await lockStores(config, driver);
  try {
    const done = await restoreAll({
      config,
      driver,
      drawers: createDrawers(config),
      backup,
      from: want.from,
      clock: systemClock,
      force: want.force,
      passphrase,
      progress(at, rows) {
        if (process.stderr.isTTY && at % 100 === 0) process.stderr.write(`\r${at} of ${rows} sandboxes `);
      },
    });
    tell(done, backup);
    if (done.asideIn !== null) say(`What was there is in ${join(config.dataFolder, done.asideIn)}.`);
    say(
      `Restored to ${config.dataFolder} in ${((performance.now() - started) / 1000).toFixed(1)} s. Start the server.`,
    );
    return 0;
  } finally {
    await unlock();
  }
}

async function one(
  want: RestoreOptions,
  id: InstanceId,
  backup: OpenedBackup,
  config: Config,
  driver: RegistryDriver,
): Promise<number> {
  if (want.to !== null) {
    await writeFileOf({ backup, id }, want.to);
    say(`Wrote the file of "${id}", as of ${time(momentIn(backup, id))}, to ${want.to}.`);
    return 0;
  }
  const name = want.as ?? id;
  if (want.dryRun) {
    findInBackup(backup, id);
    const there = (await driver.presence()).kind === 'missing' ? null : await stateOf(driver, name);
    say(
      `"${id}" as of ${time(momentIn(backup, id))} would become ${there === null ? 'a new sandbox' : 'the sandbox'} "${name}".`,
    );
    if (there !== null)
      say(
        `It is ${there} now: ${want.force ? 'what it has would be set aside' : 'without --force, or --as, this is refused'}.`,
      );
    say('Nothing was changed.');
    return 0;
  }
  const unlock = await lockStores(config, driver);
  let alone: Awaited<ReturnType<typeof createReadersAlone>> | null = null;
  try {
    // Where the restored file is made: what is not there is not shown to who opens it.
    await makeFolder(join(config.dataFolder, 'live'));
    alone = await createReadersAlone(config);
    if (alone.missing !== null) say(alone.missing);
    const row = await restoreOne({
      readers: alone.readers,
      config,
      driver,
      drawers: createDrawers(config),
      backup,
      clock: systemClock,
      id,
      as: want.as,
      force: want.force,
    });
    say(
      `Restored "${id}" as of ${time(momentIn(backup, id))} as "${row.id}", which is ${row.state} now. Start the server.`,
    );
    return 0;
  } finally {
    await alone?.stop();
    await unlock();
  }
}

/** Epoch milliseconds of what a sandbox has. */
function momentIn({ manifest, replica }: OpenedBackup, id: InstanceId): number {
  return replica?.moments.get(id) ?? manifest.begun_ms;
}

async function stateOf(driver: RegistryDriver, id: InstanceId): Promise<string | null> {
  const registry = await driver.readLive();
  try {
    return (await registry.row(id))?.state ?? null;
  } finally {
    await registry.close();
  }
}

async function main(): Promise<number> {
  const want = readOptions();
  if (want === null) return refuse(USAGE);
  const config = readConfig(process.env);
  const driver = registryDriver(config.registry);
  if (!driver.isKept) return refuse('A registry in memory cannot be restored to.');
  if (want.rows) return restoreRows(want, config, driver);
  const tmpFolder = want.dryRun
    ? join(tmpdir(), `winterdock-restore-${randomUUID()}`)
    : want.to === null
      ? join(config.dataFolder, 'staging', 'restore')
      : join(dirname(want.to), `.restore-${process.pid}`);
  if (want.to === null && !want.dryRun) await makeFolder(config.dataFolder);
  const opened = await openFrom(want, config, tmpFolder);
  if (opened === null) return restoreRows(want, config, driver);
  const { backup, close } = opened;
  for (const one of backup.passedOver) process.stderr.write(`PASSED OVER: ${one}\n`);
  try {
    return want.instance === null
      ? await all(want, backup, config, driver)
      : await one(want, want.instance, backup, config, driver);
  } finally {
    await backup.close();
    await close();
  }
}

/** Null for the store of drawers that has no backup: rows are made from it then. */
async function openFrom(
  { from, at, instance }: RestoreOptions,
  config: Config,
  tmpFolder: string,
): Promise<{ backup: OpenedBackup; close: () => Promise<void> } | null> {
  const replica = await openReplicaAt({ from, at, instance }, config, tmpFolder);
  if (replica !== null) return replica;
  if (!isStoreUrl(from)) return { backup: await openBackup(from, tmpFolder, at), close: async () => {} };
  const { place, close } = await openPlace(from, config, tmpFolder);
  try {
    return { backup: await openNewest(place, tmpFolder, at), close };
  } catch (error) {
    await close();
    const isNone = isWinterdockError(error) && error.code === 'not_found' && at === null && instance === null;
    if (isNone && (await hasDrawers(from, config))) {
      await refuseLoneFiles(from, config);
      return null;
    }
    throw error;
  }
}

process.umask(0o077);
try {
  process.exitCode = await main();
} catch (error) {
  const hint = isWinterdockError(error) && error.hint !== undefined ? ` ${error.hint}` : '';
  process.exitCode = refuse(`${messageOf(error)}${hint}`);
}
