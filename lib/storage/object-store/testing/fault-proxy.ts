/**
 * Stands before any server that speaks S3 and does to its requests and answers, by a seed, what networks and stores
 * do: cuts, errors, lost answers, lies. For tests.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** Before anything reaches the server. */
const BEFORE = ['reset', 'error500', 'error503', 'slowDown', 'wait', 'cutRequest'] as const;
/** After the server has done what was asked. */
const AFTER = ['lostAnswer', 'cutAnswer', 'longLength', 'trickle'] as const;
/** Lies about one kind of request. */
const LIES = ['shortLength', 'otherByte', 'otherObject', 'forgotten', 'unstored', 'staleList'] as const;
export type Fault = (typeof BEFORE)[number] | (typeof AFTER)[number] | (typeof LIES)[number];
export const FAULTS: readonly Fault[] = [...BEFORE, ...AFTER, ...LIES];

export interface FaultProxy {
  /** Its origin. */
  endpoint: string;
  /** Faults of each kind so far. */
  counts: Map<Fault, number>;
  /** How many of a hundred requests have a fault, from now on; `kinds`: of which kinds. */
  disturb(percent: number, kinds?: readonly Fault[]): void;
  /** Answers everything that would write so, from now on; null: as before. */
  refuseWrites(refusal: { status: number; code: string } | null): void;
  /** Takes no connection until `accept`. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  stop(): Promise<void>;
}

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

const error = (status: number, code: string): Answer => {
  const body = Buffer.from(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
  return { status, headers: { 'content-type': 'application/xml', 'content-length': String(body.length) }, body };
};
const sized = ({ status, headers, body }: Answer): Answer => ({
  ...{ status, body },
  headers: { ...headers, 'content-length': String(body.length) },
});

/** `draw`: a number from 0 up to 1, the next one at each call. */
export async function startFaultProxy(target: string, draw: () => number): Promise<FaultProxy> {
  const upstream = new URL(target);
  const counts = new Map<Fault, number>();
  /** Answers that were given before: of objects, and of lists. */
  const objects = new Map<string, Answer>();
  const lists = new Map<string, Answer>();
  let percent = 0;
  let refusal: { status: number; code: string } | null = null;
  let kinds = FAULTS;

  const server = createServer((incoming, outgoing) => {
    // Whatever breaks on either side: the client sees a broken connection.
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.keepAliveTimeout = 60_000;
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    incoming.on('error', () => undefined);
    outgoing.on('error', () => undefined);
    const isWrite = incoming.method === 'PUT' || incoming.method === 'POST';
    if (refusal !== null && isWrite) return drained(incoming, outgoing, error(refusal.status, refusal.code));
    const fault = faultFor(incoming);
    if (fault !== null) counts.set(fault, (counts.get(fault) ?? 0) + 1);
    const path = incoming.url ?? '';
    switch (fault) {
      case 'reset':
        return void outgoing.destroy();
      case 'error500':
        return drained(incoming, outgoing, error(500, 'InternalError'));
      case 'error503':
        return drained(incoming, outgoing, error(503, 'ServiceUnavailable'));
      case 'slowDown':
        return drained(incoming, outgoing, error(503, 'SlowDown'));
      case 'forgotten':
        return drained(incoming, outgoing, error(404, 'NoSuchKey'));
      case 'wait':
        await setTimeout(300);
        break;
      case 'unstored': {
        const hash = createHash('md5');
        for await (const piece of incoming) hash.update(piece as Buffer);
        return tell(outgoing, sized({ status: 200, headers: { etag: `"${hash.digest('hex')}"` }, body: Buffer.of() }));
      }
      case 'staleList': {
        const empty = Buffer.from(
          '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>',
        );
        const old = lists.get(path) ?? { status: 200, headers: { 'content-type': 'application/xml' }, body: empty };
        return drained(incoming, outgoing, sized(old));
      }
      default:
    }
    const answer = await forwarded(incoming, fault === 'cutRequest');
    if (answer === null) return void outgoing.destroy();
    if (incoming.method === 'GET' && path.includes('list-type=2') && !lists.has(path)) lists.set(path, answer);
    const isObject =
      incoming.method === 'GET' && isPlain(path) && answer.status === 200 && answer.body.length < 100_000;
    const other = [...objects].filter(([one]) => one !== path).at(-1)?.[1];
    if (isObject) objects.set(path, answer);
    if (objects.size > 20) objects.delete(objects.keys().next().value ?? '');
    switch (fault) {
      case 'lostAnswer':
        return void outgoing.destroy();
      case 'cutAnswer':
        outgoing.writeHead(answer.status, answer.headers);
        outgoing.write(answer.body.subarray(0, Math.floor(answer.body.length / 2)));
        await setTimeout(5);
        return void outgoing.destroy();
      case 'longLength':
        outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': String(answer.body.length + 7) });
        outgoing.write(answer.body);
        await setTimeout(5);
        return void outgoing.destroy();
      case 'trickle':
        outgoing.writeHead(answer.status, answer.headers);
        for (let at = 0; at < Math.min(answer.body.length, 20); at += 1) {
          outgoing.write(answer.body.subarray(at, at + 1));
          await setTimeout(10);
        }
        return void outgoing.end(answer.body.subarray(20));
      case 'shortLength':
        return tell(outgoing, sized({ ...answer, body: answer.body.subarray(0, Math.max(0, answer.body.length - 9)) }));
      case 'otherByte': {
        const body = Buffer.from(answer.body);
        if (body.length > 0) body[Math.floor(body.length / 2)] = (body[Math.floor(body.length / 2)] ?? 0) ^ 1;
        return tell(outgoing, { ...answer, body });
      }
      case 'otherObject':
        return tell(outgoing, other ?? answer);
      default:
        return tell(outgoing, answer, incoming.method === 'HEAD');
    }
  }

  /** The fault of a request, or none; one that does not fit the request is none. */
  function faultFor({ method, url = '', headers }: IncomingMessage): Fault | null {
    if (draw() * 100 >= percent) return null;
    const fault = kinds[Math.floor(draw() * kinds.length)] ?? 'reset';
    const isRead = method === 'GET' && isPlain(url) && headers.range === undefined;
    const isWrite = method === 'PUT' && isPlain(url) && headers['x-amz-copy-source'] === undefined;
    if (['shortLength', 'otherByte', 'otherObject'].includes(fault)) return isRead ? fault : null;
    if (fault === 'forgotten') return isRead || (method === 'HEAD' && isPlain(url)) ? fault : null;
    if (fault === 'unstored') return isWrite ? fault : null;
    if (fault === 'staleList') return method === 'GET' && url.includes('list-type=2') ? fault : null;
    if (fault === 'cutRequest') return method === 'PUT' ? fault : null;
    return fault;
  }

  async function forwarded(incoming: IncomingMessage, isCut: boolean): Promise<Answer | null> {
    const { method, headers, url: path } = incoming;
    const outgoing = request({ host: upstream.hostname, port: upstream.port, method, path, headers }).setMaxListeners(
      0,
    );
    outgoing.on('error', () => undefined);
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    answered.catch(() => undefined);
    const whole = Number(headers['content-length'] ?? 0);
    let sent = 0;
    for await (const piece of incoming) {
      sent += (piece as Buffer).length;
      if (isCut && sent > whole / 2) {
        outgoing.destroy();
        return null;
      }
      if (!outgoing.write(piece)) await Promise.race([once(outgoing, 'drain'), once(outgoing, 'close')]);
    }
    outgoing.end();
    const [response] = await answered;
    const pieces: Buffer[] = [];
    for await (const piece of response) pieces.push(piece as Buffer);
    const { connection: _, 'transfer-encoding': __, ...kept } = response.headers;
    const body = Buffer.concat(pieces);
    const length = method === 'HEAD' || response.statusCode === 204 ? {} : { 'content-length': String(body.length) };
    return { status: response.statusCode ?? 502, headers: { ...kept, ...length }, body };
  }

  return {
    endpoint: `http://127.0.0.1:${port}`,
    counts,
    disturb(next, only = FAULTS) {
      percent = next;
      kinds = only;
    },
    refuseWrites(next) {
      refusal = next;
    },
    async refuse() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
    accept: () => listen(port),
    async stop() {
      server.closeAllConnections();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

/** Whether it is a request for an object itself: its path has no parameters but the SDK's own. */
function isPlain(path: string): boolean {
  const [name = '', query = ''] = path.split('?');
  return name.split('/').length > 2 && (query === '' || /^x-id=\w+$/.test(query));
}

async function drained(incoming: IncomingMessage, outgoing: ServerResponse, answer: Answer): Promise<void> {
  incoming.resume();
  if (!incoming.complete) await once(incoming, 'end');
  tell(outgoing, answer, incoming.method === 'HEAD');
}

function tell(outgoing: ServerResponse, { status, headers, body }: Answer, isHead = false): void {
  outgoing.writeHead(status, headers);
  outgoing.end(isHead ? undefined : body);
}
