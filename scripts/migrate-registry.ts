/**
 * `npm run migrate:registry -- --to postgres://USER@HOST/DATABASE`: carries the registry of a stopped server (WB_DATA,
 * WB_REGISTRY) to another one, a database of Postgres or a file, and back. It is copied, its ledger is proved on both
 * sides, rows and counts are compared, and only then it takes its place. The first one is kept, and no server starts
 * on it any more; `-- --reopen` says that servers start on that of WB_REGISTRY all the same. A password is never an
 * argument, which everybody sees: set PGPASSWORD. May be repeated after it was broken off. Exits with 0 when it is
 * done.
 */
import { parseArgs } from 'node:util';
import { carriedTo, markCarried } from '../lib/backup/carried-away.ts';
import { carryRegistry } from '../lib/backup/carry-registry.ts';
import { systemClock } from '../lib/base/clock.ts';
import { type Config, readConfig } from '../lib/base/config.ts';
import { isWinterdockError, messageOf } from '../lib/base/errors.ts';
import { isPostgresUrl } from '../lib/base/postgres-url.ts';
import { parseRegistryUrl, registryAddress } from '../lib/base/registry-url.ts';
import { lockStores } from '../lib/front/lock.ts';
import type { RegistryDriver } from '../lib/registry/driver.ts';
import { registryDriver } from '../lib/registry/drivers.ts';
import { refuse, say } from './backup/terminal.ts';

const USAGE =
  'Usage: npm run migrate:registry -- --to postgres://USER@HOST/DATABASE|PATH\n       npm run migrate:registry -- --reopen';

/** The driver of what `--to` names. Throws an Error that says what is allowed. */
function targetOf(text: string, { dataFolder }: Config): RegistryDriver {
  const url = parseRegistryUrl(text);
  if (url.driver === 'memory') throw new Error('A registry in memory keeps nothing.');
  if (url.driver === 'postgres' && url.server.password !== null) {
    throw new Error('--to must have no password, which everybody sees in the list of processes: set PGPASSWORD.');
  }
  return registryDriver(registryAddress(url, { headFolder: dataFolder, connections: 4 }));
}

async function carry(config: Config, from: RegistryDriver, text: string): Promise<number> {
  const to = targetOf(text, config);
  if (to.name === from.name) return refuse(`${to.name} is the registry that WB_REGISTRY names.`);
  const unlock = await lockStores(config, from);
  try {
    await to.requireUsable();
    const release = await to.lock(config.dataFolder);
    try {
      say(`Carrying ${from.name} to ${to.name}`);
      const { rows, ledger, digest, wasThere } = await carryRegistry({ config, from, to, clock: systemClock });
      if (wasThere) say('It was there already: an earlier attempt had carried it.');
      say(`${rows} rows of sandboxes, and a ledger of ${ledger.seq} lines (${ledger.hash}), proved on both sides.`);
      say(`Both have the same rows in every table (${digest}).`);
      const password = isPostgresUrl(to.name) ? ', with the password where it has one' : '';
      say(`Start the server with WB_REGISTRY=${to.name}${password}.`);
      say(`${from.name} is kept as it was; no server starts on it.`);
      return 0;
    } finally {
      await release();
    }
  } finally {
    await unlock();
  }
}

async function reopen(config: Config, driver: RegistryDriver): Promise<number> {
  const unlock = await lockStores(config, driver);
  try {
    const mark = await carriedTo(driver);
    if (mark === null) return refuse(`The registry ${driver.name} was carried nowhere: servers start on it.`);
    const registry = await driver.open({ thresholds: config });
    await markCarried(registry.facts, null, systemClock).finally(() => registry.close());
    say(`Servers start on ${driver.name} again. What has changed in ${mark.to} since is not in it.`);
    return 0;
  } finally {
    await unlock();
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { to: { type: 'string' }, reopen: { type: 'boolean', default: false } } });
  if ((values.to === undefined) !== values.reopen) return refuse(USAGE);
  const config = readConfig(process.env);
  const driver = registryDriver(config.registry);
  if (!driver.isKept) return refuse('A registry in memory cannot be carried.');
  return values.to === undefined ? reopen(config, driver) : carry(config, driver, values.to);
}

try {
  process.exitCode = await main();
} catch (error) {
  const hint = isWinterdockError(error) ? error.hint : null;
  process.exitCode = refuse(hint ? `${messageOf(error)}\n${hint}` : messageOf(error));
}
