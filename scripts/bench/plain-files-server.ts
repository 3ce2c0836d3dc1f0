/**
 * Plain files behind Node's own HTTP server: PUT writes a new file and syncs it and its folder, GET reads one, or lists
 * a folder whose path ends with a slash, with the size of each file.
 */
import { mkdirSync } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';

const [root] = process.argv.slice(2);
if (root === undefined) throw new Error('a folder for the files');

async function sync(path: string): Promise<void> {
  const handle = await open(path);
  await handle.sync();
  await handle.close();
}

async function write(path: string, content: Buffer): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const handle = await open(path, 'w');
  await handle.writeFile(content);
  await handle.sync();
  await handle.close();
  await sync(dirname(path));
}

async function list(folder: string): Promise<string> {
  const names = await readdir(folder);
  return JSON.stringify(
    await Promise.all(names.map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size }))),
  );
}

const server = createServer(async (incoming, outgoing) => {
  const url = incoming.url ?? '/';
  const path = join(root, url);
  try {
    if (incoming.method === 'PUT') {
      await write(path, await buffer(incoming));
      outgoing.end();
    } else outgoing.end(url.endsWith('/') ? await list(path) : await readFile(path));
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
