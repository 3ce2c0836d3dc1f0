/** Tools that run commands in a sandbox: to their end, or in the background. */
import { z } from 'zod';
import { execSchema, type SandboxRun, startRunSchema } from '../../contract/schema.ts';
import type { OutputPiece } from '../../operations/call-output.ts';
import type { RunOutputReader } from '../../operations/runs.ts';
import { sandboxId } from './sandbox-tools.ts';
import { cutInMiddle, type McpTool, mcpTool, READ_HINTS, SHOWN_TEXT } from './tool.ts';

/** The longest that a call waits for a run, in seconds: hosts give up on a call after a minute. */
const MAX_WAIT_SECONDS = 50;
const LINE = 200;

const { cwd, env, stdin } = execSchema.shape;
const script = {
  command: execSchema.shape.command.min(1).describe('A bash script, of one line or many.'),
  cwd: cwd.describe('The folder to begin in. Default: /workspace.'),
  env: env.describe('Variables for this script alone, by name.'),
  stdin: stdin.describe('Text for its stdin.'),
};
const run = z.string().min(1).max(100).describe('The id of the run.');

/** The last line of a piece of output, for people who wait. */
function lastLine({ text, encoding }: OutputPiece): string | null {
  if (encoding !== undefined) return null;
  return text.trimEnd().split('\n').at(-1)?.trim().slice(0, LINE) || null;
}

/** One stream of output, cutInMiddle. Bytes that are no text come in base64, and their encoding says so. */
function stream(name: 'stdout' | 'stderr', text: string, encoding: 'base64' | undefined) {
  const { text: shown, cut } = cutInMiddle(text);
  return {
    shown,
    facts: {
      ...(encoding === undefined ? {} : { [`${name}_encoding`]: encoding }),
      ...(cut === 0 ? {} : { [`${name}_characters_cut`]: cut }),
    },
  };
}

/** What a model needs to know of a run. */
function runFacts({ id, instance, state, exit_code, timed_out, reason, took_ms, output_bytes }: SandboxRun) {
  return { run: id, id: instance, state, exit_code, timed_out, reason, took_ms, output_bytes };
}

/** Waits until there is output after `offset`, the run has ended, or the time is over. */
async function awaitOutput(reader: RunOutputReader, offset: number, seconds: number, left: AbortSignal): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  const timer = setTimeout(end, seconds * 1000);
  left.addEventListener('abort', end, { once: true });
  if (left.aborted) end();
  try {
    for (;;) {
      const { ended, output_bytes: bytes } = reader.run();
      if (over.signal.aborted || ended !== null || bytes > offset) return;
      await reader.changed(over.signal);
    }
  } finally {
    clearTimeout(timer);
    left.removeEventListener('abort', end);
  }
}

export const callTools: readonly McpTool[] = [
  mcpTool({
    name: 'winterdock_exec',
    title: 'Run a command',
    description:
      'Runs a shell script in a sandbox and answers when it has ended, with its exit code, stdout and stderr. Wakes a sleeping sandbox. It has bash with the usual small tools, python3, js (not node), sqlite3 and git; with the policy network also curl, pip and npm. No other program can be installed or run: no apt, no compilers. Variables and the folder do not last to the next call, files do. Long output is cut in its middle: write it to a file and read that. For what takes more than a minute use winterdock_start_run.',
    input: z.strictObject({
      id: sandboxId,
      ...script,
      timeout_ms: execSchema.shape.timeout_ms.describe(
        'Milliseconds after which it is ended, with exit code 124. Default: 60 000, with small policies 5 000. More than this sandbox allows is refused.',
      ),
    }),
    operation: 'exec',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    async run({ operations, caller, signal, progress }, { id, ...input }) {
      const answer = await operations.exec(caller, id, input, {
        signal,
        onWoke: ({ woke }) => progress(woke === 'hot' ? 'The command is running' : 'The sandbox is awake'),
        onOutput: (piece) => {
          const line = lastLine(piece);
          if (line !== null) progress(line);
        },
      });
      const stdout = stream('stdout', answer.stdout, answer.stdout_encoding);
      const stderr = stream('stderr', answer.stderr, answer.stderr_encoding);
      return {
        facts: {
          exit_code: answer.exit_code,
          ...(answer.timed_out ? { timed_out: true } : {}),
          ...(answer.truncated ? { truncated_by_the_sandbox: true } : {}),
          took_ms: answer.took_ms,
          cwd: answer.cwd,
          ...stdout.facts,
          ...stderr.facts,
          texts: ['stdout', 'stderr'],
        },
        texts: [stdout.shown, stderr.shown],
      };
    },
  }),
  mcpTool({
    name: 'winterdock_start_run',
    title: 'Start a background run',
    description:
      'Begins a shell script that goes on after this call: a build, a long test, a script that waits. Nothing outside can connect to it. Answers at once with its `run`; read it with winterdock_run_output, end it with winterdock_stop_run.',
    input: z.strictObject({
      id: sandboxId,
      ...script,
      timeout_ms: startRunSchema.shape.timeout_ms.describe(
        'Milliseconds after which it is ended. Default: 60 000, with small policies 5 000. The server sets the most.',
      ),
    }),
    operation: 'startRun',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    run: async ({ operations, caller }, { id, ...input }) => ({
      facts: runFacts(await operations.startRun(caller, id, input)),
    }),
  }),
  mcpTool({
    name: 'winterdock_run_output',
    title: 'Read the output of a run',
    description:
      'Reads what a background run has written, and whether it has ended. Give `next` of one answer as the `offset` of the following call. With `wait_seconds` it waits for more output or for the end.',
    input: z.strictObject({
      id: sandboxId,
      run,
      offset: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0).describe('The byte to begin with.'),
      wait_seconds: z
        .int()
        .min(0)
        .max(MAX_WAIT_SECONDS)
        .default(0)
        .describe('How long to wait for more; 0 answers at once.'),
    }),
    operation: 'runOutput',
    hints: READ_HINTS,
    async run({ operations, caller, signal }, { id, run: named, offset, wait_seconds }) {
      const reader = await operations.runOutput(caller, id, named);
      await awaitOutput(reader, offset, wait_seconds, signal);
      const { pieces, next, dropped } = reader.read(offset, SHOWN_TEXT);
      const text = (wanted: 'stdout' | 'stderr') =>
        pieces
          .filter((piece) => piece.stream === wanted)
          .map((piece) => (piece.encoding === undefined ? piece.text : `[base64: ${piece.text}]`))
          .join('');
      const stdout = stream('stdout', text('stdout'), undefined);
      const stderr = stream('stderr', text('stderr'), undefined);
      return {
        facts: {
          ...runFacts(reader.run()),
          next,
          ...(dropped === 0 ? {} : { dropped_bytes: dropped }),
          ...stdout.facts,
          ...stderr.facts,
          texts: ['stdout', 'stderr'],
        },
        texts: [stdout.shown, stderr.shown],
      };
    },
  }),
  mcpTool({
    name: 'winterdock_stop_run',
    title: 'Stop a run',
    description: 'Stops a background run. What it wrote until then stays. One that has ended stays as it is.',
    input: z.strictObject({ id: sandboxId, run }),
    operation: 'stopRun',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run: async ({ operations, caller }, { id, run: named }) => ({
      facts: runFacts(await operations.stopRun(caller, id, named)),
    }),
  }),
];
