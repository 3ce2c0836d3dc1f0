/**
 * For tests: `npm run migrate:registry` that kills itself before its effect on the disk of the number in
 * `WINTERDOCK_TEST_EFFECT`. Its arguments are the command's.
 */
import { observeEffects } from '../../base/effects.ts';

let left = Number(process.env.WINTERDOCK_TEST_EFFECT);
observeEffects({
  before() {
    left -= 1;
    if (left <= 0) process.kill(process.pid, 'SIGKILL');
  },
});
// Only now: it begins as it is loaded.
await import('../../../scripts/migrate-registry.ts');
