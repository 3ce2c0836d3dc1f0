/** Runs a command through the API and reports what it says while it runs. Talks to the API only. */
import type { ExecAnswer, Problem } from '#lib/api/schema.ts';

export interface ExecListener {
  onWoke(woke: { woke: string; took_ms: number }): void;
  onOutput(stream: 'stdout' | 'stderr', text: string): void;
}

export type ExecEnd = { exit: Omit<ExecAnswer, 'stdout' | 'stderr'> } | { problem: Pick<Problem, 'detail' | 'hint'> };

const LOST: ExecEnd = {
  problem: {
    detail: 'The connection ended before the command did.',
    hint: 'What ran until then is kept. Look at the files before running it again.',
  },
};

function dispatch(block: string, listener: ExecListener): ExecEnd | null {
  let name = '';
  let data = '';
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7);
    else if (line.startsWith('data: ')) data += line.slice(6);
  }
  if (data === '') return null;
  const value = JSON.parse(data);
  if (name === 'woke') listener.onWoke(value);
  else if (name === 'stdout' || name === 'stderr') listener.onOutput(name, value.text);
  else if (name === 'exit') return { exit: value };
  else if (name === 'error') return { problem: value };
  return null;
}

/** Runs `command` in `cwd` of sandbox `id`. Resolves with how it ended, also when it could not run; never rejects. */
export async function runCommand(
  id: string,
  command: string,
  cwd: string,
  listener: ExecListener,
  signal: AbortSignal,
): Promise<ExecEnd> {
  try {
    const answer = await fetch(`/api/instances/${encodeURIComponent(id)}/exec`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ command, cwd }),
      signal,
    });
    if (!answer.ok || answer.body === null) return { problem: (await answer.json()) as Problem };
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return LOST;
      buffer += value;
      for (let cut = buffer.indexOf('\n\n'); cut >= 0; cut = buffer.indexOf('\n\n')) {
        const end = dispatch(buffer.slice(0, cut), listener);
        buffer = buffer.slice(cut + 2);
        if (end !== null) return end;
      }
    }
  } catch {
    // Network failures and a stop by the visitor look alike from here, and mean the same: no end was heard.
    return signal.aborted ? { problem: { detail: 'Stopped.' } } : LOST;
  }
}
