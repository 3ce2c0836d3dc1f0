/** For tests: the dispatcher with a small table of its own behind a real HTTP server, without an engine. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import { WinterdockError } from '../base/errors.ts';
import { deserializeError, type SerializedError } from '../base/serialized-error.ts';
import { admitHop, saysItHopped } from '../front/hop-border.ts';
import type { HopReceiver } from '../hosts/hop/hop-receiver.ts';
import { attachment, empty, eventStream, eventText, json, type StreamSink } from '../http/answer.ts';
import { createDispatcher, type Dispatcher } from '../http/dispatch.ts';
import { answerNode } from '../http/node-adapter.ts';
import type { PassOn } from '../http/pass-on.ts';
import { customRoute, type Services } from '../http/route.ts';
import { type Call, caller } from './call.ts';

export const MIB = 1024 * 1024;
/** Limits of the small server: bytes of a JSON body and of a file. */
export const LIMITS = { maxBodyBytes: 2 * MIB, maxFileBytes: MIB, maxSandboxBytes: 256 * MIB };
export const SMALL_KEY = 'the-right-key-of-this-test';

export interface SmallServer {
  dispatcher: Dispatcher;
  port: number;
  /** Connections that were made to it. */
  connections(): number;
  call: Call;
  /** What the handlers saw, and `lie`: what a process says of its failure. */
  seen: {
    signal?: AbortSignal;
    sink?: StreamSink;
    sizes: number[];
    lie?: SerializedError;
    download?: Readable;
    looks?: number;
    /** Of whoever another host vouches for. */
    rights?: Pick<Caller, 'role' | 'tenants'>;
  };
  /** The lines of its log. */
  logged: { requestId?: string; msg: string; why?: string }[];
  stop(): void;
}

/**
 * Starts it on a free port. A cookie `session=good` is a session. An upload is saved at `uploadPath`. With `hops` it is
 * one host of several.
 */
