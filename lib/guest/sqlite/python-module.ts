/**
 * The source of Python's `sqlite3`: the usual part of the DB-API over the worker's SQLite (python-session.ts), which it
 * asks through the file of python-finder.ts. What is not there raises NotSupportedError.
 */
import { sourceText } from '../source-text.ts';

const VALUES = sourceText(new URL('./module.py', import.meta.url));
/** Its cursors and connections. */
const CONNECTIONS = sourceText(new URL('./connections.py', import.meta.url));

export const SQLITE_MODULE = `${VALUES}\n\n${CONNECTIONS}`;
