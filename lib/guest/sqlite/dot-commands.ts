/** The commands of the `sqlite3` shell that begin with a dot. */

import { DotCommandError, type DotShell } from './dot-shell.ts';
import type { EngineValue } from './engine-database.ts';
import { importFile } from './import-rows.ts';
import { identifier, insertLiteral, literal, ROW_MODES, type RowMode } from './row-format.ts';
import { unescaped } from './shell-text.ts';

type DotCommand = (shell: DotShell, args: string[]) => void;

const TABLE_WIDTH = 80;

/** Runs one command; returns an exit code for one that ends the shell. Throws DotCommandError and SqliteFailure. */
export function runDotCommand(shell: DotShell, text: string): number | null {
  const [name = '', ...args] = splitArguments(text.slice(1));
  if (/^(?:q|qu|qui|quit)$/.test(name)) return 0;
  if (/^(?:exit|exi|ex)$/.test(name)) return Number(args[0] ?? 0) || 0;
  const known = Object.keys(COMMANDS).filter((one) => one === name || (name.length > 1 && one.startsWith(name)));
  const command = Object.hasOwn(COMMANDS, name)
    ? COMMANDS[name]
    : known[0] === undefined
      ? undefined
      : COMMANDS[known[0]];
  if (command === undefined) {
    if (UNSUPPORTED.includes(name)) throw new DotCommandError(`Error: .${name} is not supported in this sandbox`);
    throw new DotCommandError(`Error: unknown command or invalid arguments:  "${name}". Enter ".help" for help`);
  }
  command(shell, args);
  return null;
}

const UNSUPPORTED = [
  'archive',
  'ar',
  'auth',
  'cd',
  'clone',
  'connection',
  'dbinfo',
  'excel',
  'expert',
  'filectrl',
  'imposter',
  'iotrace',
  'lint',
  'load',
  'log',
  'parameter',
  'progress',
  'recover',
  'restore',
  'scanstats',
  'session',
  'sha3sum',
  'shell',
  'system',
  'testcase',
  'trace',
  'vfsinfo',
  'vfslist',
  'www',
];

/** Arguments in single or double quotes, or apart by blanks. */
function splitArguments(text: string): string[] {
  const found: string[] = [];
  for (const [, single, double, plain] of text.matchAll(/\s*(?:'((?:[^']|'')*)'|"((?:[^"\\]|\\.)*)"|(\S+))/g)) {
    found.push(
      single?.replaceAll("''", "'") ??
        (double === undefined ? undefined : unescaped(double.replaceAll('\\"', '"'))) ??
        plain ??
        '',
    );
  }
  return found;
}

function isOn(value: string | undefined): boolean {
  return value === undefined || /^(?:on|yes|true|[1-9]\d*)$/i.test(value);
}

const nothing: DotCommand = () => {};

