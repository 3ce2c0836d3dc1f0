/** A background run as the AI SDK's process: two streams of bytes, its end, and a way to stop it. */

import type { BackgroundRun } from '../sandbox/runs.ts';
import type { Sandbox } from '../sandbox.ts';
import type { AiProcessOptions, AiSandboxProcess } from './ai-sdk-types.ts';
import { dropRemark, wholeCwd } from './commands.ts';

/** As the server says that a script was stopped, where the end of a run has no code. */
const STOPPED = 130;

interface Output {
  stream: ReadableStream<Uint8Array>;
  add(bytes: Uint8Array): void;
  /** Ends it; with a reason as an error. */
  end(reason?: unknown): void;
}

/** A stream that is fed from outside. Unread text is kept, so that an unread output does not block the other one. */
function output(): Output {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    cancel() {
      controller = undefined;
    },
  });
  return {
    stream,
    add: (bytes) => controller?.enqueue(bytes),
    end(reason) {
      if (reason === undefined) controller?.close();
      else controller?.error(reason);
      controller = undefined;
    },
  };
}

/** Starts a script that runs beside the commands of the sandbox. */
export async function spawnRun(box: Sandbox, options: AiProcessOptions): Promise<AiSandboxProcess> {
  const { command, workingDirectory, env, abortSignal } = options;
  abortSignal?.throwIfAborted();
  // Not with the signal: an aborted start would leave a run that nobody can stop.
  const run = await box.runs.start(command, { cwd: wholeCwd(workingDirectory), env });
  if (abortSignal?.aborted) {
    await run.stop();
    throw abortSignal.reason;
  }
  return followProcess(run, abortSignal);
}

function followProcess(run: BackgroundRun, signal: AbortSignal | undefined): AiSandboxProcess {
  const stdout = output();
  const stderr = output();
  const stop = () => {
    // An end that came first is no error; a lost server is told by the following below.
    run.stop().catch(() => undefined);
  };
  signal?.addEventListener('abort', stop, { once: true });
  const follow = async (): Promise<{ exitCode: number }> => {
    let exitCode = STOPPED;
    for await (const event of run.follow()) {
      if (event.event === 'stdout') stdout.add(event.bytes);
      else if (event.event === 'stderr') stderr.add(event.bytes);
      else if (event.event === 'gap') stderr.add(new TextEncoder().encode(dropRemark(event.dropped)));
      else if (event.event === 'exit') exitCode = event.run.exit_code ?? STOPPED;
    }
    signal?.throwIfAborted();
    return { exitCode };
  };
  const ended = follow();
  ended
    .then(
      () => [stdout, stderr].map((stream) => stream.end()),
      (reason: unknown) => [stdout, stderr].map((stream) => stream.end(reason)),
    )
    .finally(() => signal?.removeEventListener('abort', stop))
    .catch(() => undefined);
  return {
    stdout: stdout.stream,
    stderr: stderr.stream,
    wait: () => ended,
    async kill() {
      await run.stop();
    },
  };
}
