/**
 * A process that restores a sandbox in place and kills itself with SIGKILL before its nth effect on the disk or the
 * registry. Arguments: folder, sandbox, hash, n.
 */
import { flushCompileCache } from 'node:module';
import { observeEffects } from '../../base/effects.ts';
import { REQUEST, startTestEngine } from './test-engine.ts';

const [folder, id, hash, count] = process.argv.slice(2);
if (folder === undefined || id === undefined || hash === undefined || count === undefined) {
  throw new Error('folder, sandbox, hash, count');
}
const dock = await startTestEngine({ dataFolder: folder });
// A killed process writes no compile cache: the next one would compile everything again.
flushCompileCache();
let left = Number(count);
observeEffects({
  before() {
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  },
});
await dock.sandboxes.restore(id, { name: 'snap', hash, bytes: 1 }, REQUEST);
observeEffects(null);
await dock.abandon();