const COMMANDS: Readonly<Record<string, DotCommand>> = {
  backup: save,
  bail: (shell, [value]) => {
    shell.bails = isOn(value);
  },
  binary: nothing,
  changes: (shell, [value]) => {
    shell.countsChanges = isOn(value);
  },
  databases(shell) {
    for (const [, name, file] of shell.database.run('PRAGMA database_list')) {
      shell.print(`${name}: ${file === '' || file === null ? '""' : file} ${'r/w'}\n`);
    }
  },
  dbconfig: nothing,
  dump,
  echo: (shell, [value]) => {
    shell.echoes = isOn(value);
  },
  eqp: nothing,
  explain: nothing,
  fullschema: (shell) => schema(shell, []),
  headers: (shell, [value]) => {
    shell.style.headers = isOn(value);
    shell.headersSet = true;
  },
  help(shell) {
    shell.print(
      `${Object.keys(COMMANDS)
        .map((name) => `.${name}`)
        .join('\n')}\n`,
    );
  },
  import: importFile,
  indexes: indexes,
  indices: indexes,
  limit: nothing,
  mode,
  nullvalue: (shell, [value]) => {
    shell.style.nullText = value ?? '';
  },
  once: (shell, args) => output(shell, args, true),
  open(shell, args) {
    const name = args.filter((arg) => !arg.startsWith('-')).at(-1);
    shell.use(name ?? ':memory:', args.includes('--readonly'));
    if (name !== undefined) void shell.database;
  },
  output: (shell, args) => output(shell, args, false),
  print: (shell, args) => shell.print(`${args.join(' ')}\n`),
  prompt: nothing,
  read(shell, [file]) {
    if (file === undefined) throw new DotCommandError('Usage: .read FILE');
    shell.readScript(file);
  },
  save,
  schema,
  separator(shell, [column, row]) {
    if (column === undefined) throw new DotCommandError('Usage: .separator COL ?ROW?');
    shell.style.separator = unescaped(column);
    if (row !== undefined) shell.style.rowSeparator = unescaped(row);
  },
  show(shell) {
    const { mode: name, headers, nullText, separator, rowSeparator } = shell.style;
    const rows = {
      echo: shell.echoes ? 'on' : 'off',
      headers: headers ? 'on' : 'off',
      mode: name,
      nullvalue: JSON.stringify(nullText),
      colseparator: JSON.stringify(separator),
      rowseparator: JSON.stringify(rowSeparator),
      filename: shell.name,
    };
    for (const [key, value] of Object.entries(rows)) shell.print(`${key.padStart(12)}: ${value}\n`);
  },
  stats: nothing,
  tables,
  timeout: nothing,
  timer: nothing,
  width: (shell, args) => {
    shell.style.widths = args.map(Number);
  },
};

function mode(shell: DotShell, args: string[]): void {
  const [given, table] = args.filter((arg) => !arg.startsWith('-'));
  if (given === undefined) {
    shell.print(`current output mode: ${shell.style.mode}\n`);
    return;
  }
  const name = given === 'columns' ? 'column' : given === 'lines' ? 'line' : given;
  const known = ROW_MODES.find((one) => one === name);
  if (known === undefined)
    throw new DotCommandError(
      'Error: mode should be one of: ascii box column csv html insert json line list markdown qbox quote table tabs tcl',
    );
  shell.setMode(known as RowMode);
  if (known === 'insert') shell.style.table = table ?? 'table';
}

function output(shell: DotShell, args: string[], once: boolean): void {
  shell.endOutput();
  const [path] = args.filter((arg) => !/^--?bom$/.test(arg));
  if (path?.startsWith('|') || args.some((arg) => /^-[ex]$/.test(arg)))
    throw new DotCommandError('Error: pipes and editors are not supported in this sandbox');
  if (path !== undefined && path !== 'stdout') shell.target = { path: shell.absolute(path), once, parts: [] };
}

const USER_OBJECTS = "name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

function tables(shell: DotShell, [pattern]: string[]): void {
  const rows = shell.database.run(
    `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND ${USER_OBJECTS} AND (?1 IS NULL OR name LIKE ?1) UNION ALL SELECT name FROM sqlite_temp_schema WHERE type IN ('table', 'view') AND ${USER_OBJECTS} AND (?1 IS NULL OR name LIKE ?1) ORDER BY 1`,
    [pattern ?? null],
  );
  printNames(shell, rows);
}

function indexes(shell: DotShell, [table]: string[]): void {
  printNames(
    shell,
    shell.database.run(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND (?1 IS NULL OR tbl_name LIKE ?1) ORDER BY 1",
      [table ?? null],
    ),
  );
}

/** In columns, as many as 80 characters hold. */
function printNames(shell: DotShell, rows: readonly EngineValue[][]): void {
  const names = rows.map(([name]) => String(name));
  if (names.length === 0) return;
  const width = Math.max(...names.map((name) => Buffer.byteLength(name)));
  const columns = Math.max(1, Math.floor(TABLE_WIDTH / (width + 2)));
  const height = Math.ceil(names.length / columns);
  for (let row = 0; row < height; row += 1) {
    const line = names.filter((_, at) => at % height === row);
    shell.print(`${line.map((name) => name.padEnd(width)).join('  ')}\n`);
  }
}

