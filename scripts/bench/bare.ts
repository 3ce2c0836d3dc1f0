/**
 * The floor that a durable answer over HTTP cannot beat: Node's own HTTP server and one fsync per request. Under
 * `/child` a child process does that and answers over a channel, or under `/child/read` answers alone: the floor of a
 * design that runs guests in processes of their own.
 */
import { fork } from 'node:child_process';
import { fsyncSync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [path, role] = process.argv.slice(2);
if (path === undefined) throw new Error('a file to write to');
const page = Buffer.alloc(4096, 'x');
const ANSWER = '{"exit_code":0,"stdout":"","stderr":""}';

let file: number | null = null;

function writeDurably(): void {
  // By the first request: a child may start when the folder is gone.
  file ??= openSync(path ?? '', 'a');
  writeSync(file, page);
  fsyncSync(file);
}

if (process.send !== undefined && role === 'child') {
  process.on('message', ({ durably }: { durably: boolean }) => {
    if (durably) writeDurably();
    process.send?.(ANSWER);
  });
} else serve();

/** One request at a time is asked of the child: the floor of one caller. */
function serve(): void {
  const child = fork(import.meta.filename, [path ?? '', 'child'], { serialization: 'advanced' });
  const server = createServer((incoming, outgoing) => {
    const end = (answer: string) => {
      outgoing.setHeader('content-type', 'application/json');
      outgoing.end(answer);
    };
    incoming.resume();
    incoming.on('end', () => {
      const { url = '' } = incoming;
      if (url.startsWith('/child')) {
        child.once('message', (answer) => end(String(answer)));
        child.send({ durably: url === '/child' });
        return;
      }
      writeDurably();
      end(ANSWER);
    });
  });
  // As long as the server that it stands beside keeps an idle connection.
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  });
  process.on('SIGTERM', () => process.exit(0));
}
