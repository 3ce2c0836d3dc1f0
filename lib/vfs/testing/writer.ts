/**
 * Entry point of a process that writes until it is killed. Arguments: the file and the first number. Puts files
 * `/<number>` into workspace, prints each number once it is committed, and every few writes brings the file to rest and
 * opens it again.
 */
import { closeToRest, openLive } from '../open.ts';
import { vfsPath } from './tmp-files.ts';

const [file = '', first = '0'] = process.argv.slice(2);
const options = { maxBytes: 64 * 1024 * 1024, maxFileBytes: 1024 * 1024, mustExist: false };

let vfs = openLive(file, options);
for (let number = Number(first); ; number += 1) {
  vfs.put(vfsPath(`/${number}`), new TextEncoder().encode(`content ${number}`));
  vfs.put(vfsPath('/tmp'), new Uint8Array(5000), 'tmp');
  process.send?.(number);
  if (number % 3 === 0) {
    closeToRest(vfs);
    vfs = openLive(file, options);
  }
}
