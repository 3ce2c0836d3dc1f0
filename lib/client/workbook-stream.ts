/** A component or workflow while it runs. Safe for the browser. */
import type { CallLine, CallOptions } from './call.ts';
import { callEvents } from './call-events.ts';
import type { Transport } from './transport.ts';
import type { ComponentCallAnswer, Instance, WorkflowCallAnswer } from './types.ts';

/** First how the sandbox woke, then what its components do and log, last the whole answer. */
export type WorkbookEvent<Answer> =
  | { event: 'woke'; woke: ComponentCallAnswer['woke']; from: Instance['state'] | null; took_ms: number }
  | { event: 'running'; path: string }
  | ({ event: 'log' } & ComponentCallAnswer['logs'][number])
  | ({ event: 'component' } & WorkflowCallAnswer['components'][number])
  | ({ event: 'result' } & Answer);

/** Calls and yields the events as they come. Leaving the loop, or aborting the signal, stops the call. */
export async function* workbookStream<Answer>(
  transport: Transport,
  line: CallLine,
  parameters: string[],
  body: unknown,
  options: CallOptions,
): AsyncGenerator<WorkbookEvent<Answer>, void, void> {
  for await (const { event, value } of callEvents(transport, { line, parameters, body, options }, 'result')) {
    yield { event, ...(value as object) } as WorkbookEvent<Answer>;
  }
}
