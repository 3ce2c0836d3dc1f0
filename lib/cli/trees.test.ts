import { expect, test } from 'vitest';
import { createClient } from '../client/client.ts';
import { remoteTree } from './trees.ts';

test.each(['..', '.', '', '../../etc/passwd', 'a/b', 'nul\0'])('a name %j of a sandbox is refused', async (name) => {
  // No server of ours gives such a name; a server or a file that somebody else made may.
  const client = createClient({
    url: 'http://localhost:1',
    fetch: async () => Response.json([{ name, kind: 'file', size: 1, mtime: 0 }]),
  });
  const place = { volume: 'workspace', path: '/' } as const;
  await expect(remoteTree(client, 'a', place, 'a', new AbortController().signal)).rejects.toMatchObject({
    exit: 'invalid',
  });
});
