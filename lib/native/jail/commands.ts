/**
 * Commands in a jail: their input, what they print and how they end, over one channel to its first process. What comes
 * over it is a guest's; whatever it is, it concerns this jail alone. Knows nothing of how a jail is built or ended.
 */
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { messageOf, WinterdockError } from '../../base/errors.ts';
import {
  inputEndFrame,
  inputFrames,
  type JailFrame,
  JailFrames,
  JailProtocolError,
  MOST_START_BYTES,
  moreOutputFrame,
  signalFrame,
  startFrame,
  WINDOW_BYTES,
} from './command-frames.ts';

/** Commands that run at once in one jail, those in the background not counted. */
const MOST_COMMANDS = 64;
/** Once they have been ended by force: the kernel does that, and init.pl says so. */
const MAX_END_MS = 60_000;

export interface JailCommand {
  /** The program and its arguments; one without a slash is looked for in the `PATH` of `env`. */
  argv: readonly string[];
  /** Absolute, in the jail. */
  cwd: string;
  /** All variables that it has. */
  env: Readonly<Record<string, string>>;
  /** Its input; without one it has an empty one. */
  stdin?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Called with what it prints, in order. While a promise of it is pending, no more of that stream is read. */
  onOutput?(stream: 'stdout' | 'stderr', bytes: Buffer): void | Promise<void>;
  /** Called when it is on its way, with what sends a signal to its process group. */
  onBegun?(send: (name: NodeJS.Signals) => void): void;
  /** It is ended by force then, with all that it has begun. */
  timeoutMs?: number;
  /** Ends it the same way. */
  signal?: AbortSignal;
}

export interface JailCommandResult {
  /** Null when a signal ended it. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** Whether it ended by itself, or was ended at its time or because somebody cancelled it. */
  ended: 'by_itself' | 'timed_out' | 'cancelled';
}

/** Ends the processes of a command, by the id that its first one has in the jail. */
type EndCommand = (pid: number) => Promise<void>;

interface Run {
  readonly number: number;
  readonly command: JailCommand;
  readonly result: PromiseWithResolvers<JailCommandResult>;
  /** Resolves with the id in the jail of its first process, or null when there never was one. */
  readonly started: PromiseWithResolvers<number | null>;
  /** How much of each stream may still come. */
  readonly credit: { stdout: number; stderr: number };
  /** Where each stream's reader is. */
  readonly reading: { stdout: Promise<void>; stderr: Promise<void> };
  /** What of its input the jail takes. */
  inputCredit: number;
  onInputCredit: () => void;
  ended: JailCommandResult['ended'];
  isOver: boolean;
}

interface JailChannel {
  readonly input: Writable;
  readonly output: Readable;
}

export class JailCommands {
  /** Resolves when the first process of the jail takes commands. Rejects as `broken` does. */
  readonly ready: Promise<void>;
  /** Resolves with the reason once the channel can be used no more. */
  readonly broken: Promise<Error>;
  readonly #channel: JailChannel;
  readonly #end: EndCommand;
  readonly #frames = new JailFrames();
  readonly #runs = new Map<number, Run>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #broken = Promise.withResolvers<Error>();
  #problem: Error | null = null;
  #isReady = false;
  #last = 0;

