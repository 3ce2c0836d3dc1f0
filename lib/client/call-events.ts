/** The events of a call that is followed while it runs. Safe for the browser. */
import type { CallLine, CallOptions } from './call.ts';
import { ApiError, networkError, problemError } from './error.ts';
import { serverSent } from './server-sent.ts';
import type { Transport } from './transport.ts';
import type { Problem } from './types.ts';

interface StreamedCall {
  line: CallLine;
  parameters: string[];
  body: unknown;
  options: CallOptions;
}

/**
 * Sends a call and yields its events as they come; `last` is the name of the last one. Leaving the loop, or aborting
 * the signal, closes the connection, which stops the call. A lost connection is `network`, never an early end; it is
 * never retried.
 */
export async function* callEvents(
  transport: Transport,
  { line, parameters, body, options }: StreamedCall,
  last: string,
): AsyncGenerator<{ event: string; value: unknown }, void, void> {
  const { signal } = options;
  const response = await transport.send({ line, parameters, body, accept: 'text/event-stream', options });
  try {
    for await (const { event, data } of serverSent(response.body ?? new Blob([]).stream())) {
      const value: unknown = JSON.parse(data);
      if (event === 'error') throw problemError(value as Problem);
      yield { event, value };
      if (event === last) return;
    }
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw error instanceof ApiError ? error : networkError(transport.url, error);
  }
  throw new ApiError('network', 'The connection ended before the command did.', {
    hint: 'What ran until then is kept. Look at the files before running it again.',
  });
}
