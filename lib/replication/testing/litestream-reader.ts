/**
 * A process that reads a replica with Litestream's own extension: once that is loaded, a process can open no ordinary
 * database any more. Arguments: the extension, a query, times in epoch milliseconds (each is exclusive). Prints a line
 * of JSON for each time. `LITESTREAM_REPLICA_URL`: of the replica. For tests.
 */
import { DatabaseSync } from 'node:sqlite';

const [extension = '', query = '', ...times] = process.argv.slice(2);
const loader = new DatabaseSync(':memory:', { allowExtension: true });
loader.loadExtension(extension, 'sqlite3_litestreamvfs_init');
const db = new DatabaseSync('file:replica.db?vfs=litestream');
for (const time of times) {
  db.prepare('SELECT litestream_set_time(?)').get(new Date(Number(time)).toISOString());
  const { integrity_check: integrity } = db.prepare('PRAGMA integrity_check').get() ?? {};
  process.stdout.write(`${JSON.stringify({ integrity, rows: db.prepare(query).all() })}\n`);
}
// Its threads go on.
process.exit(0);