  constructor(channel: JailChannel, end: EndCommand) {
    this.#channel = channel;
    this.#end = end;
    this.ready = this.#ready.promise;
    this.broken = this.#broken.promise;
    this.ready.catch(() => {});
    channel.output.on('data', (bytes: Buffer) => this.#take(bytes));
    for (const stream of [channel.input, channel.output]) {
      stream.on('error', (error: Error) => this.close(error));
      stream.on('close', () => this.close(new Error('the jail has ended')));
    }
  }

  /** Whether the channel can be used. */
  get isOpen(): boolean {
    return this.#problem === null;
  }

  /** Commands that have not ended. */
  get running(): number {
    return this.#runs.size;
  }

  /**
   * Runs a command to its end, which is that of its first process: what it leaves in the background goes on, and prints
   * into nothing. Throws `conflict` when the jail has ended or ends before it, `capacity`, `not_found` for a folder
   * that is not there, and `validation`.
   */
  async run(command: JailCommand): Promise<JailCommandResult> {
    if (this.#problem !== null) throw ended(this.#problem);
    if (this.#runs.size >= MOST_COMMANDS)
      throw new WinterdockError('capacity', `${MOST_COMMANDS} commands run in this sandbox already.`, {
        hint: 'Wait until one of them has ended.',
        retryAfterSeconds: 1,
      });
    command.signal?.throwIfAborted();
    this.#last += 1;
    const start = startFrame(this.#last, { ...command, env: variablesOf(command) });
    const run = newRun(this.#last, command);
    this.#runs.set(run.number, run);
    const stop = (how: 'timed_out' | 'cancelled') => void this.#stop(run, how);
    const timer = command.timeoutMs === undefined ? null : setTimeout(stop, command.timeoutMs, 'timed_out');
    const cancel = () => stop('cancelled');
    command.signal?.addEventListener('abort', cancel);
    try {
      this.#send(start);
      command.onBegun?.((name) => this.#send(signalFrame(run.number, constants.signals[name])));
      void this.#giveInput(run);
      return await run.result.promise;
    } finally {
      run.isOver = true;
      this.#runs.delete(run.number);
      run.started.resolve(null);
      run.onInputCredit();
      command.signal?.removeEventListener('abort', cancel);
      if (timer !== null) clearTimeout(timer);
    }
  }

  /** Sends a signal to the process groups of all commands. */
  signalAll(name: NodeJS.Signals): void {
    for (const { number } of this.#runs.values()) this.#send(signalFrame(number, constants.signals[name]));
  }

  /** The channel is used no more; commands that have not ended fail. */
  close(problem: Error): void {
    if (this.#problem !== null) return;
    this.#problem = problem;
    this.#channel.input.destroy();
    this.#channel.output.destroy();
    for (const run of this.#runs.values()) run.result.reject(ended(problem));
    this.#ready.reject(problem);
    this.#broken.resolve(problem);
  }

  #send(bytes: Buffer): void {
    if (this.#problem === null) this.#channel.input.write(bytes);
  }

  #take(bytes: Buffer): void {
    if (this.#problem !== null) return;
    try {
      for (const frame of this.#frames.take(bytes)) this.#handle(frame);
    } catch (error) {
      this.close(new Error(`it broke the protocol: ${messageOf(error)}`, { cause: error }));
    }
  }

  #handle(frame: JailFrame): void {
    if (frame.kind === 'ready') {
      if (this.#isReady) throw new JailProtocolError('"ready" a second time');
      this.#isReady = true;
      this.#ready.resolve();
      return;
    }
    if (frame.run < 1 || frame.run > this.#last) throw new JailProtocolError(`a run ${frame.run} that never was`);
    const run = this.#runs.get(frame.run);
    // It has ended meanwhile.
    if (run === undefined || run.isOver) return;
    switch (frame.kind) {
      case 'stdout':
      case 'stderr':
        this.#print(run, frame.kind, frame.bytes);
        return;
      case 'started':
        run.started.resolve(frame.pid);
        return;
      case 'moreInput':
        run.inputCredit += frame.bytes;
        if (run.inputCredit > WINDOW_BYTES) throw new JailProtocolError('more room for input than there is');
        run.onInputCredit();
        return;
      case 'exited':
        void this.#exited(run, frame);
        return;
      case 'failed':
        run.isOver = true;
        run.result.reject(failure(run.command, frame));
    }
  }

  /** Hands on what was printed, and lets as much more come once that was taken. */
  #print(run: Run, stream: 'stdout' | 'stderr', bytes: Buffer): void {
    run.credit[stream] -= bytes.length;
    if (run.credit[stream] < 0) throw new JailProtocolError(`more of ${stream} than was asked for`);
    const { onOutput } = run.command;
    run.reading[stream] = run.reading[stream].then(async () => {
      try {
        await onOutput?.call(run.command, stream, bytes);
      } catch (error) {
        void this.#stop(run, 'cancelled');
        run.result.reject(error);
      }
      run.credit[stream] += bytes.length;
      if (!run.isOver) this.#send(moreOutputFrame(run.number, stream, bytes.length));
    });
  }

  async #exited(run: Run, { code, signal }: { code: number; signal: number }): Promise<void> {
    run.isOver = true;
    await Promise.all([run.reading.stdout, run.reading.stderr]);
    run.result.resolve({
      exitCode: signal === 0 ? code : null,
      signal: signal === 0 ? null : nameOf(signal),
      ended: run.ended,
    });
  }

  async #giveInput(run: Run): Promise<void> {
    const { stdin } = run.command;
    try {
      for await (const piece of stdin instanceof Uint8Array ? [stdin] : (stdin ?? [])) {
        for (let at = 0; at < piece.length; ) {
          while (run.inputCredit === 0 && !run.isOver)
            await new Promise<void>((resolve) => {
              run.onInputCredit = resolve;
            });
          if (run.isOver || this.#problem !== null) return;
          const part = piece.subarray(at, at + run.inputCredit);
          at += part.length;
          run.inputCredit -= part.length;
          for (const frame of inputFrames(run.number, Buffer.from(part))) this.#send(frame);
          if (this.#channel.input.writableNeedDrain)
            await Promise.race([once(this.#channel.input, 'drain'), this.broken]);
        }
      }
      if (!run.isOver) this.#send(inputEndFrame(run.number));
    } catch (error) {
      void this.#stop(run, 'cancelled');
      run.result.reject(error);
    }
  }

  /** Ends a command by force. A jail that does not say then that it has ended has lost its first process to a guest. */
  async #stop(run: Run, how: 'timed_out' | 'cancelled'): Promise<void> {
    if (run.isOver || run.ended !== 'by_itself') return;
    run.ended = how;
    const timer = setTimeout(() => {
      if (!run.isOver) this.close(new Error('it did not say that a command had ended'));
    }, MAX_END_MS);
    try {
      const pid = await Promise.race([run.started.promise, this.broken.then(() => null)]);
      if (pid !== null) await this.#end(pid);
      await run.result.promise.catch(() => {});
    } catch (error) {
      this.close(new Error(`a command could not be ended: ${messageOf(error)}`, { cause: error }));
    } finally {
      clearTimeout(timer);
    }
  }
}

function newRun(number: number, command: JailCommand): Run {
  return {
    number,
    command,
    result: Promise.withResolvers(),
    started: Promise.withResolvers(),
    credit: { stdout: WINDOW_BYTES, stderr: WINDOW_BYTES },
    reading: { stdout: Promise.resolve(), stderr: Promise.resolve() },
    inputCredit: WINDOW_BYTES,
    onInputCredit: () => {},
    ended: 'by_itself',
    isOver: false,
  };
}

/** The variables of a command as the kernel takes them. Throws `validation` for what no process can be begun with. */
function variablesOf({ argv, cwd, env }: JailCommand): string[] {
  const refused = (what: string) => new WinterdockError('validation', `A command cannot be begun with ${what}.`);
  const variables = Object.entries(env).map(([name, value]) => {
    if (name === '' || name.includes('=')) throw refused(`a variable named ${JSON.stringify(name)}`);
    return `${name}=${value}`;
  });
  if (argv.length === 0 || argv[0] === '') throw refused('no program');
  if (!cwd.startsWith('/')) throw refused(`the folder ${JSON.stringify(cwd)}, which is not absolute`);
  const texts = [cwd, ...argv, ...variables];
  if (texts.some((text) => text.includes('\0'))) throw refused('a NUL in its texts');
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > MOST_START_BYTES)
    throw new WinterdockError('too_large', `A command has at most ${MOST_START_BYTES} bytes of texts, not ${bytes}.`);
  return variables;
}

function nameOf(signal: number): NodeJS.Signals {
  const found = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
  return (found ?? `SIG${signal}`) as NodeJS.Signals;
}

/** The kernel's numbers of what goes wrong most often when a program is begun. */
const ENOENT = 2;
const E2BIG = 7;

function failure({ argv, cwd }: JailCommand, { step, errno }: Extract<JailFrame, { kind: 'failed' }>): WinterdockError {
  const name = Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? `errno ${errno}`;
  if (step === 'resources')
    return new WinterdockError('capacity', `The sandbox can begin no more processes (${name}).`, {
      hint: 'End some of those that run in it.',
      retryAfterSeconds: 1,
    });
  if (step === 'cwd')
    return new WinterdockError('not_found', `There is no folder ${cwd} to run a command in (${name}).`);
  if (errno === E2BIG)
    return new WinterdockError('too_large', 'The command has more arguments than a process may have.');
  const why = errno === ENOENT ? 'is not in this sandbox' : `cannot be run (${name})`;
  return new WinterdockError('not_found', `The program ${argv[0] ?? ''} ${why}.`);
}

function ended(cause: Error): WinterdockError {
  return new WinterdockError('conflict', 'The jail of the sandbox has ended.', { cause });
}
