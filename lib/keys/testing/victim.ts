/**
 * A process that changes a key as `npm run keys` does, and kills itself with SIGKILL before one of its effects.
 * Arguments: data folder, verb, name, number of that effect. With a number that none has it prints how many there were.
 */
import { systemClock } from '../../base/clock.ts';
import { observeEffects } from '../../base/effects.ts';
import type { KeyName } from '../../base/key-files.ts';
import { changeKey, type Verb } from './key-folder.ts';

const [folder, verb, name, at] = process.argv.slice(2);
if (folder === undefined || at === undefined) throw new Error('folder, verb, name, number');

let seen = 0;
observeEffects({
  before() {
    if (seen === Number(at)) process.kill(process.pid, 'SIGKILL');
    seen += 1;
  },
});
await changeKey(folder, verb as Verb, name as KeyName, systemClock);
observeEffects(null);
process.stdout.write(`${seen}\n`);
