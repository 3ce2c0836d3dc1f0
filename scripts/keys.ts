/**
 * `npm run keys -- list`: says which key files belong to the registry (WB_DATA, WB_REGISTRY, WB_KEYS), whether the
 * server runs or not, and changes nothing. With the server stopped, `rotate NAME` makes a new key and accepts the one
 * before, `finish NAME` seals again what that one sealed and removes it, `accept NAME` goes on with the key that lies
 * there, or a new one, instead of a lost one. NAME is auth, secrets, signing or admin. What was interrupted is done by
 * the same command again. No key is ever shown. Exits with 0, with 1 when it was not done, with 3 when a start of the
 * server would be refused.
 */
import { parseArgs } from 'node:util';
import { systemClock } from '../lib/base/clock.ts';
import { type Config, readConfig } from '../lib/base/config.ts';
import { isWinterdockError, messageOf } from '../lib/base/errors.ts';
import { KEY_NAMES, type KeyName } from '../lib/base/key-files.ts';
import { lockStores } from '../lib/front/lock.ts';
import { openRegistry } from '../lib/host/open-registry.ts';
import { acceptKey, finishKey, rotateKey } from '../lib/keys/change-key.ts';
import { readKeyEvidence } from '../lib/keys/key-evidence.ts';
import { listKeys } from '../lib/keys/list-keys.ts';
import { unusableFolder } from '../lib/keys/start-keys.ts';
import { registryDriver } from '../lib/registry/drivers.ts';
import { refuse, say } from './backup/terminal.ts';

const USAGE = `Usage: npm run keys -- list, or rotate|finish|accept NAME. NAME is one of ${KEY_NAMES.join(', ')}.`;
const CHANGES = { rotate: rotateKey, finish: finishKey, accept: acceptKey } as const;
const WOULD_BE_REFUSED = 3;

async function list(config: Config): Promise<number> {
  const { keys, problems } = await listKeys({ ...config, driver: registryDriver(config.registry) });
  for (const { file, words } of keys) say(`${file.padEnd(12)}  ${words}`);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length === 0) return 0;
  process.stderr.write('A start of the server would be refused.\n');
  return WOULD_BE_REFUSED;
}

async function change(config: Config, verb: keyof typeof CHANGES, name: KeyName): Promise<number> {
  const driver = registryDriver(config.registry);
  const places = { ...config, driver };
  // Opening it would make one.
  if ((await driver.presence()).kind !== 'there') {
    return refuse(`There is no registry at ${driver.name}: set WB_DATA (and WB_REGISTRY) as the server has them.`);
  }
  const folder = unusableFolder(places);
  if (folder !== null) return refuse(folder);
  // Opening an older registry would bring it forward, for a command that is refused then.
  if (verb !== 'accept' && (await readKeyEvidence(driver))?.known == null) {
    return refuse(`The registry ${driver.name} knows no keys yet, and was not changed: start the server once.`);
  }
  const unlock = await lockStores(config, driver);
  try {
    const registry = await openRegistry(driver, config);
    try {
      for (const line of await CHANGES[verb]({ places, registry, clock: systemClock }, name)) say(line);
    } finally {
      await registry.close();
    }
    say('Start the server.');
    return 0;
  } finally {
    await unlock();
  }
}

async function main(): Promise<number> {
  const { positionals } = parseArgs({ allowPositionals: true, options: {} });
  const [verb = '', given, ...more] = positionals;
  const name = KEY_NAMES.find((one) => one === given);
  if (verb === 'list' && given === undefined) return list(readConfig(process.env));
  if (!Object.hasOwn(CHANGES, verb) || name === undefined || more.length > 0) return refuse(USAGE);
  return change(readConfig(process.env), verb as keyof typeof CHANGES, name);
}

process.umask(0o077);
try {
  process.exitCode = await main();
} catch (error) {
  const hint = isWinterdockError(error) && error.hint !== undefined ? ` ${error.hint}` : '';
  process.exitCode = refuse(`${messageOf(error)}${hint}`);
}
