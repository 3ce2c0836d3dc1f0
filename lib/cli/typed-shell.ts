/** Runs each typed line as a script in a sandbox, and keeps the working folder between lines. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { ApiError } from '../client/client.ts';
import type { CommandContext } from './command.ts';
import { exitCode } from './exit-codes.ts';
import { reportFailure } from './failure.ts';
import { printable } from './format.ts';
import { wokeText } from './woke-text.ts';

export interface ShellOptions {
  /** Where it begins. Default: `/workspace`. */
  cwd?: string;
  /** Variables of every line. */
  env?: Record<string, string>;
}

const HISTORY_LINES = 1000;

/** The history file, below `XDG_STATE_HOME` or `~/.local/state`. */
function historyFile(): string {
  const { XDG_STATE_HOME: state } = process.env;
  return join(state?.startsWith('/') === true ? state : join(homedir(), '.local', 'state'), 'winterdock', 'history');
}

function readHistory(): string[] {
  try {
    return readFileSync(historyFile(), 'utf8').split('\n').filter(Boolean).slice(0, HISTORY_LINES);
  } catch {
    // No readable file: the shell starts without a history.
    return [];
  }
}

function writeHistory(lines: readonly string[]): void {
  try {
    mkdirSync(dirname(historyFile()), { recursive: true, mode: 0o700 });
    const kept = lines.filter((line) => !line.startsWith(' ')).slice(0, HISTORY_LINES);
    writeFileSync(historyFile(), `${kept.join('\n')}\n`, { mode: 0o600 });
  } catch {
    // An unwritable home only loses the history.
  }
}

/** Runs one line in a sandbox. Returns the working folder after it and its exit code. */
async function runLine(
  context: CommandContext,
  id: string,
  input: { command: string; cwd: string; env?: Record<string, string> },
  signal: AbortSignal,
): Promise<{ cwd: string; exit: number }> {
  for await (const event of context.client.execStream(id, input, { signal })) {
    if (event.event === 'stdout') process.stdout.write(event.bytes);
    else if (event.event === 'stderr') process.stderr.write(event.bytes);
    else if (event.event === 'woke') {
      if (event.woke !== 'hot') process.stderr.write(`${wokeText(id, event.woke, event.took_ms)}\n`);
    } else {
      if (event.timed_out) process.stderr.write('winterdock: its time ran out.\n');
      if (event.truncated) process.stderr.write('winterdock: there was more output than is kept.\n');
      return { cwd: event.cwd, exit: event.exit_code };
    }
  }
  return { cwd: input.cwd, exit: exitCode('network') };
}

/** Errors that every further line would get too. */
function endsShell(error: unknown): boolean {
  return error instanceof ApiError && ['unauthorized', 'forbidden', 'not_found', 'gone'].includes(error.code);
}

const ESCAPED = { none: /[^\p{L}\p{N}\p{M}_@%+=:,./-]/gu, '"': /["$`\\]/g } as const;

/** How a name goes on behind what is typed of it, quoted as it stands there; null when it cannot. */
function typedName(name: string, begin: string, quote: '"' | "'" | null): string | null {
  const rest = name.slice(begin.length);
  if (quote === "'") return rest.includes("'") ? null : begin + rest;
  return begin + rest.replace(ESCAPED[quote ?? 'none'], '\\$&');
}

/** Completes with what the server finds for the line. Names that a terminal would act on are left out. */
function completerOf({ client, signal }: CommandContext, id: string, place: { cwd: string }) {
  const complete = async (line: string): Promise<[string[], string]> => {
    const { names, begin, quote } = await client.completeLine(id, { line, cwd: place.cwd }, { signal, retries: 0 });
    // With backslashes in what is typed it is not what the name begins with.
    if (!line.endsWith(begin)) return [[], line];
    const words = names
      .filter((name) => name.startsWith(begin) && printable(name) === name)
      .flatMap((name) => typedName(name, begin, quote) ?? []);
    const [only] = words;
    const isWhole = words.length === 1 && names.length === 1 && only?.endsWith('/') === false;
    return [isWhole ? [`${only}${quote ?? ''} `] : words, begin];
  };
  return (line: string, callback: (error: null, result: [string[], string]) => void) => {
    complete(line).then(
      (result) => callback(null, result),
      // A Tab is no place for an error: the line itself will tell.
      () => callback(null, [[], line]),
    );
  };
}

async function shell(
  context: CommandContext,
  lines: Interface,
  id: string,
  place: { cwd: string },
  env: Record<string, string> | undefined,
): Promise<number> {
  let exit = 0;
  let running: AbortController | null = null;
  const stop = () => {
    if (running !== null) running.abort();
    else if (lines.terminal) {
      process.stderr.write('^C\n');
      lines.write(null, { ctrl: true, name: 'u' });
      lines.prompt();
    } else lines.close();
  };
  const prompt = () => {
    lines.setPrompt(`${id}:${printable(place.cwd)}$ `);
    if (lines.terminal) lines.prompt();
  };
  lines.on('SIGINT', stop);
  context.signal.addEventListener('abort', () => {
    running?.abort();
    lines.close();
  });
  prompt();
  for await (const line of lines) {
    const command = line.trim();
    const leave = /^exit(?:\s+(\d{1,3}))?$/.exec(command);
    if (leave !== null) return leave[1] === undefined ? exit : Number(leave[1]);
    if (command !== '') {
      running = new AbortController();
      try {
        const input = { command: line, cwd: place.cwd, env };
        ({ cwd: place.cwd, exit } = await runLine(context, id, input, running.signal));
      } catch (error) {
        if (running.signal.aborted) {
          process.stderr.write('^C stopped\n');
          exit = exitCode('interrupted');
        } else {
          exit = reportFailure(error, false);
          if (endsShell(error)) return exit;
        }
      } finally {
        running = null;
      }
    }
    if (context.signal.aborted) throw context.signal.reason;
    prompt();
  }
  if (lines.terminal) process.stderr.write('\n');
  return exit;
}

/** Reads lines from the terminal, or from stdin, and runs them in a sandbox. Sets the exit code of the last one. */
export async function typeInto(context: CommandContext, id: string, options: ShellOptions): Promise<void> {
  await context.client.getInstance(id, { signal: context.signal });
  const terminal = process.stdin.isTTY === true;
  const history = terminal ? readHistory() : [];
  const place = { cwd: options.cwd ?? '/workspace' };
  const lines = createInterface({
    input: process.stdin,
    output: terminal ? process.stdout : undefined,
    completer: terminal ? completerOf(context, id, place) : undefined,
    history,
    historySize: HISTORY_LINES,
    removeHistoryDuplicates: true,
  });
  lines.on('history', (kept: string[]) => history.splice(0, history.length, ...kept));
  try {
    context.exitWith(await shell(context, lines, id, place, options.env));
  } finally {
    lines.close();
    if (terminal) writeHistory(history);
  }
}
