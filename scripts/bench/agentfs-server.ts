/**
 * `agentfs-sdk` behind Node's own HTTP server: PUT writes a file, GET reads it, or lists a folder whose path ends with
 * a slash.
 */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { BENCH_PEERS } from '../peers.ts';

/** What is used of it here: its own types are there only once it is installed. */
interface AgentFs {
  fs: {
    writeFile(path: string, data: Buffer): Promise<void>;
    readFile(path: string): Promise<Buffer>;
    readdirPlus(path: string): Promise<object[]>;
  };
}

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('a file for the database');
const entry = createRequire(join(BENCH_PEERS, 'package.json')).resolve('agentfs-sdk');
const { AgentFS } = (await import(pathToFileURL(entry).href)) as {
  AgentFS: { open(options: { path: string }): Promise<AgentFs> };
};
const { fs } = await AgentFS.open({ path });

const server = createServer(async (incoming, outgoing) => {
  const target = incoming.url ?? '/';
  try {
    if (incoming.method === 'PUT') {
      await fs.writeFile(target, await buffer(incoming));
      outgoing.end();
    } else if (target.endsWith('/')) outgoing.end(JSON.stringify(await fs.readdirPlus(target.slice(0, -1))));
    else outgoing.end(await fs.readFile(target));
  } catch (error) {
    outgoing.statusCode = 500;
    outgoing.end(String(error));
  }
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
