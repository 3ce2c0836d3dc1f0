/** A call whose answer is a stream of events, sent as they happen. Knows nothing of what is called. */
import { type Answer, eventStream, eventText, type StreamSink } from './answer.ts';
import { toProblem } from './problem.ts';
import { firstToAbort } from './revocation.ts';
import type { RouteContext } from './route.ts';

/** How often a call that prints nothing sends a comment, so that no proxy takes its connection for dead. */
const BEAT_MS = 15_000;

/** Whether the caller asks for events. */
export function acceptsEvents({ header }: Pick<RouteContext, 'header'>): boolean {
  return /\btext\/event-stream\b/i.test(header('accept') ?? '');
}

/**
 * Runs a call and sends its events. The answer begins with the first event, so that what fails before (an unknown id, a
 * full machine) still has its own status. What fails later is the last event, `error`, with the problem. The signal
 * that `run` gets ends when the caller goes away.
 */
export function callAsStream(
  { signal, caller }: Pick<RouteContext, 'signal' | 'caller'>,
  run: (send: (event: string, data: unknown) => void, signal: AbortSignal) => Promise<void>,
): Promise<Answer> {
  const left = new AbortController();
  return new Promise((resolve, reject) => {
    const waiting: string[] = [];
    let sink: StreamSink | null = null;
    let begun = false;
    let over = false;
    let beat: NodeJS.Timeout | undefined;
    const send = (event: string, data: unknown) => {
      const text = eventText(event, data);
      if (sink === null) waiting.push(text);
      else sink.write(text);
      if (begun) return;
      begun = true;
      resolve(
        eventStream((opened) => {
          sink = opened;
          opened.gone.addEventListener('abort', () => left.abort(), { once: true });
          for (const early of waiting.splice(0)) opened.write(early);
          if (over) opened.end();
          else beat = setInterval(() => opened.write(': beat\n\n'), BEAT_MS);
        }),
      );
    };
    const finish = () => {
      over = true;
      clearInterval(beat);
      sink?.end();
    };
    run(send, firstToAbort(signal, left.signal))
      .then(finish)
      .catch((error: unknown) => {
        if (!begun) return reject(error);
        send('error', toProblem(error, caller.requestId));
        finish();
      });
  });
}
