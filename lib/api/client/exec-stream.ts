/** A script's output while it runs. Safe for the browser. */
import type { z } from 'zod';
import type { execAnswerSchema, execSchema, Instance, Problem } from '../schema.ts';
import type { CallLine, CallOptions } from './call.ts';
import { ApiError, networkError, problemError } from './error.ts';
import { serverSent } from './server-sent.ts';
import type { Transport } from './transport.ts';

type Exit = Omit<z.output<typeof execAnswerSchema>, 'stdout' | 'stderr'>;

/** What a script tells while it runs: first how it woke the sandbox, then what it writes, last how it ended. */
export type ExecEvent =
  | { event: 'woke'; woke: Exit['woke']; from: Instance['state'] | null; took_ms: number }
  | { event: 'stdout'; text: string }
  | { event: 'stderr'; text: string }
  | ({ event: 'exit' } & Exit);

/**
 * Runs a script and yields what it tells as it comes; the last event is `exit`. Leaving the loop, or aborting the signal, closes the
 * connection, which stops the script. A lost connection is `network`, never an early end; it is never tried again.
 */
export async function* execStream(
  transport: Transport,
  line: CallLine,
  id: string,
  input: z.input<typeof execSchema>,
  options: CallOptions,
): AsyncGenerator<ExecEvent, void, void> {
  const { signal } = options;
  const response = await transport.send({ line, parameters: [id], body: input, accept: 'text/event-stream', options });
  try {
    for await (const { event, data } of serverSent(response.body ?? new Blob([]).stream())) {
      const value: unknown = JSON.parse(data);
      if (event === 'error') throw problemError(value as Problem);
      yield { event, ...(value as object) } as ExecEvent;
      if (event === 'exit') return;
    }
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw error instanceof ApiError ? error : networkError(transport.url, error);
  }
  throw new ApiError('network', 'The connection ended before the command did.', {
    hint: 'What ran until then is kept. Look at the files before running it again.',
  });
}
