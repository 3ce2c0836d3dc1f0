/** Samples, percentiles and one keep-alive HTTP client for the benchmarks. */
import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

interface Answer {
  status: number;
  body: Buffer;
}

/** One HTTP round trip over a kept-alive connection. `url` absolute; a string body is sent as JSON. */
function call(method: string, url: string, key: string, body?: string | Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
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
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks) }));
        incoming.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Like `call`, but throws unless the status is one of `expected`. */
export async function must(
  method: string,
  url: string,
  key: string,
  body?: string | Buffer,
  expected = [200, 201, 204],
): Promise<Answer> {
  const answer = await call(method, url, key, body);
  if (!expected.includes(answer.status))
    throw new Error(`${method} ${url}: ${answer.status} ${answer.body.toString().slice(0, 500)}`);
  return answer;
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

export interface Figures {
  samples: number;
  p50: number;
  p99: number;
}

/** Nearest-rank percentiles of samples in milliseconds. */
export function figures(samples: number[]): Figures {
  const sorted = [...samples].sort((a, b) => a - b);
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { samples: sorted.length, p50: rank(0.5), p99: rank(0.99) };
}

/**
 * Runs the contenders in turn, `rounds` times, after one warm-up round, so that a noisy machine is noisy for all of
 * them.
 */
export async function alternate<K extends string>(
  rounds: number,
  contenders: Record<K, () => Promise<number>>,
): Promise<Record<K, Figures>> {
  const names = Object.keys(contenders) as K[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let round = -1; round < rounds; round += 1) {
    for (const name of names) {
      const took = await contenders[name]();
      if (round >= 0) samples[name].push(took);
    }
  }
  return Object.fromEntries(names.map((name) => [name, figures(samples[name])])) as Record<K, Figures>;
}
