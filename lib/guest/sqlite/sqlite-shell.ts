/** The `sqlite3` command: its options, and its input line by line. Runs in SQLite's thread. */

import { runDotCommand } from './dot-commands.ts';
import { DotCommandError, type DotShell } from './dot-shell.ts';
import type { EngineChannel } from './engine-channel.ts';
import { type EngineDatabase, type EngineValue, SqliteFailure, type Statement } from './engine-database.ts';
import { COLUMNAR, columnarText, headText, type RowMode, type RowStyle, rowText, tailText } from './row-format.ts';
import { describedFailure, isParseFailure, phase, phaseOf, SHELL_USAGE, unescaped } from './shell-text.ts';
import type { SqliteEngine } from './sqlite-engine.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

const PIECE_BYTES = 256 * 1024;
const MOST_NESTED = 25;
const USAGE_EXIT = 1;
const SEPARATORS: Readonly<Partial<Record<RowMode, [string, string]>>> = {
  list: ['|', '\n'],
  csv: [',', '\r\n'],
  tabs: ['\t', '\n'],
  quote: [',', '\n'],
  ascii: ['\x1f', '\x1e'],
  line: ['|', '\n'],
};
const MODE_OPTIONS: readonly string[] = [
  'csv',
  'json',
  'column',
  'line',
  'list',
  'html',
  'box',
  'table',
  'markdown',
  'tabs',
  'quote',
  'ascii',
];
const IGNORED = ['batch', 'interactive', 'safe', 'stats', 'noinit', 'nofollow', 'memtrace'];

/** Ends the shell with an exit code. */
class ShellEnd extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('end');
    this.exitCode = exitCode;
  }
}

export class SqliteShell implements DotShell {
  readonly engine: SqliteEngine;
  readonly style: RowStyle = {
    mode: 'list',
    headers: false,
    separator: '|',
    rowSeparator: '\n',
    nullText: '',
    table: 'table',
    widths: [],
  };
  /** Whether somebody said whether headers are shown. */
  headersSet = false;
  bails = false;
  echoes = false;
  countsChanges = false;
  target: { path: string; once: boolean; parts: string[] } | null = null;
  readonly #channel: EngineChannel;
  #database: EngineDatabase | null = null;
  #name = ':memory:';
  #readOnly = false;
  #pending = '';
  /** Scripts that are being read, one by the other. */
  #nesting = 0;
  /** The line of the last dot command in its script. */
  #line = 0;

  constructor(engine: SqliteEngine, channel: EngineChannel) {
    this.engine = engine;
    this.#channel = channel;
  }

  get database(): EngineDatabase {
    this.#database ??= this.engine.open(this.#name, { readOnly: this.#readOnly, exclusive: true });
    return this.#database;
  }

  get files(): WorkspaceFiles {
    return this.engine.files;
  }

  get name(): string {
    return this.#name;
  }

  /** Closes the database and opens another at its next use. */
  use(name: string, readOnly = false): void {
    this.#close();
    this.#name = name;
    this.#readOnly = readOnly;
  }

  /** Runs a command line; returns the exit code. */
  run(args: readonly string[], stdin: string): number {
    let exitCode: number;
    try {
      exitCode = this.#perform(args, stdin);
    } catch (error) {
      if (error instanceof DotCommandError) this.error(error.message);
      else if (!(error instanceof ShellEnd)) throw error;
      exitCode = error instanceof ShellEnd ? error.exitCode : 1;
    }
    this.endOutput();
    this.#close();
    this.#flushText();
    try {
      this.engine.files.flush();
    } catch (error) {
      this.error(`Error: ${error instanceof Error ? error.message : String(error)}`);
      exitCode = exitCode || 1;
    }
    this.#flushText();
    return exitCode;
  }

