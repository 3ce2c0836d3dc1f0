/** Runs a command through the API and reports its output as it comes. Talks to the API only. */
import type { EvalAnswer, Problem } from '#lib/contract/schema.ts';
import { isBinary, outputText } from './output-text.ts';
import type { Language, RunEnd, WakeResult } from './words.ts';

export interface RunListener {
  onWoke(woke: WakeResult): void;
  /** The next piece is read once this promise resolves. */
  onOutput(stream: 'stdout' | 'stderr', text: string): Promise<void>;
}

export type RunOutcome =
  | { exit: RunEnd & { cwd: string } }
  | { evaluated: EvalAnswer; binary: boolean }
  | { problem: Pick<Problem, 'detail' | 'hint'> }
  | 'stopped';

const LOST: RunOutcome = {
  problem: {
    detail: 'The connection ended before the command did.',
    hint: 'What ran until then is kept. Look at the files before running it again.',
  },
};

const END = '\n\n';

/** The blocks of an event stream, as they arrive. */
async function* blocksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let waiting = '';
  let looked = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    waiting += value;
    for (;;) {
      const end = waiting.indexOf(END, looked);
      if (end < 0) break;
      yield waiting.slice(0, end);
      waiting = waiting.slice(end + END.length);
      looked = 0;
    }
    // A large block arrives in many pieces; each piece is searched once.
    looked = Math.max(0, waiting.length - 1);
  }
}

async function dispatch(block: string, listener: RunListener, seen: { binary: boolean }): Promise<RunOutcome | null> {
  let name = '';
  let data = '';
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7);
    else if (line.startsWith('data: ')) data += line.slice(6);
  }
  if (data === '') return null;
  const value = JSON.parse(data);
  if (name === 'woke') listener.onWoke(value);
  else if (name === 'stdout' || name === 'stderr') {
    seen.binary ||= value.encoding !== undefined;
    await listener.onOutput(name, outputText(value.text, value.encoding));
  } else if (name === 'exit') return { exit: { ...value, binary: seen.binary } };
  else if (name === 'error') return { problem: value };
  return null;
}

function post(
  id: string,
  call: 'exec' | 'eval',
  body: unknown,
  accept: string,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(`/api/instances/${encodeURIComponent(id)}/${call}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify(body),
    signal,
  });
}

async function runScript(
  id: string,
  command: string,
  cwd: string,
  listener: RunListener,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const answer = await post(id, 'exec', { command, cwd }, 'text/event-stream', signal);
  if (!answer.ok || answer.body === null) return { problem: (await answer.json()) as Problem };
  const seen = { binary: false };
  for await (const block of blocksOf(answer.body)) {
    const end = await dispatch(block, listener, seen);
    if (end !== null) return end;
  }
  return LOST;
}

async function evaluate(
  id: string,
  language: Exclude<Language, 'shell'>,
  code: string,
  listener: RunListener,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const answer = await post(id, 'eval', { language, code }, 'application/json', signal);
  if (!answer.ok) return { problem: (await answer.json()) as Problem };
  const evaluated = (await answer.json()) as EvalAnswer;
  await listener.onOutput('stdout', outputText(evaluated.stdout, evaluated.stdout_encoding));
  await listener.onOutput('stderr', outputText(evaluated.stderr, evaluated.stderr_encoding));
  return { evaluated, binary: isBinary(evaluated) };
}

/**
 * Runs `text` in sandbox `id`: a script in `cwd`, or code of a language. Resolves with how it ended, also when it could
 * not start; never rejects. Aborting `signal` closes the connection, which stops the run on the server.
 */
export async function runTyped(
  id: string,
  typed: { language: Language; text: string; cwd: string },
  listener: RunListener,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { language, text, cwd } = typed;
  try {
    return language === 'shell'
      ? await runScript(id, text, cwd, listener, signal)
      : await evaluate(id, language, text, listener, signal);
  } catch {
    // A network failure and a stop by the visitor look the same here, and mean the same: no end arrived.
    return signal.aborted ? 'stopped' : LOST;
  }
}
