/** HTTP clients and a stopwatch for the benchmarks. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Asks and throws unless the status is one of `expected`. `url` absolute; a string body is sent as JSON. */
export type Ask = (
  method: string,
  url: string,
  key: string,
  body?: string | Buffer,
  expected?: number[],
) => Promise<Answer>;

/** A client with one kept-alive connection to each server; what it is asked at the same time waits its turn. */
export function createAsk(): Ask {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = (method: string, url: string, key: string, body?: string | Buffer): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        url,
        {
          method,
          agent,
          headers: {
            authorization: `Bearer ${key}`,
            ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
            ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
          },
        },
        (incoming) => {
          const { statusCode = 0, headers } = incoming;
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('end', () => resolve({ status: statusCode, headers, body: Buffer.concat(chunks) }));
          incoming.on('error', reject);
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  return async (method, url, key, body, expected = [200, 201, 204]) => {
    const answer = await call(method, url, key, body);
    if (!expected.includes(answer.status))
      throw new Error(`${method} ${url}: ${answer.status} ${answer.body.toString().slice(0, 500)}`);
    return answer;
  };
}

/** The client of everything that asks one thing after the other. */
export const must: Ask = createAsk();

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