  #perform(args: readonly string[], stdin: string): number {
    const commands: string[] = [];
    const sql: string[] = [];
    let file: string | null = null;
    let first: string | null = null;
    for (let at = 0; at < args.length; at += 1) {
      const arg = args[at] ?? '';
      if (!arg.startsWith('-') || arg === '-') {
        if (file === null) file = arg;
        else sql.push(arg);
        continue;
      }
      const option = arg.replace(/^--?/, '');
      const value = () => {
        at += 1;
        const given = args[at];
        if (given === undefined) throw this.#usage(`missing argument to ${arg}`);
        return given;
      };
      if (MODE_OPTIONS.includes(option)) this.setMode(option as RowMode, true);
      else if (option === 'header' || option === 'headers') [this.style.headers, this.headersSet] = [true, true];
      else if (option === 'noheader') [this.style.headers, this.headersSet] = [false, true];
      else if (option === 'separator') this.style.separator = unescaped(value());
      else if (option === 'newline') this.style.rowSeparator = unescaped(value());
      else if (option === 'nullvalue') this.style.nullText = value();
      else if (option === 'cmd') commands.push(value());
      else if (option === 'init') first = value();
      else if (option === 'bail') this.bails = true;
      else if (option === 'echo') this.echoes = true;
      else if (option === 'readonly') this.#readOnly = true;
      else if (option === 'version') {
        this.print(`${this.engine.version}\n`);
        return 0;
      } else if (option === 'help') {
        this.print(SHELL_USAGE);
        return 0;
      } else if (!IGNORED.includes(option)) throw this.#usage(`unknown option: ${arg}`);
    }
    this.#name = file ?? ':memory:';
    if (this.#name !== ':memory:' && this.#name !== '') this.#mustOpen();
    if (first !== null) this.#script(this.readText(first));
    for (const command of commands) {
      const code = this.#argument(command);
      if (code !== 0) return code;
    }
    if (sql.length > 0) {
      for (const text of sql) {
        const code = this.#argument(text);
        if (code !== 0) return code;
      }
      return 0;
    }
    return this.#script(stdin) > 0 ? 1 : 0;
  }