export async function startSmallServer(
  uploadPath = '/nonexistent/upload',
  hops: { receiver: HopReceiver; passOn: PassOn } | null = null,
): Promise<SmallServer> {
  const seen: SmallServer['seen'] = { sizes: [] };
  const logged: SmallServer['logged'] = [];
  const routes = [
    customRoute({
      method: 'POST',
      path: '/instances/:id/echo',
      name: 'echo',
      operation: null,
      summary: 'Echoes',
      tag: 'test',
      params: z.strictObject({ id: z.string().regex(/^[a-z]+$/, 'must be letters') }),
      query: z.strictObject({ limit: z.coerce.number().int().min(1).default(5) }),
      body: z.strictObject({ text: z.string().optional(), nested: z.strictObject({ deep: z.int() }).optional() }),
      answers: { 200: { description: 'what came' } },
      handle: ({ params, query, body, caller }) => json(200, { params, query, body, actor: caller.actor }),
    }),
    customRoute({
      method: 'PUT',
      path: '/instances/:id/files/*',
      name: 'put',
      operation: null,
      summary: 'Takes bytes',
      tag: 'test',
      params: z.strictObject({ id: z.string(), path: z.string() }),
      body: 'bytes',
      answers: { 204: { description: 'taken' } },
      handle({ body, params }) {
        seen.sizes.push(body.byteLength);
        return empty(204, { 'x-path': encodeURIComponent(params.path) });
      },
    }),
    customRoute({
      method: 'POST',
      path: '/instances/:id/upload',
      name: 'upload',
      operation: null,
      summary: 'Takes an upload',
      tag: 'test',
      params: z.strictObject({ id: z.string() }),
      body: 'stream',
      answers: { 201: { description: 'taken' } },
      handle: async ({ body }) => json(201, { size: await body.saveTo(uploadPath), type: body.type }),
    }),
    customRoute({
      method: 'GET',
      path: '/fails',
      name: 'fails',
      operation: null,
      summary: 'Fails',
      tag: 'test',
      answers: {},
      handle: () => {
        throw new Error('secret: /home/someone/data/registry.sqlite');
      },
    }),
    customRoute({
      method: 'GET',
      path: '/busy',
      name: 'busy',
      operation: null,
      summary: 'Is busy',
      tag: 'test',
      answers: {},
      handle: () => {
        throw new WinterdockError('capacity', 'No room.', {
          retryAfterSeconds: 1.2,
          extra: { active: 3 },
          hint: 'Wait.',
        });
      },
    }),
    customRoute({
      method: 'GET',
      path: '/taken-over',
      name: 'taken_over',
      operation: null,
      summary: 'Asks a process in hostile hands',
      tag: 'test',
      answers: {},
      handle: () => {
        throw seen.lie === undefined ? new Error('It has no lie to tell.') : deserializeError(seen.lie);
      },
    }),
    customRoute({
      method: 'GET',
      path: '/waits',
      name: 'waits',
      operation: null,
      summary: 'Waits for the client to go',
      tag: 'test',
      answers: {},
      handle: async ({ signal }) => {
        seen.signal = signal;
        await once(signal, 'abort');
        return empty(204);
      },
    }),
    customRoute({
      method: 'GET',
      path: '/downloads',
      name: 'downloads',
      operation: null,
      summary: 'Sends a download',
      tag: 'test',
      answers: {},
      handle: () => attachment({ stream: seen.download ?? Readable.from([]), bytes: null }, {}),
    }),
    customRoute({
      method: 'GET',
      path: '/streams',
      name: 'streams',
      operation: null,
      summary: 'Streams',
      tag: 'test',
      answers: {},
      handle: () =>
        eventStream((sink) => {
          seen.sink = sink;
          sink.write(eventText('hello', { n: 1 }, 4));
        }),
    }),
    customRoute({
      method: 'GET',
      path: '/instances/:id/look',
      name: 'look',
      operation: null,
      summary: 'Shows what came',
      tag: 'test',
      params: z.strictObject({ id: z.string() }),
      query: z.strictObject({ q: z.string().optional() }),
      answers: {},
      handle({ header, caller, query }) {
        seen.looks = (seen.looks ?? 0) + 1;
        const names = ['authorization', 'cookie', 'host', 'range', 'x-own', 'x-named', 'x-winterdock-hop', 'via'];
        const came = Object.fromEntries(names.map((name) => [name, header(name)]));
        return json(200, query.q === 'all' ? { came, caller, query } : { caller, query }, {
          etag: '"v1"',
          'x-answered': 'by this one',
        });
      },
    }),
    customRoute({
      method: 'GET',
      path: '/instances/:id/download',
      name: 'downloadOf',
      operation: null,
      summary: 'Sends a download of a sandbox',
      tag: 'test',
      params: z.strictObject({ id: z.string() }),
      answers: {},
      handle: () => attachment({ stream: seen.download ?? Readable.from([]), bytes: null }, { 'x-kind': 'download' }),
    }),
    customRoute({
      method: 'GET',
      path: '/instances/:id/stream',
      name: 'streamOf',
      operation: null,
      summary: 'Streams of a sandbox',
      tag: 'test',
      params: z.strictObject({ id: z.string() }),
      answers: {},
      handle: () =>
        eventStream((sink) => {
          seen.sink = sink;
        }),
    }),
    customRoute({
      method: 'POST',
      path: '/instances/:id/wait',
      name: 'waitOf',
      operation: null,
      summary: 'Waits for the client of a sandbox to go',
      tag: 'test',
      params: z.strictObject({ id: z.string() }),
      answers: {},
      handle: async ({ signal }) => {
        seen.signal = signal;
        if (!signal.aborted) await once(signal, 'abort');
        return empty(204);
      },
    }),
    customRoute({
      method: 'GET',
      path: '/healthz',
      root: true,
      name: 'health',
      operation: null,
      summary: 'Lives',
      tag: 'test',
      access: 'open',
      answers: {},
      handle: () => json(200, { status: 'ok' }),
    }),
  ];

  const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const dispatcher = createDispatcher({
    routes,
    services: {} as Services,
    admit: async () => undefined,
    auth: {
      countRequest: async () => undefined,
      onAccessChange: () => () => undefined,
      vouchedCaller: async ({ actor, session }, options) => {
        const { requestId = '', address = null } = options ?? {};
        if (actor !== 'key:admin') return null;
        return { actor, via: 'api', requestId, role: 'admin', tenants: null, address, session, ...seen.rights };
      },
      callerFromHeaders: async (headers, options) => {
        const bag = headers instanceof Headers ? Object.fromEntries(headers) : headers;
        const known = bag.authorization === `Bearer ${SMALL_KEY}` || bag.cookie === 'session=good';
        if (!known) return null;
        const { requestId = '', address = null } = options ?? {};
        return {
          actor: 'key:admin',
          via: 'api',
          requestId,
          role: 'admin',
          tenants: null,
          address,
          session: null,
          ...seen.rights,
        };
      },
    },
    passOn: hops?.passOn ?? null,
    log,
    ...LIMITS,
    metricsOpen: false,
    publicUrl: 'https://dock.example',
    trustProxy: false,
  });
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    if (!saysItHopped(req)) return void answerNode(dispatcher, req, res);
    const admitted = admitHop(hops?.receiver ?? null, log, { req, res });
    if (admitted !== null) void answerNode(dispatcher, admitted.req, res, admitted.arrival);
  };
  const server = createServer(answer).on('checkContinue', answer);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    dispatcher,
    port,
    connections: () => connections,
    call: caller(`http://127.0.0.1:${port}`, SMALL_KEY),
    seen,
    logged,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
