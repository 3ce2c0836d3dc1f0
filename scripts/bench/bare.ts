/** The floor that a durable answer over HTTP cannot beat: Node's own HTTP server and one fsync per request. */
import { fsyncSync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('a file to write to');
const file = openSync(path, 'a');
const page = Buffer.alloc(4096, 'x');

const server = createServer((incoming, outgoing) => {
  incoming.resume();
  incoming.on('end', () => {
    writeSync(file, page);
    fsyncSync(file);
    outgoing.setHeader('content-type', 'application/json');
    outgoing.end('{"exit_code":0,"stdout":"","stderr":""}');
  });
});
// As long as the server that it stands beside keeps an idle connection.
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