  #usage(why: string): ShellEnd {
    this.error(`sqlite3: Error: ${why}\nUse -help for a list of options.`);
    return new ShellEnd(USAGE_EXIT);
  }

  /** Opens the file now, as the shell does, so that a missing folder is an error before anything else. */
  #mustOpen(): void {
    try {
      void this.database;
    } catch (error) {
      if (!(error instanceof SqliteFailure)) throw error;
      this.error(`Error: unable to open database "${this.#name}": ${error.message}`);
      throw new ShellEnd(1);
    }
  }

  #close(): void {
    this.#database?.close();
    this.#database = null;
  }

  /** `fromOption`: rows of CSV then end with a line feed alone. */
  setMode(mode: RowMode, fromOption = false): void {
    const [separator, rowSeparator] = SEPARATORS[mode] ?? [this.style.separator, this.style.rowSeparator];
    Object.assign(this.style, { mode, separator, rowSeparator: fromOption && mode === 'csv' ? '\n' : rowSeparator });
    if (!fromOption && mode === 'column' && !this.headersSet) this.style.headers = true;
  }

  /** One argument of the command line. Returns the exit code. */
  #argument(text: string): number {
    if (text.startsWith('.')) return this.#dot(text) ? 0 : 1;
    try {
      this.execute(text);
      return 0;
    } catch (error) {
      if (!(error instanceof SqliteFailure)) throw error;
      this.error(`Error: ${phaseOf(error)}${describedFailure(error)}`);
      return error.code;
    }
  }

  /** Runs a script; returns how many errors there were. One that reads itself ends at a depth, as in the real shell. */
  #script(text: string): number {
    if (this.#nesting === MOST_NESTED) {
      this.error(`Input nesting limit (${MOST_NESTED}) reached at line ${this.#line}. Check recursion.`);
      return 1;
    }
    this.#nesting += 1;
    try {
      return this.#statements(text);
    } finally {
      this.#nesting -= 1;
    }
  }

  #statements(text: string): number {
    let errors = 0;
    let pending = '';
    let startLine = 0;
    let line = 0;
    for (const raw of text.split('\n')) {
      line += 1;
      if (pending.trim() === '' && /^\s*(?:--.*)?$/.test(raw)) continue;
      if (pending === '' && raw.startsWith('.')) {
        if (this.echoes) this.print(`${raw}\n`);
        this.#line = line;
        if (!this.#dot(raw)) {
          errors += 1;
          if (this.bails) break;
        }
        continue;
      }
      if (pending === '') startLine = line;
      pending += `${raw}\n`;
      if (!/;\s*(?:--.*)?$/.test(raw) && !/^\s*(?:\/|go)\s*$/i.test(raw)) continue;
      if (!this.#isComplete(pending)) continue;
      errors += this.#runLines(pending, startLine);
      pending = '';
      if (errors > 0 && this.bails) break;
    }
    if (pending.trim() !== '' && !(errors > 0 && this.bails)) errors += this.#runLines(pending, startLine);
    return errors;
  }

  #isComplete(sql: string): boolean {
    return this.engine.lib.capi.sqlite3_complete(sql) !== 0;
  }

  #runLines(sql: string, line: number): number {
    try {
      if (this.echoes) this.print(sql);
      this.execute(sql.trimEnd());
      return 0;
    } catch (error) {
      if (!(error instanceof SqliteFailure)) throw error;
      const kind = isParseFailure(error) ? 'Parse error' : 'Runtime error';
      this.error(`${kind} near line ${line}: ${describedFailure(error)}`);
      return 1;
    }
  }

  #dot(text: string): boolean {
    try {
      const end = runDotCommand(this, text);
      if (end !== null) throw new ShellEnd(end);
      return true;
    } catch (error) {
      if (error instanceof SqliteFailure) this.error(`Error: ${error.message}`);
      else if (!(error instanceof DotCommandError)) throw error;
      // The script that it has read has said its errors itself.
      else if (error.message !== '') this.error(error.message);
      return false;
    }
  }

  /** Runs every statement and prints its rows. Throws SqliteFailure, and notes in which phase. */
  execute(sql: string): void {
    for (let rest = sql; rest.trim() !== ''; ) {
      const text = rest.trimStart();
      const prepared = phase('prepare', text, () => this.database.prepare(text));
      rest = prepared.rest;
      const { statement } = prepared;
      if (statement === null) continue;
      try {
        phase('step', text, () => this.#rows(statement));
      } finally {
        statement.finalize();
      }
      if (this.countsChanges && !statement.isReadOnly)
        this.print(`changes: ${this.database.changes}   total_changes: ${this.database.totalChanges}\n`);
    }
    if (this.target?.once) this.endOutput();
  }

  #rows(statement: Statement): void {
    const names = statement.columnNames();
    if (COLUMNAR.includes(this.style.mode)) {
      const rows: EngineValue[][] = [];
      while (statement.step()) rows.push(statement.row());
      this.print(columnarText(names, rows, this.style));
      return;
    }
    let count = 0;
    while (statement.step()) {
      if (count === 0) this.print(headText(names, this.style));
      this.print(rowText(names, statement.row(), count, this.style));
      count += 1;
    }
    this.print(tailText(count, this.style));
  }

  print(text: string): void {
    if (this.target !== null) {
      this.target.parts.push(text);
      return;
    }
    this.#pending += text;
    if (this.#pending.length > PIECE_BYTES) this.#flushText();
  }

  error(text: string): void {
    this.#flushText();
    this.#channel.print('stderr', Buffer.from(`${text}\n`));
  }

  #flushText(): void {
    if (this.#pending === '') return;
    this.#channel.print('stdout', Buffer.from(this.#pending));
    this.#pending = '';
  }

  /** Writes the file that output went to. */
  endOutput(): void {
    if (this.target === null) return;
    const { path, parts } = this.target;
    this.target = null;
    this.#channel.ask({ op: 'write', path, content: new Uint8Array(Buffer.from(parts.join(''))) });
  }

  /** The text of a file. Throws DotCommandError without one. */
  readText(path: string): string {
    const content = this.#channel.ask({ op: 'read', path: this.absolute(path) });
    if (content === null) throw new DotCommandError(`Error: cannot open "${path}"`);
    return Buffer.from(content).toString('utf8');
  }

  /** Runs the script of a file; throws when it had errors. */
  readScript(path: string): void {
    if (this.#script(this.readText(path)) > 0) throw new DotCommandError('');
  }

  absolute(path: string): string {
    return path.startsWith('/') ? path : `${this.engine.cwd}/${path}`;
  }
}
