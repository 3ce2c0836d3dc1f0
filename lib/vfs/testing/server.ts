/**
 * Entry point of a process that has readers and gives one of them an endless query. Argument: the file. Prints the
 * readers' pids once both run.
 */
import { createReaders } from '../readers.ts';
import { readersOf } from './proc.ts';

const [file = ''] = process.argv.slice(2);
const readers = createReaders({ maxFileBytes: 1024 * 1024, queryTimeoutMs: 600_000 });
await readers.start();
await readers.read({ path: file, mode: 'rest' }, { op: 'query', sql: 'SELECT 1' });
const endless = 'WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n';
void readers.read({ path: file, mode: 'rest' }, { op: 'query', sql: endless });
process.send?.(readersOf(process.pid));
