/**
 * For tests: a network in front of a real server that loses requests, loses answers and breaks streams when told to.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What happens to the next request: `lose`: it never arrives; `mute`: it arrives, its answer is lost; `busy`: 503 with
 * a `Retry-After` of a second; `busy-mute`: 503 without one; `limited`: 429 with a `Retry-After` of a second; `cut`:
 * its answer breaks off after its first bytes.
 */
export type Mishap = 'lose' | 'mute' | 'busy' | 'busy-mute' | 'limited' | 'cut';

export interface BadNetwork {
  url: string;
  /** Mishaps of the coming requests, in order; then everything passes. */
  next: Mishap[];
  /** `METHOD path` of all requests that came, whatever became of them. */
  seen: string[];
  /** Headers of those requests. */
  headers: IncomingMessage['headers'][];
  /** Breaks every open connection. */
  cut(): void;
  close(): Promise<void>;
}

function refuse(res: ServerResponse, status: number, code: string, retryAfter: string | null): void {
  res.writeHead(status, {
    'content-type': 'application/problem+json',
    ...(retryAfter === null ? {} : { 'retry-after': retryAfter }),
  });
  res.end(
    JSON.stringify({ type: 'about:blank', title: code, status, code, detail: `It is ${code}.`, request_id: 'r' }),
  );
}

/** Starts one in front of the server at `target`. */
export async function badNetwork(target: string): Promise<BadNetwork> {
  const next: Mishap[] = [];
  const seen: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((req, res) => {
    seen.push(`${req.method} ${req.url}`);
    headers.push(req.headers);
    const mishap = next.shift();
    if (mishap === 'lose') return req.socket.destroy();
    if (mishap === 'busy') return refuse(res, 503, 'capacity', '1');
    if (mishap === 'busy-mute') return refuse(res, 503, 'capacity', null);
    if (mishap === 'limited') return refuse(res, 429, 'rate_limited', '1');
    const onward = request(
      new URL(req.url ?? '/', target),
      { method: req.method, headers: req.headers, agent: false },
      (answer) => {
        if (mishap === 'mute') {
          answer.resume().on('end', () => req.socket.destroy());
          return;
        }
        res.writeHead(answer.statusCode ?? 500, answer.headers);
        res.flushHeaders();
        answer.on('data', (chunk: Buffer) => {
          if (mishap !== 'cut') return res.write(chunk);
          res.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), () => req.socket.destroy());
        });
        answer.on('end', () => mishap !== 'cut' && res.end());
        answer.on('error', () => res.destroy());
      },
    );
    onward.on('error', () => req.socket.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next,
    seen,
    headers,
    cut: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
