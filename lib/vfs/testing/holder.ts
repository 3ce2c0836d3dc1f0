/**
 * Entry point of a process that opens a file and keeps it open. Arguments: the file, and `live` (with an open group),
 * `beside` or `reading`.
 */
import { openBeside, openLive } from '../open.ts';
import { vfsPath } from './tmp-files.ts';

const [file = '', how] = process.argv.slice(2);
if (how === 'live') {
  const vfs = openLive(file, { maxBytes: 64 * 1024 * 1024, maxFileBytes: 1024 * 1024, mustExist: false });
  vfs.put(vfsPath('/committed'), new TextEncoder().encode('committed'));
  vfs.put(vfsPath('/scratch'), new TextEncoder().encode('scratch'), 'tmp');
  vfs.db.exec('BEGIN');
  vfs.db.prepare("INSERT INTO vfs VALUES ('workspace', '/uncommitted', 'uncommitted', 1)").run();
} else {
  const vfs = openBeside(file);
  if (how === 'reading') vfs.db.exec('BEGIN');
  vfs.sizes();
}
process.send?.('holding');
process.on('message', () => process.exit(0));
setInterval(() => undefined, 60_000);
