/**
 * For tests: a server whose sandboxes reach two real servers on this machine by made-up names, `api.test` over TLS and
 * `plain.test` without, and whose other names have the addresses that the test says.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HttpsReceiver, startHttpsReceiver } from '../../outgoing/testing/https-receiver.ts';
import type { Method } from '../../outgoing/url-rules.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

export const TENANT = 'acme';
const ALL: Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

interface Evaluated {
  ok: boolean;
  value: unknown;
  error?: string;
  stdout: string;
}
interface Executed {
  exit_code: number;
  stdout: string;
  stderr: string;
}

export interface NetworkServer {
  server: TestServer;
  tls: HttpsReceiver;
  /** Origins of the two. */
  api: string;
  plain: string;
  /** What the plain server answers next. Default: 200 and the request's path. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Paths that the plain server was asked for. */
  asked: string[];
  /** Addresses by name; others do not resolve. */
  names: Map<string, string[] | (() => string[])>;
  lookups: string[];
  allow(rules: { url: string; methods?: Method[]; private?: boolean }[], numbers?: object): Promise<void>;
  js(code: string, id?: string): Promise<Evaluated>;
  sh(command: string, id?: string): Promise<Executed>;
  /** Lines of the ledger of a type. */
  lines(type: string): Promise<{ error: string | null; reason: string | null; instance: string | null }[]>;
  stop(): Promise<void>;
}

export async function startNetworkServer(): Promise<NetworkServer> {
  const tls = await startHttpsReceiver(['api.test', 'other.test']);
  const plain = createServer((request, response) => {
    made.asked.push(`${request.method} ${request.url}`);
    made.answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { port } = plain.address() as AddressInfo;
  const names: NetworkServer['names'] = new Map();
  const lookups: string[] = [];
  const server = await startServer({
    async resolve(name) {
      lookups.push(name);
      const known = names.get(name);
      if (known === undefined) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
      const addresses = typeof known === 'function' ? known() : known;
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
  });
  const defaultAnswer: NetworkServer['answer'] = (request, response) => void response.end(`asked for ${request.url}`);
  const put = async (path: string, body: object) => {
    const { status, json } = await server.call('PUT', `/api${path}`, body);
    if (status !== 200) throw new Error(JSON.stringify(json));
  };
  const made: NetworkServer = {
    server,
    tls,
    api: `https://api.test:${tls.port}`,
    plain: `http://plain.test:${port}`,
    answer: defaultAnswer,
    asked: [],
    names,
    lookups,
    allow: (rules, numbers = {}) =>
      put(`/tenants/${TENANT}/network`, {
        rules: rules.map((rule) => ({ methods: ALL, private: true, ...rule })),
        requests_per_minute: 10_000,
        ...numbers,
      }),
    js: async (code, id = 'box') =>
      (await server.call<Evaluated>('POST', `/api/instances/${id}/eval`, { language: 'js', code })).json,
    sh: async (command, id = 'box') =>
      (await server.call<Executed>('POST', `/api/instances/${id}/exec`, { command })).json,
    lines: async (type) => (await server.call<never>('GET', `/api/events?type=${type}`)).json,
    async stop() {
      await server.stop();
      plain.closeAllConnections();
      plain.close();
      await tls.stop();
    },
  };
  for (const name of ['api.test', 'plain.test', 'other.test']) names.set(name, ['127.0.0.1']);
  await server.call('POST', '/api/instances', { id: 'box', tenant: TENANT, policy: 'network' });
  await put('/instances/box/network', { rules: null, requests_per_minute: 10_000 });
  return made;
}