function schema(shell: DotShell, args: string[]): void {
  const [pattern] = args.filter((arg) => !arg.startsWith('-'));
  const rows = shell.database.run(
    `SELECT sql, type, name FROM sqlite_schema WHERE sql IS NOT NULL AND ${args.includes('--nosys') ? USER_OBJECTS : '1'} AND (?1 IS NULL OR tbl_name LIKE ?1) ORDER BY rowid`,
    [pattern ?? null],
  );
  for (const [sql, type, name] of rows) {
    if (type === 'view') {
      const columns = viewColumns(shell, String(name));
      shell.print(`${sql}${columns === null ? '' : `\n/* ${identifier(String(name))}(${columns}) */`};\n`);
    } else shell.print(`${createText(String(sql))};\n`);
  }
}

function viewColumns(shell: DotShell, name: string): string | null {
  try {
    const rows = shell.database.run('SELECT name FROM pragma_table_info(?1)', [name]);
    return rows.map(([column]) => identifier(String(column))).join(',');
  } catch {
    // A view of tables that are gone.
    return null;
  }
}

function dump(shell: DotShell, args: string[]): void {
  const patterns = args.filter((arg) => !arg.startsWith('-'));
  const dataOnly = args.includes('--data-only');
  const isWanted = patterns.length === 0 ? '1' : `(${patterns.map((_, at) => `name LIKE ?${at + 1}`).join(' OR ')})`;
  const select = (what: string) =>
    shell.database.run(`SELECT name, sql FROM sqlite_schema WHERE ${what} AND ${isWanted} ORDER BY rowid`, patterns);
  if (!dataOnly) shell.print('PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n');
  for (const [name, sql] of select("type = 'table' AND sql NOT NULL AND name <> 'sqlite_sequence'")) {
    const table = String(name);
    if (table.startsWith('sqlite_stat')) shell.print('ANALYZE sqlite_schema;\n');
    else if (/^create virtual table/i.test(String(sql))) {
      shell.print(
        `PRAGMA writable_schema=ON;\nINSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table',${literal(table)},${literal(table)},0,${literal(String(sql))});\n`,
      );
      continue;
    } else if (!dataOnly) shell.print(`${createText(String(sql))};\n`);
    dumpRows(shell, table);
  }
  for (const [name] of select("name = 'sqlite_sequence'")) {
    shell.print('DELETE FROM sqlite_sequence;\n');
    dumpRows(shell, String(name));
  }
  if (dataOnly) return;
  for (const [, sql] of select("sql NOT NULL AND type IN ('index', 'trigger', 'view')")) shell.print(`${sql};\n`);
  shell.print('COMMIT;\n');
}

function createText(sql: string): string {
  return sql.replace(/^CREATE TABLE (?=['"])/i, 'CREATE TABLE IF NOT EXISTS ');
}

function dumpRows(shell: DotShell, table: string): void {
  const columns = shell.database
    .run('SELECT name FROM pragma_table_info(?1)', [table])
    .map(([name]) => identifier(String(name)));
  const { statement } = shell.database.prepare(`SELECT ${columns.join(',')} FROM ${identifier(table)}`);
  if (statement === null) return;
  try {
    while (statement.step())
      shell.print(`INSERT INTO ${identifier(table)} VALUES(${statement.row().map(insertLiteral).join(',')});\n`);
  } finally {
    statement.finalize();
  }
}

function save(shell: DotShell, args: string[]): void {
  const file = args.filter((arg) => !arg.startsWith('-')).at(-1);
  if (file === undefined) throw new DotCommandError('missing FILENAME argument on .backup');
  const path = shell.absolute(file);
  if (shell.files.exists(path)) shell.files.remove(path);
  shell.database.run('VACUUM INTO ?1', [path]);
}
