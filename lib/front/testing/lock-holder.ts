/**
 * For tests: a process that takes the locks of a data folder and a registry, as a server does at its start. It reads
 * lines: `lock DATA REGISTRY` locks and opens, and answers `held`, or with the reason why not; `release` lets go, and
 * answers `free`.
 */
import { createInterface } from 'node:readline';
import { messageOf } from '../../base/errors.ts';
import { THRESHOLDS } from '../../registry/testing/fixtures.ts';
import { fileDriver } from '../../registry/testing/open-test-registry.ts';
import { lockStores } from '../lock.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);
let release = async () => {};

async function lock(dataFolder: string, registryPath: string): Promise<void> {
  const driver = fileDriver(registryPath);
  const unlock = await lockStores({ dataFolder }, driver);
  try {
    const registry = await driver.open({ thresholds: THRESHOLDS });
    release = async () => {
      await registry.close();
      await unlock();
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [word, dataFolder = '', registryPath = ''] = line.split(' ');
  try {
    if (word === 'lock') await lock(dataFolder, registryPath);
    else await release();
    say(word === 'lock' ? 'held' : 'free');
  } catch (error) {
    say(messageOf(error));
  }
}
