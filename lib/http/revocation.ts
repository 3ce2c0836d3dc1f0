/**
 * Ends a request in progress when its caller's access ends (a key revoked, a session over, rights changed): reading the
 * body stops, the run is aborted, streams and downloads are cut. Knows nothing of routes.
 */
import type { AccessChange } from '../auth/access-watch.ts';
import type { Auth } from '../auth/auth.ts';
import type { Caller } from '../auth/caller.ts';
import { WinterdockError } from '../base/errors.ts';
import { type Answer, eventText, type StreamSink } from './answer.ts';
import type { BodySource } from './body.ts';
import { toProblem } from './problem.ts';

/** The error that a request ends with, which is also the reason of its aborted signal. */
const REVOCATION_ERROR: Readonly<Record<AccessChange, () => WinterdockError>> = {
  over: () => new WinterdockError('unauthorized', 'The key or the session of this request has ended.'),
  changed: () =>
    new WinterdockError('forbidden', 'Your rights have changed since this request was sent.', {
      hint: 'Send it again: it is answered with the rights that you have now.',
    }),
};

/**
 * A signal that aborts with the first of two signals of one request. `AbortSignal.any` is for signals that outlive it:
 * its weak references and their clean-up took a tenth of a call's time in the server.
 */
export function firstToAbort(one: AbortSignal, other: AbortSignal): AbortSignal {
  const either = new AbortController();
  for (const signal of [one, other]) {
    if (signal.aborted) either.abort(signal.reason);
    else signal.addEventListener('abort', () => either.abort(signal.reason), { once: true });
  }
  return either.signal;
}

/** Wraps a body so that reading it stops once `allowed` aborts. Throws the reason of `allowed`. */
export function stopBodyOnRevocation(source: BodySource, allowed: AbortSignal): BodySource {
  const require = () => {
    allowed.throwIfAborted();
  };
  return {
    length: source.length,
    ownsPieces: source.ownsPieces ?? false,
    async read(onChunk) {
      await source.read((chunk) => {
        require();
        return onChunk(chunk);
      });
      require();
    },
  };
}

/**
 * Answers a caller. The signal passed to `answerTo` aborts when the caller's key or session ends, or its rights change,
 * before the answer is complete. `gone` returns the signal that aborts when the client has disconnected. A stream that
 * is cut ends with an `error` event, which tells the client whether to connect again.
 */
export async function stopAnswerOnRevocation(
  auth: Pick<Auth, 'onAccessChange'>,
  { caller, gone }: { caller: Caller; gone: () => AbortSignal },
  answerTo: (allowed: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const over = new AbortController();
  const leave = auth.onAccessChange(caller, (ending) => over.abort(REVOCATION_ERROR[ending]()));
  let answer: Answer;
  try {
    answer = await answerTo(over.signal);
  } catch (error) {
    leave();
    throw error;
  }
  const { body } = answer;
  if (body !== undefined && 'stream' in body) {
    // A client that disconnects before the first byte never starts the stream.
    const left = gone();
    left.addEventListener('abort', leave, { once: true });
    if (left.aborted) leave();
    return { ...answer, body: { stream: (sink) => follow(body.stream, sink, { caller, over: over.signal, leave }) } };
  }
  if (body !== undefined && 'outgoing' in body) {
    const { stream } = body.outgoing;
    const cut = () => stream.destroy(over.signal.reason);
    over.signal.addEventListener('abort', cut, { once: true });
    stream.once('close', leave);
    if (over.signal.aborted) cut();
  } else leave();
  return answer;
}

function follow(
  stream: (sink: StreamSink) => void,
  sink: StreamSink,
  { caller, over, leave }: { caller: Caller; over: AbortSignal; leave: () => void },
): void {
  const bid = () => {
    sink.write(eventText('error', toProblem(over.reason, caller.requestId)));
    sink.end();
  };
  over.addEventListener('abort', bid, { once: true });
  sink.gone.addEventListener('abort', leave, { once: true });
  if (sink.gone.aborted) leave();
  if (over.aborted) bid();
  else stream(sink);
}
