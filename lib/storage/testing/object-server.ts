/**
 * A process that keeps objects in its memory and serves them over HTTP, as an object store does: whole objects, an ETag
 * for each version, `If-None-Match: *` on writes. Prints its port. Ends with its standard input.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

const objects = new Map<string, { content: Buffer; etag: string }>();
let versions = 0;

async function contentOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://store');
  const name = decodeURIComponent(pathname.slice(1));
  const object = objects.get(name);
  if (name === '') {
    const prefix = searchParams.get('prefix') ?? '';
    const found = [...objects].filter(([one]) => one.startsWith(prefix));
    response.end(JSON.stringify(found.map(([one, { content }]) => ({ name: one, size: content.length }))));
  } else if (request.method === 'PUT') {
    const content = await contentOf(request);
    if (request.headers['if-none-match'] === '*' && objects.has(name)) response.statusCode = 412;
    else objects.set(name, { content, etag: `"v${++versions}"` });
    response.end();
  } else if (request.method === 'DELETE') {
    objects.delete(name);
    response.writeHead(204).end();
  } else if (object === undefined) response.writeHead(404).end();
  else {
    response.writeHead(200, { etag: object.etag, 'content-length': object.content.length });
    response.end(request.method === 'HEAD' ? undefined : object.content);
  }
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.resume().on('end', () => process.exit(0));
