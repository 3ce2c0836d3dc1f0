/**
 * Where requests of other hosts come in: each is proved, or refused and done with. What only its sender could say takes
 * the place of what the connection says, and its body ends only when it is proved. Knows no route.
 */
import { IncomingMessage, type ServerResponse } from 'node:http';
import { requestIdOf } from '../auth/header.ts';
import type { Logger } from '../base/log.ts';
import { type HopBody, provedBody } from '../hosts/hop/hop-body.ts';
import { HOP_CLOCK, HOP_HEADER } from '../hosts/hop/hop-headers.ts';
import type { Arrival, HopReceiver } from '../hosts/hop/hop-receiver.ts';
import { nodeBody, sendNode, wantsContinue } from '../http/node-adapter.ts';
import { misdirected } from '../http/pass-on.ts';
import { dropProxyHeaders } from './headers.ts';

/** A request that is to be answered, and who sent it on when that was another host. */
export interface AdmittedRequest {
  readonly req: IncomingMessage;
  readonly arrival: Arrival | null;
}

/** Whether a request says that it comes from another host. */
export function saysItHopped({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers[HOP_HEADER] !== undefined;
}

/**
 * Admits a request that says so; null: it has been refused, and answered. `receiver` is null where the registry has one
 * server.
 */
export function admitHop(
  receiver: HopReceiver | null,
  log: Logger,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
): AdmittedRequest | null {
  const { method = 'GET', url = '/', headers } = req;
  const requestId = requestIdOf(headers);
  const verdict = receiver?.receive(method, url, headers) ?? { refused: 'this server is no host among others' };
  if ('clock' in verdict) {
    const clock = { [HOP_CLOCK]: verdict.clock };
    sendNode(misdirected('stale', 'The request was sent at another time.', requestId, clock), requestId, req, res);
    return null;
  }
  if ('refused' in verdict) {
    log.warn(
      { why: verdict.refused, peer: req.socket.remoteAddress, requestId },
      'a request between hosts was refused',
    );
    const detail = 'Only another host of the registry may send this request.';
    sendNode(misdirected('refused', detail, requestId), requestId, req, res);
    return null;
  }
  const source = nodeBody(req, res);
  delete headers[HOP_HEADER];
  dropProxyHeaders(headers);
  Object.assign(headers, verdict.origin);
  const { proof } = verdict;
  if (proof.body === null && source.length === 0) return { req, arrival: verdict };
  if (proof.length === null) delete headers['content-length'];
  else {
    delete headers['transfer-encoding'];
    headers['content-length'] = String(proof.length);
  }
  return { req: withBodyOf(req, res, provedBody(source, proof)), arrival: verdict };
}

/** The same request with another body, which is read when somebody reads the request. */
export function withBodyOf(req: IncomingMessage, res: ServerResponse, body: HopBody): IncomingMessage {
  const { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor } = req;
  const again = new IncomingMessage(req.socket);
  Object.assign(again, { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor });
  again.on('error', () => undefined);
  let isBegun = false;
  let isOver = false;
  // A body that is not what it was stated to be ends, and its sender is told so; it is not cut off.
  again._destroy = (error, done) => {
    if (!isOver) req.destroy();
    done(error);
  };
  let goOn: (() => void) | null = null;
  again._read = () => {
    goOn?.();
    goOn = null;
    if (isBegun) return;
    isBegun = true;
    if (wantsContinue(req)) {
      res.writeContinue();
      delete headers.expect;
    }
    const take = (piece: Uint8Array) => {
      if (again.push(piece)) return;
      return new Promise<void>((resolve) => {
        goOn = resolve;
      });
    };
    body.read(take).then(
      () => {
        isOver = true;
        again.complete = true;
        again.push(null);
      },
      (error: Error) => {
        isOver = true;
        again.complete = true;
        again.destroy(error);
      },
    );
  };
  return again;
}
