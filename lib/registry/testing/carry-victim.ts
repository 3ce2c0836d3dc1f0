/**
 * For tests: opens the registry at the first argument and kills itself before its effect number of the second; prints
 * `opened` when there are not that many.
 */
import { observeEffects } from '../../base/effects.ts';
import { openTestRegistry } from './open-test-registry.ts';

const [path = '', last = ''] = process.argv.slice(2);
let left = Number(last);
observeEffects({
  before({ kind }) {
    left -= 1;
    if (left > 0) return;
    process.stdout.write(`${kind}\n`);
    process.kill(process.pid, 'SIGKILL');
  },
});
const registry = await openTestRegistry(path);
process.stdout.write('opened\n');
await registry.close();
