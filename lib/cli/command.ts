/** What every command shares: options, examples, an API client, output and error handling. */
import type { Command } from 'commander';
import { ApiError, createClient, type WinterdockClient } from '../client/client.ts';
import { CliError, Interrupted, keyHint, reportFailure } from './failure.ts';
import { type LoginServer, resolveServer } from './saved-logins.ts';

/** Options that every command takes. */
interface SharedOptions {
  json?: boolean;
  url?: string;
  context?: string;
}

/** What a command's `run` gets. */
export interface CommandContext {
  /** Throws `refused` when there is no key for the server. */
  readonly client: WinterdockClient;
  readonly server: LoginServer;
  readonly json: boolean;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** Prints the answer to stdout: JSON with `--json`, else the text of `human`. */
  print(value: unknown, human: () => string): void;
  /** Sets an exit code other than 0, such as that of a command in a sandbox. */
  exitWith(code: number): void;
  /** Prints a line for people to stderr; nothing with `--json`. */
  note(text: string): void;
}

interface CommandSpec<O, A extends unknown[]> {
  summary: string;
  /** It runs when its parent is named alone. */
  isDefault?: boolean;
  /** Follows the summary in the help. */
  description?: string;
  /** Command lines without `winterdock`, each with what it does. */
  examples: readonly (readonly [string, string])[];
  options?: (command: Command) => Command;
  /** Runs the command. An error is reported and decides the exit code. */
  run(context: CommandContext, options: O & SharedOptions, ...args: A): Promise<void>;
}

const CLIENT_HEADERS = { 'x-winterdock-client': 'cli' };

/** A client of a server, with the header by which the ledger shows `via` cli. */
export function cliClient(server: LoginServer, options: { retries?: number } = {}): WinterdockClient {
  return createClient({ ...options, url: server.url, key: server.key, headers: CLIENT_HEADERS });
}

/** A signal that the first Ctrl-C or SIGTERM aborts; a second ends the program at once. */
function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const [signal, exitCode] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(exitCode);
      controller.abort(new Interrupted(exitCode));
    });
  }
  return controller.signal;
}

function contextOf(options: SharedOptions): CommandContext {
  const json = options.json === true;
  const signal = interruptSignal();
  let server: LoginServer | null = null;
  let client: WinterdockClient | null = null;
  return {
    json,
    signal,
    get server() {
      server ??= resolveServer(process.env, options.url, options.context);
      return server;
    },
    get client() {
      if (this.server.key === null) {
        throw new CliError('refused', `There is no key for ${this.server.url}.`, keyHint(this.server.url));
      }
      client ??= cliClient(this.server);
      return client;
    },
    print(value, human) {
      process.stdout.write(json ? `${JSON.stringify(value)}\n` : human());
    },
    exitWith(code) {
      process.exitCode = code;
    },
    note(text) {
      if (!json) process.stderr.write(`${text}\n`);
    },
  };
}

/** Adds a command below `parent`. `usage` is its name with its arguments: `show <id>`. */
export function addCommand<O = object, A extends unknown[] = string[]>(
  parent: Command,
  usage: string,
  spec: CommandSpec<O, A>,
): Command {
  const command = parent.command(usage, { isDefault: spec.isDefault ?? false }).summary(spec.summary);
  const summary = `${spec.summary.charAt(0).toUpperCase()}${spec.summary.slice(1)}.`;
  command.description(spec.description === undefined ? summary : `${summary} ${spec.description}`);
  spec.options?.(command);
  command
    .option('--json', 'print JSON, and failures as JSON on stderr')
    .option('--url <address>', 'the server (default: WINTERDOCK_URL, else the current context)')
    .option('--context <name>', 'the server and key of this login')
    .addHelpText('after', examplesText(spec.examples))
    .action(async (...given: unknown[]) => {
      const args = given.slice(0, -2) as A;
      const options = given.at(-2) as O & SharedOptions;
      const context = contextOf(options);
      try {
        await spec.run(context, options, ...args);
      } catch (error) {
        const address = error instanceof ApiError ? context.server.url : null;
        process.exitCode = reportFailure(error, options.json === true, address);
      }
    });
  return command;
}

/** The examples at the end of a command's help. */
export function examplesText(examples: readonly (readonly [string, string])[]): string {
  if (examples.length === 0) return '';
  const lines = examples.map(([line, effect]) => `  winterdock ${line}\n      ${effect}`);
  return `\nExamples:\n${lines.join('\n')}`;
}

/** A parser of repeatable `KEY=VALUE` options into one object. */
export function parsePairs(
  separator: '=' | ':',
): (text: string, before?: Record<string, string>) => Record<string, string> {
  return (text, before = {}) => {
    const at = text.indexOf(separator);
    if (at < 1) throw new CliError('usage', `"${text}" is not KEY${separator}VALUE.`);
    return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  };
}

/** Parses an option that is a whole number. */
export function parseWholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new CliError('usage', `"${text}" is not a whole number.`);
  return Number(text);
}

/** Parses a duration such as `30`, `90s`, `15m`, `24h` or `7d` into seconds. */
export function parseSeconds(text: string): number {
  const match = /^(\d{1,9})\s*([smhd]?)$/.exec(text);
  if (match === null) throw new CliError('usage', `"${text}" is not a duration such as 90s, 15m, 24h or 7d.`);
  const unit = { s: 1, m: 60, h: 3600, d: 86_400 }[match[2] === '' ? 's' : (match[2] as 's')];
  return Number(match[1]) * unit;
}
