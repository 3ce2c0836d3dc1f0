/** `shell`: runs each typed line as a script in a sandbox, and keeps the working folder between lines. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Command } from 'commander';
import { ApiError } from '../../client/client.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { exitCode } from '../exit-codes.ts';
import { reportFailure } from '../failure.ts';
import { printable } from '../format.ts';
import { wokeText } from './run.ts';

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
  command: string,
  cwd: string,
  signal: AbortSignal,
): Promise<{ cwd: string; exit: number }> {
  for await (const event of context.client.execStream(id, { command, cwd }, { signal })) {
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
  return { cwd, exit: exitCode('network') };
}

/** Errors that every further line would get too. */
function endsShell(error: unknown): boolean {
  return error instanceof ApiError && ['unauthorized', 'forbidden', 'not_found', 'gone'].includes(error.code);
}

async function shell(
  context: CommandContext,
  lines: Interface,
  id: string,
  startAt: string | undefined,
): Promise<number> {
  let cwd = startAt ?? '/workspace';
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
    lines.setPrompt(`${id}:${printable(cwd)}$ `);
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
        ({ cwd, exit } = await runLine(context, id, line, cwd, running.signal));
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

export function addShellCommand(program: Command): void {
  addCommand<{ cwd?: string }>(program, 'shell <id>', {
    summary: 'type commands into a sandbox, line by line',
    description:
      'Each line is a script of its own: the folder is carried over, variables are not. Says when a line had to wake the sandbox and how long that took. Ctrl-C stops the running line, Ctrl-D or `exit` leaves. Lines are kept for the next time, except those that begin with a space. Lines may also come from a pipe; the exit code is then that of the last one.',
    options: (command) => command.option('--cwd <folder>', 'where to begin (default: /workspace)'),
    examples: [
      ['shell sess-841', 'look around in it'],
      ['shell sess-841 < steps.txt', 'line by line from a file'],
    ],
    async run(context, { cwd }, id: string) {
      await context.client.getInstance(id, { signal: context.signal });
      const terminal = process.stdin.isTTY === true;
      const history = terminal ? readHistory() : [];
      const lines = createInterface({
        input: process.stdin,
        output: terminal ? process.stdout : undefined,
        history,
        historySize: HISTORY_LINES,
        removeHistoryDuplicates: true,
      });
      lines.on('history', (kept: string[]) => history.splice(0, history.length, ...kept));
      try {
        context.exitWith(await shell(context, lines, id, cwd));
      } finally {
        lines.close();
        if (terminal) writeHistory(history);
      }
    },
  });
}
