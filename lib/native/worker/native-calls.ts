/**
 * One call of real programs: a script for bash in the jail, its output in messages, its limits and how it ended. Knows
 * neither files nor the channel.
 */
import { constants } from 'node:os';
import { WinterdockError } from '../../base/errors.ts';
import type { OutputChunk } from '../../workers/protocol/instance.ts';
import { elapsedSince, monotonicMs } from '../../workers/protocol/monotonic.ts';
import { inMessages, Output } from '../../workers/protocol/output.ts';
import type { ExecCall, ExecResult } from '../../workers/protocol/protocol.ts';
import type { StopSignal } from '../../workers/protocol/stop-signals.ts';
import type { JailCommand, JailCommandResult } from '../jail/commands.ts';

const SHELL = '/bin/bash';
const WORKSPACE = '/workspace';
/** What every program finds; the variables of a call come on top. */
const VARIABLES = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: WORKSPACE,
  USER: 'user',
  LOGNAME: 'user',
  SHELL,
  LANG: 'C.UTF-8',
  TMPDIR: '/tmp',
};
/** Longest wait of output for the next message, in milliseconds: of a call that is followed, and of others. */
const FOLLOWED_MS = 20;
const OTHERS_MS = 200;
/** What a program has for its end after TERM when its time is over, in milliseconds. */
const LAST_MS = 600;
const TIMED_OUT_EXIT = 124;
const CANCELLED_EXIT = 130;
const NOT_FOUND_EXIT = 127;
const SIGNAL_BASE = 128;
/** A path of a sandbox has 1024 bytes at most. */
const MOST_CWD = 1024;

interface NativeCallParts {
  run(command: JailCommand): Promise<JailCommandResult>;
  /** Sends output before the result. */
  send(chunks: OutputChunk[]): void;
}

export class NativeCall {
  readonly #call: ExecCall;
  readonly #parts: NativeCallParts;
  readonly #output: Output;
  readonly #force = new AbortController();
  /** Signals that came before it had begun. */
  #early: NodeJS.Signals[] = [];
  #signal: (name: NodeJS.Signals) => void = (name) => void this.#early.push(name);
  #isTimedOut = false;
  #flushTimer: NodeJS.Timeout | null = null;

  constructor(call: ExecCall, parts: NativeCallParts) {
    this.#call = call;
    this.#parts = parts;
    this.#output = new Output(call.endless);
  }

  /** Asks it to end with a signal, for which it may have an action; without one it ends at once, with all it began. */
  stop(name?: StopSignal): void {
    if (name === undefined) this.#force.abort();
    else this.#signal(`SIG${name}`);
  }

  /** Runs it to its end. Throws what `JailCommands.run` throws, but for a folder that is not there. */
  async run(): Promise<ExecResult> {
    const { command, cwd = WORKSPACE, env = {}, stdin, timeoutMs } = this.#call;
    const started = monotonicMs();
    const late = setTimeout(() => {
      this.#isTimedOut = true;
      this.#signal('SIGTERM');
    }, timeoutMs);
    const last = setTimeout(() => this.#force.abort(), timeoutMs + LAST_MS);
    try {
      const ended = await this.#runIn(cwd.slice(0, MOST_CWD), { command, env, stdin });
      return {
        exitCode: this.#exitOf(ended),
        cwd,
        timedOut: this.#isTimedOut,
        truncated: this.#output.truncated,
        tookMs: elapsedSince(started),
        rest: this.#rest(),
        // A line of a terminal: nothing of its shell is kept, and the next one begins anew.
        ...(this.#call.kept !== undefined && { kept: '' }),
      };
    } finally {
      clearTimeout(late);
      clearTimeout(last);
      if (this.#flushTimer !== null) clearTimeout(this.#flushTimer);
    }
  }

  async #runIn(
    cwd: string,
    { command, env, stdin }: { command: string; env: Record<string, string>; stdin: Uint8Array | undefined },
  ): Promise<JailCommandResult> {
    try {
      return await this.#parts.run({
        argv: [SHELL, '-c', command],
        cwd,
        env: { ...VARIABLES, PWD: cwd, ...env },
        ...(stdin === undefined ? {} : { stdin }),
        signal: this.#force.signal,
        onBegun: (send) => {
          this.#signal = send;
          for (const name of this.#early) send(name);
        },
        onOutput: (stream, bytes) => this.#print(stream, bytes),
      });
    } catch (error) {
      if (!(error instanceof WinterdockError) || error.code !== 'not_found') throw error;
      // A shell that cannot be begun there: what a shell says of it, and its code.
      this.#output.add('stderr', Buffer.from(`winterdock: ${error.message}\n`));
      return { exitCode: NOT_FOUND_EXIT, signal: null, ended: 'by_itself' };
    }
  }

  #exitOf({ exitCode, signal, ended }: JailCommandResult): number {
    if (this.#isTimedOut) return TIMED_OUT_EXIT;
    if (ended === 'cancelled') return CANCELLED_EXIT;
    if (exitCode !== null) return exitCode;
    return SIGNAL_BASE + (signal === null ? 0 : constants.signals[signal]);
  }

  #print(stream: 'stdout' | 'stderr', bytes: Buffer): void {
    this.#output.add(stream, bytes);
    const { streaming, endless } = this.#call;
    this.#flushTimer ??= setTimeout(
      () => {
        this.#flushTimer = null;
        for (const chunks of inMessages(this.#output.take())) this.#parts.send(chunks);
      },
      streaming || endless ? FOLLOWED_MS : OTHERS_MS,
    );
  }

  /** What goes with the result. What is too much for one message is sent before. */
  #rest(): OutputChunk[] {
    const messages = inMessages(this.#output.end());
    const rest = messages.pop() ?? [];
    for (const chunks of messages) this.#parts.send(chunks);
    return rest;
  }
}
