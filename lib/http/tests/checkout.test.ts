import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BundleServer, bundleProcesses, eventually, startBundleServer } from '../../testing/bundle-server.ts';
import { TEST_KEY } from '../../testing/server.ts';
import { tmpFolder } from '../../vfs/testing/tmp-files.ts';

let server: BundleServer;
beforeAll(async () => {
  server = await startBundleServer();
});
afterAll(() => server.stop());

describe('checkouts', () => {
  test('23. the tree unpacks with the real tar, and git stages all of the work', async () => {
    const id = await server.sandbox({
      'workspace/README.md': '# work',
      'workspace/src/tmp/a.js': 'a()',
      'workspace/.gitignore': 'dist/',
      'memory/secret': 'private',
      'tmp/scratch': 'private',
    });
    await server.call('POST', `/api/instances/${id}/exec`, {
      command: 'mkdir empty; ln -s README.md link; chmod 755 src/tmp/a.js; ln -s /etc/passwd out',
    });
    await server.call('POST', `/api/instances/${id}/suspend`, {});
    const head = await server.call('HEAD', `/api/instances/${id}/checkout`);
    expect([head.status, head.bytes.length, head.headers['content-disposition']]).toEqual([
      200,
      0,
      `attachment; filename="${id}.tar.gz"`,
    ]);
    const answer = await server.call('GET', `/api/instances/${id}/checkout?format=tar.gz`);
    expect([answer.status, answer.headers['content-type'], await server.stateOf(id)]).toEqual([
      200,
      'application/gzip',
      'suspended',
    ]);
    const out = tmpFolder();
    execFileSync('tar', ['-xz', '-C', out, '--no-same-owner'], { input: answer.bytes });
    expect(readdirSync(out).sort()).toEqual(['.gitignore', 'README.md', 'empty', 'link', 'out', 'src']);
    const git = (...args: string[]) => execFileSync('git', args, { cwd: out, encoding: 'utf8' });
    git('init', '-q');
    git('add', '-A');
    expect(git('ls-files').trim().split('\n').sort()).toEqual([
      '.gitignore',
      'README.md',
      'link',
      'out',
      'src/tmp/a.js',
    ]);
    expect(await server.linesOf(`instance=${id}&type=checkout.sent`)).toHaveLength(1);
    await server.settled();
    expect((await server.call('GET', `/api/instances/${id}/checkout?format=zip`)).status).toBe(422);
    expect((await server.call('GET', '/api/instances/nobody/checkout')).status).toBe(404);
  });

  test('30. it is sent as fast as its client takes it', async () => {
    const id = await server.sandbox();
    const noise = randomBytes(24 * 1024 * 1024);
    for (const name of ['a', 'b']) await server.call('PUT', `/api/instances/${id}/volumes/workspace/${name}`, noise);
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      request(
        `${server.url}/api/instances/${id}/checkout`,
        { headers: { authorization: `Bearer ${TEST_KEY}` } },
        resolve,
      )
        .once('error', reject)
        .end(),
    );
    answer.pause();
    const [pid] = bundleProcesses(server.folder);
    const written = () => Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
    let last = -1;
    // It comes to a stop by itself, long before it has written everything.
    await eventually(async () => {
      const now = written();
      await pause(300);
      const still = now === last;
      last = now;
      return still;
    });
    expect(last).toBeLessThan(noise.length);
    // All of it comes, to the last byte: a cut gzip does not unpack.
    expect(gunzipSync(await buffer(answer)).length).toBeGreaterThan(2 * noise.length);
  });
});
