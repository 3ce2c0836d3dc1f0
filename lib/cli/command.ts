/** What every command has: the options that all share, its examples, a client, and one way to succeed and to fail. */
import type { Command } from 'commander';
import { createClient, type WinterdockClient } from '../client/client.ts';
import { CliError, Interrupted, reportFailure } from './failure.ts';
import { type LoginServer, resolveServer } from './saved-logins.ts';

/** Options that every command takes. */
interface SharedOptions {
  json?: boolean;
  url?: string;
}

/** What a command works with. */
export interface CommandContext {
  /** Throws `refused` when no key is known for the server. */
  readonly client: WinterdockClient;
  readonly server: LoginServer;
  readonly json: boolean;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** Prints the answer to stdout: as JSON when that is asked for, else as `human` makes it. */
  print(value: unknown, human: () => string): void;
  /** Ends with another exit code than 0, as a command in a sandbox did. */
  exitWith(code: number): void;
  /** Says something to the person, on stderr; nothing with --json. */
  note(text: string): void;
}

interface CommandSpec<O, A extends unknown[]> {
  summary: string;
  /** More than the summary, when there is more to know. */
  description?: string;
  /** Command lines without `winterdock`, each with what it does. */
  examples: readonly (readonly [string, string])[];
  options?: (command: Command) => Command;
  /** Does it. What it throws is reported, and decides the exit code. */
  run(context: CommandContext, options: O & SharedOptions, ...args: A): Promise<void>;
}

const CLIENT_HEADERS = { 'x-winterdock-client': 'cli' };

/** A client of `url` that says it is the command line, so that the ledger says `via` cli. */
export function cliClient(server: LoginServer): WinterdockClient {
  return createClient({ url: server.url, key: server.key, headers: CLIENT_HEADERS });
}

/** Aborted by the first Ctrl-C or SIGTERM; a second ends the program at once. */
function interruption(): AbortSignal {
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
  const signal = interruption();
  let server: LoginServer | null = null;
  let client: WinterdockClient | null = null;
  return {
    json,
    signal,
    get server() {
      server ??= resolveServer(process.env, options.url);
      return server;
    },
    get client() {
      if (this.server.key === null) {
        throw new CliError(
          'refused',
          `There is no key for ${this.server.url}.`,
          `Log in: winterdock login ${this.server.url}`,
        );
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
  const command = parent.command(usage).summary(spec.summary);
  const summary = `${spec.summary.charAt(0).toUpperCase()}${spec.summary.slice(1)}.`;
  command.description(spec.description === undefined ? summary : `${summary} ${spec.description}`);
  spec.options?.(command);
  command
    .option('--json', 'print JSON, and failures as JSON on stderr')
    .option('--url <address>', 'the server (default: WINTERDOCK_URL, else the last login)')
    .addHelpText('after', examplesText(spec.examples))
    .action(async (...given: unknown[]) => {
      const args = given.slice(0, -2) as A;
      const options = given.at(-2) as O & SharedOptions;
      try {
        await spec.run(contextOf(options), options, ...args);
      } catch (error) {
        process.exitCode = reportFailure(error, options.json === true);
      }
    });
  return command;
}

function examplesText(examples: readonly (readonly [string, string])[]): string {
  if (examples.length === 0) return '';
  const lines = examples.map(([line, says]) => `  winterdock ${line}\n      ${says}`);
  return `\nExamples:\n${lines.join('\n')}`;
}

/** Reads `KEY=VALUE` options that may come again and again into one object. */
export function parsePairs(
  separator: '=' | ':',
): (text: string, before?: Record<string, string>) => Record<string, string> {
  return (text, before = {}) => {
    const at = text.indexOf(separator);
    if (at < 1) throw new CliError('usage', `"${text}" is not KEY${separator}VALUE.`);
    return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  };
}

/** Reads a whole number of an option. */
export function parseWholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new CliError('usage', `"${text}" is not a whole number.`);
  return Number(text);
}

/** Reads seconds, such as `30`, `90s`, `15m`, `24h` or `7d`. */
export function parseSeconds(text: string): number {
  const found = /^(\d{1,9})\s*([smhd]?)$/.exec(text);
  if (found === null) throw new CliError('usage', `"${text}" is not a duration such as 90s, 15m, 24h or 7d.`);
  const unit = { s: 1, m: 60, h: 3600, d: 86_400 }[found[2] === '' ? 's' : (found[2] as 's')];
  return Number(found[1]) * unit;
}
