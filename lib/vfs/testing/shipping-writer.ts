/**
 * Entry point of a process whose log is shipped. Arguments: the file, and `joins` where another has it open. A number
 * is answered once as many random commits were made; `rest`, `close`, `exit` and `throw` say how it lets go of the
 * file.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { closeToRest, openLive } from '../open.ts';
import { vfsPath } from './tmp-files.ts';

const [file = '', how = ''] = process.argv.slice(2);
const options = { maxBytes: 1024 * 1024 * 1024, maxFileBytes: 8 * 1024 * 1024, mustExist: false, shipsLog: true };
const vfs = openLive(file, { ...options, joins: how === 'joins', beginAttempts: 10 });

process.on('message', (message: number | string) => {
  if (typeof message === 'number') for (let done = 0; done < message; done += 1) commit();
  if (message === 'rest') closeToRest(vfs);
  if (message === 'close') vfs.close();
  if (message === 'exit') process.exit(0);
  if (message === 'throw') throw new Error('as asked');
  // No file of a sandbox has one: who opens it next is refused.
  if (message === 'spoil') vfs.db.exec('CREATE VIEW spoilt AS SELECT 1');
  process.send?.('done');
});
process.send?.('holding');

function commit(): void {
  const path = vfsPath(`/${randomInt(40)}`);
  if (randomInt(8) === 0) vfs.delete(path);
  else vfs.put(path, randomBytes(randomInt(10) === 0 ? 400_000 : randomInt(20_000)));
}
