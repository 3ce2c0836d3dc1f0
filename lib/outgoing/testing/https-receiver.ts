/**
 * For tests: a real https server on this machine whose certificate is signed by an authority made for it. What it
 * answers is what the test says.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeCertificate } from '../../testing/certificates.ts';

interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface HttpsReceiver {
  port: number;
  received: Received[];
  /** Path of the authority's certificate, for `NODE_EXTRA_CA_CERTS` of other processes. */
  caFile: string;
  /** What the next requests are answered with. Default: 204. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Resolves when so many requests have come in whole. */
  until(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** `names`: whom the certificate is for. This process trusts its authority until the receiver stops. */
export async function startHttpsReceiver(names: readonly string[]): Promise<HttpsReceiver> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-ca-'));
  const certificate = makeCertificate(folder, names);
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, readFileSync(certificate.caFile, 'utf8')]);

  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const receiver: HttpsReceiver = {
    port: 0,
    received,
    caFile: certificate.caFile,
    answer: (_request, response) => response.writeHead(204).end(),
    async until(count) {
      while (received.length < count) await new Promise<void>((resolve) => waiting.add(resolve));
    },
    async stop() {
      setDefaultCACertificates(trusted);
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const server = createServer({ key: certificate.key, cert: certificate.cert }, async (request, response) => {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request) pieces.push(piece);
    } catch {
      // The sender broke off: nothing was received.
      return;
    }
    const { method = '', url: path = '', headers } = request;
    received.push({ method, path, headers, body: Buffer.concat(pieces).toString() });
    receiver.answer(request, response);
    for (const resolve of waiting) resolve();
    waiting.clear();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  receiver.port = (server.address() as AddressInfo).port;
  return receiver;
}
