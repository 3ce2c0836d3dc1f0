/**
 * `npm run doctor`: explains every disagreement between the registry's rows, the files in the drawers and their hashes,
 * and changes nothing. `-- --full` hashes every file at rest and asks the object store for every object, `-- --json`
 * prints JSON. With the server stopped, `-- --fix` does the safe repairs, `-- --adopt [KEY…] --tenant NAME` makes rows
 * for files that have none, and `-- --accept REASON` continues with a registry that is not the newest. Exits with 0
 * when all is well, with 1 when something is wrong, with 2 when it could not do what was asked.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { epochInStore } from '../lib/backup/epoch-in-store.ts';
import { systemClock } from '../lib/base/clock.ts';
import { type Config, readConfig } from '../lib/base/config.ts';
import { makeFolder } from '../lib/base/effects.ts';
import { messageOf } from '../lib/base/errors.ts';
import { slugSchema } from '../lib/contract/schema.ts';
import { examine } from '../lib/doctor/examine.ts';
import { type ExaminationResult, type Finding, isWell } from '../lib/doctor/findings.ts';
import { giveUpFiles } from '../lib/doctor/give-up-files.ts';
import { accept, adopt, fix, type RepairResult } from '../lib/doctor/repair.ts';
import { examineStore } from '../lib/doctor/store.ts';
import { lockStores } from '../lib/front/lock.ts';
import { createDrawers } from '../lib/host/drawers.ts';
import { createReadersAlone } from '../lib/host/helpers.ts';
import { openRegistry } from '../lib/host/open-registry.ts';
import { hostAmongSeveral } from '../lib/hosts/needs-of-several.ts';
import type { RegistryDriver } from '../lib/registry/driver.ts';
import { registryDriver } from '../lib/registry/drivers.ts';
import { stagingFor } from '../lib/storage/files.ts';
import { lateStore } from '../lib/storage/object-store/late-store.ts';
import type { ObjectStore } from '../lib/storage/object-store/object-store.ts';
import { openObjectStore } from '../lib/storage/object-store/open-store.ts';

const WELL = 0;
const WRONG = 1;
const CANNOT = 2;
/** Between two looks beside a running server: what moves is somewhere else by then. */
const AGAIN_MS = 1500;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    fix: { type: 'boolean', default: false },
    adopt: { type: 'boolean', default: false },
    tenant: { type: 'string' },
    accept: { type: 'string' },
  },
});
const say = (text: string): void => {
  if (!values.json) process.stdout.write(`${text}\n`);
};

/** For people in the report, for programs beside it. */
const warn = (text: string): void => void (values.json ? process.stderr : process.stdout).write(`${text}\n`);

function storeOf({ connection }: Config['store'], { url }: NonNullable<Config['store']['cold']>): ObjectStore {
  return lateStore(url, () => openObjectStore(url, connection));
}

/** What is wrong with the object store, where one is configured and there is a registry to compare it with. */
async function lookAtStore({ store }: Config, driver: RegistryDriver, find: (finding: Finding) => void): Promise<void> {
  if (store.cold === null || (await driver.presence()).kind !== 'there') return;
  const registry = await driver.inspect();
  const objects = storeOf(store, store.cold);
  try {
    await examineStore({ store: objects, registry, full: values.full, nowMs: systemClock.now(), find });
  } finally {
    await objects.close();
    await registry.close();
  }
}

async function look(config: Config, driver: RegistryDriver, beside: boolean): Promise<ExaminationResult> {
  const examined = await lookAtFiles(config, driver, beside);
  await lookAtStore(config, driver, (finding) => void examined.findings.push(finding));
  return examined;
}

/** Beside other hosts only what is on this disk is looked at. */
function ofHost(config: Config): { onlyOf?: string } {
  const onlyOf = hostAmongSeveral(config);
  return onlyOf === null ? {} : { onlyOf };
}

async function lookAtFiles(config: Config, driver: RegistryDriver, beside: boolean): Promise<ExaminationResult> {
  const location = { ...config, ...ofHost(config), driver, drawers: createDrawers(config) };
  const alone = values.full ? await createReadersAlone(config, { changesNothing: true }) : null;
  const readers = alone?.readers ?? null;
  if (alone?.missing != null) warn(alone.missing);
  try {
    const first = await examine({ location, readers });
    if (!beside) return first;
    await wait(AGAIN_MS);
    const second = await examine({ location, readers: null });
    const still = new Set(second.findings.map(keyOf));
    const stays = (finding: Finding) => still.has(keyOf(finding)) || /corrupt|changed/.test(finding.kind);
    return { ...second, looked: first.looked, findings: first.findings.filter(stays) };
  } finally {
    await alone?.stop();
  }
}

const keyOf = ({ kind, about, path }: Finding) => `${kind} ${about} ${path}`;

