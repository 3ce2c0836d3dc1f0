/** Pages of a sandbox, and what they send, are answered by the host that has it. Knows of pages only whose they are. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestIdOf } from '../auth/header.ts';
import { type InstanceId, isInstanceId } from '../base/ids.ts';
import type { Arrival } from '../hosts/hop/hop-receiver.ts';
import type { Dispatcher } from '../http/dispatch.ts';
import { nodeBody, sendNode } from '../http/node-adapter.ts';
import type { PassOn } from '../http/pass-on.ts';
import { type AdmittedRequest, withBodyOf } from './hop-border.ts';

/** The sandbox that a page shows; null: it shows no one sandbox. */
function sandboxOf(target: string): InstanceId | null {
  const id = /^\/sandboxes\/([^/?#]+)/.exec(target)?.[1];
  return id !== undefined && isInstanceId(id) ? id : null;
}

/**
 * Has a request for a page answered by the host that has its sandbox. Null: it has been answered; otherwise it is this
 * host's, and the request to go on with is returned. Rejects as `PassOn.pass` does.
 */
export async function passPage(
  passOn: PassOn,
  { req, arrival }: AdmittedRequest,
  { res, dispatcher }: { res: ServerResponse; dispatcher: Pick<Dispatcher, 'problem'> },
): Promise<IncomingMessage | null> {
  const id = sandboxOf(req.url ?? '/');
  if (id === null) return req;
  const requestId = requestIdOf(req.headers);
  const incoming = incomingOf(req, res, arrival);
  const passed = await passOn.pass(id, { incoming, requestId, caller: null });
  if ('answer' in passed) {
    sendNode(passed.answer, requestId, req, res, (error) => dispatcher.problem(error, requestId));
    return null;
  }
  return passed.body === incoming.body ? req : withBodyOf(req, res, passed.body);
}

function incomingOf(req: IncomingMessage, res: ServerResponse, arrival: Arrival | null) {
  const gone = new AbortController();
  res.once('close', () => res.writableFinished || gone.abort());
  if (res.destroyed) gone.abort();
  const { method = 'GET', url: target = '/', headers } = req;
  const peer = req.socket.remoteAddress ?? null;
  return { method, target, headers, peer, arrival, body: nodeBody(req, res), signal: () => gone.signal };
}
