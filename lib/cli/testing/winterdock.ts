/** For tests: the command line as a process, with a home of its own. bytes.test.ts starts it as people do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programOf } from '../../testing/program.ts';

/** A test starts ten processes and more, one after another, each of which costs a second on a busy machine. */

/** The file that people start as `winterdock`. */
export const LAUNCHER = fileURLToPath(new URL('../../../bin/winterdock.js', import.meta.url));
const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const BUNDLED = programOf(MAIN);
/** What a test starts: the bundle of what the launcher runs where there is one, which starts in half the time. */
export const PROGRAM = BUNDLED === MAIN ? LAUNCHER : BUNDLED;

/** How it ended, and all it wrote. */
class Ended {
  readonly exit: number | NodeJS.Signals | null;
  /** What it wrote to stdout, byte by byte. */
  readonly bytes: Buffer;
  readonly stdout: string;
  readonly stderr: string;

  constructor(exit: number | NodeJS.Signals | null, bytes: Buffer, stderr: string) {
    this.exit = exit;
    this.bytes = bytes;
    this.stdout = bytes.toString();
    this.stderr = stderr;
  }

  /** stdout as one JSON document. Throws when it is none. */
  get json(): Loose {
    return JSON.parse(this.stdout);
  }

  /** stdout as JSON documents, one a line. */
  get lines(): Loose[] {
    return this.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }
}

/** JSON of unknown shape, to be read freely and proved by what a test expects. */
interface Loose {
  readonly [member: string]: Loose;
}

interface Running {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  ended: Promise<Ended>;
}

export interface CommandLine {
  /** Its `XDG_CONFIG_HOME`, `XDG_STATE_HOME` and working folder. */
  home: string;
  /** What it finds in its environment. */
  env: Record<string, string>;
  start(args: readonly string[], options?: { env?: Record<string, string> }): Running;
  /** Runs it to its end, with `input` on stdin. */
  run(args: readonly string[], options?: { env?: Record<string, string>; input?: string | Uint8Array }): Promise<Ended>;
  remove(): void;
}

/** Makes a command line. `env` is what it finds besides the homes. */
export function commandLine(env: Record<string, string> = {}): CommandLine {
  const home = mkdtempSync(join(tmpdir(), 'winterdock-cli-'));
  const { PATH, NODE_COMPILE_CACHE, NODE_ENV } = process.env;
  const found = { PATH, NODE_COMPILE_CACHE, NODE_ENV, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, ...env };
  const start: CommandLine['start'] = (args, options = {}) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: home,
      env: { ...found, ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const output: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
    child.stdout.on('data', (chunk: Buffer) => output.stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.stderr.push(chunk));
    const bytes = (stream: 'stdout' | 'stderr') => Buffer.concat(output[stream]);
    const text = (stream: 'stdout' | 'stderr') => bytes(stream).toString();
    child.stdin.on('error', () => undefined);
    const ended = once(child, 'close').then(
      () => new Ended(child.exitCode ?? child.signalCode, bytes('stdout'), text('stderr')),
    );
    return { child, stdout: () => text('stdout'), stderr: () => text('stderr'), ended };
  };
  return {
    home,
    env: Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as Record<string, string>,
    start,
    run(args, options = {}) {
      const { child, ended } = start(args, options);
      child.stdin?.end(options.input ?? '');
      return ended;
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}
