/**
 * A process that works on a registry file until it is done or killed. Arguments: path, task. It prints each confirmed
 * write as a line of JSON.
 */

import { intent, makeInstance, transitionTo } from './fixtures.ts';
import { openTestRegistry } from './open-test-registry.ts';

const [path = '', task = '', ...rest] = process.argv.slice(2);
const registry = await openTestRegistry(path);
const say = (what: unknown): void => {
  process.stdout.write(`${JSON.stringify(what)}\n`);
};

const TASKS: Readonly<Record<string, () => Promise<void>>> = {
  /** Opens the file and exits. */
  open: async () => say(await registry.instances.countsByState()),

  /** Creates rows one after the other, with an intent and a commit each, for ever. */
  write: async () => {
    for (let n = 0; ; n += 1) {
      const row = await makeInstance(registry, `r-${n}`, 'active', { labels: { n: String(n) } });
      await registry.instances.begin(row.id, intent(row, { verb: 'suspend' }));
      say({ begun: row.id });
      const after = await registry.instances.commit(transitionTo(row, 'suspended'));
      say({ committed: row.id, generation: after.generation });
    }
  },

  /** Commits the rows r-0 … to a state, from the generation that all had, and prints which it won. */
  race: async () => {
    const [count = '0', to = 'suspended'] = rest;
    say('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    process.stdin.destroy();
    for (let n = 0; n < Number(count); n += 1) {
      const row = { id: `r-${n}`, tenant: 'acme', state: 'active' as const, generation: 1, updated: 1 };
      try {
        await registry.instances.commit(transitionTo(row, to as 'suspended' | 'archived'));
        say({ won: row.id });
      } catch (error) {
        say({ lost: row.id, code: (error as { code?: string }).code });
      }
    }
  },
};

await TASKS[task]?.();
await registry.close();