async function repair(config: Config, driver: RegistryDriver, examined: ExaminationResult): Promise<RepairResult> {
  const { dataFolder, keysFolder } = config;
  const blocked = examined.findings.find(({ kind }) => /^registry\.(log_only|unreadable|damaged)$/.test(kind));
  if (blocked !== undefined) {
    throw new Error(`Nothing was changed: ${blocked.says}. Move that file away and keep it, then run this again.`);
  }
  const tenants = whoseFrom(driver);
  const registry = await openRegistry(driver, config);
  // A file that was left with a log is given a second name in a folder beside it: what is not there is not shown.
  const stagingOf = (drawer: string) => stagingFor(dataFolder, join(dataFolder, drawer, 'any'));
  const drawersThere = ['live', 'cold', 'orphans'].filter((drawer) => existsSync(join(dataFolder, drawer)));
  for (const drawer of drawersThere) await makeFolder(stagingOf(drawer));
  const writable = drawersThere.includes('orphans') ? [stagingOf('orphans')] : [];
  const { readers, missing, stop } = await createReadersAlone(config, { writable });
  if (missing !== null) warn(missing);
  const drawers = createDrawers(config);
  const beyond = await epochInStore(config);
  const store = config.store.cold === null ? null : storeOf(config.store, config.store.cold);
  const keeping = { dataFolder, keysFolder, driver, drawers, ...ofHost(config) };
  const parts = { ...keeping, registry, readers, beyond, store, clock: systemClock };
  const all: RepairResult = { done: [], refused: [] };
  try {
    const take = ({ done, refused }: RepairResult) => {
      all.done.push(...done);
      all.refused.push(...refused);
    };
    if (values.fix) {
      const fixed = await fix(parts, examined);
      // What is not proved to be the filed file is taken all the same, by whoever adopts.
      take(values.adopt ? { ...fixed, refused: [] } : fixed);
    }
    if (values.adopt) {
      const { tenant = null } = values;
      // What was fixed has its file again.
      const found = values.fix ? await examine({ location: { ...config, ...keeping }, readers: null }) : examined;
      take(await adopt(parts, found, { tenant, keys: positionals, tenantOf: tenants }));
    }
    if (values.accept !== undefined) {
      all.done.push(...(await giveUpFiles(parts, values.accept)));
      const { epoch, head } = await accept(parts, values.accept);
      all.done.push(`epoch ${epoch} of the ledger was begun at line ${head.seq}`);
    }
    return all;
  } finally {
    await store?.close();
    await stop();
    await registry.close();
  }
}

/** Whose a sandbox is, as the ledger says. */
function whoseFrom(driver: RegistryDriver): (id: string) => Promise<string | null> {
  return async (id) => {
    if ((await driver.presence()).kind !== 'there') return null;
    const registry = await driver.inspect();
    try {
      return await registry.tenantInLedger(id);
    } finally {
      await registry.close();
    }
  };
}

function tell({ findings, looked }: ExaminationResult): void {
  for (const weight of ['wrong', 'note'] as const) {
    const some = findings.filter((finding) => finding.weight === weight);
    if (some.length > 0) say(weight === 'wrong' ? '\nWrong:' : '\nTo know:');
    for (const { about, path, says, way, kind } of some) {
      const where = [about, path].filter((part) => part !== null).join(' ');
      say(`  ${where === '' ? '' : `${where}: `}${says}${way === null ? '' : ` [--${way}]`} (${kind})`);
    }
  }
  const hashed = values.full ? `, ${looked.hashed} hashed` : '';
  say(`\n${looked.rows} rows and ${looked.files} files were looked at${hashed}.`);
}

async function main(): Promise<number> {
  const config = readConfig(process.env);
  const changes = values.fix || values.adopt || values.accept !== undefined;
  const driver = registryDriver(config.registry);
  if (!driver.isKept) throw new Error('A registry in memory has no file to look at.');
  if (positionals.length > 0 && !values.adopt) throw new Error('Keys are for --adopt.');
  if (values.accept?.trim() === '') throw new Error('--accept needs the reason: it stands in the ledger.');
  if (values.tenant !== undefined && !slugSchema.safeParse(values.tenant).success) {
    throw new Error(`--tenant ${values.tenant} is no name of a tenant.`);
  }
  // The lock would make the folder.
  if (!existsSync(config.dataFolder)) throw new Error(`There is no data folder ${config.dataFolder}: set WB_DATA.`);
  let unlock: (() => Promise<void>) | null = null;
  try {
    unlock = await lockStores(config, driver);
  } catch (error) {
    if (changes) throw new Error(`${messageOf(error)} Without the lock only a look is possible.`);
    const beside = /^Another Winterdock/.test(messageOf(error));
    say(
      beside
        ? 'A server runs on this data folder: what is seen twice is told.'
        : `Looking without the lock: ${messageOf(error)}`,
    );
  }
  try {
    const examined = await look(config, driver, unlock === null);
    const repaired = changes ? await repair(config, driver, examined) : null;
    const after = repaired === null ? examined : await look(config, driver, false);
    if (values.json) {
      process.stdout.write(
        `${JSON.stringify({ well: isWell(after.findings), ...repaired, looked: after.looked, findings: after.findings })}\n`,
      );
    }
    for (const done of repaired?.done ?? []) say(`done: ${done}`);
    for (const refused of repaired?.refused ?? []) say(`not done: ${refused}`);
    tell(after);
    const well = isWell(after.findings) && (repaired?.refused.length ?? 0) === 0;
    const unread = 'Nothing wrong was seen. What files hold was not read: --full reads it.';
    say(well ? (values.full ? 'All is well.' : unread) : 'Something is wrong.');
    return well ? WELL : WRONG;
  } finally {
    await unlock?.();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = CANNOT;
}
