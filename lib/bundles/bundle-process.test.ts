import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { bundleProcesses, eventually } from '../testing/bundle-server.ts';
import { copyVfs } from '../vfs/copy.ts';
import { tmpFolder, vfsPath } from '../vfs/testing/tmp-files.ts';
import { BundleProcess } from './bundle-process.ts';
import { shippedVolumes } from './manifest.ts';
import { LIMITS, MIB, vfsFile } from './testing/bundle.ts';

/** A process that has begun a checkout of these bytes, and its output, which nobody reads yet. */
async function begun(content: Buffer) {
  const folder = tmpFolder();
  const disk = join(folder, 'disk.vfs');
  const source = vfsFile((vfs) => vfs.put(vfsPath('/work'), content));
  await copyVfs({ path: source, mode: 'rest' }, disk, shippedVolumes(false));
  const process = await BundleProcess.start({
    dataFolder: folder,
    walls: null,
    folder,
    cacheFolder: join(folder, 'cache'),
    memoryBytes: 512 * MIB,
    signals: [],
  });
  onTestFinished(() => process.end());
  const { maxFileBytes } = LIMITS;
  const { output } = await process.stream({ kind: 'checkout', disk, maxFileBytes, plain: false });
  return { process, folder, output };
}

test('a checkout is whole though its process ended before anybody read it', async () => {
  const { folder, output } = await begun(Buffer.from('the work'));
  await eventually(() => bundleProcesses(folder).length === 0);
  expect(gunzipSync(await buffer(output)).includes('the work')).toBe(true);
});

test('one that is read late, and larger than what waits for its reader, is whole too', async () => {
  const content = randomBytes(4 * MIB);
  const { folder, output } = await begun(content);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(bundleProcesses(folder)).toHaveLength(1);
  expect(gunzipSync(await buffer(output)).includes(content)).toBe(true);
});

test('one that is ended never looks whole', async () => {
  const { process, folder, output } = await begun(randomBytes(4 * MIB));
  await process.end();
  expect(bundleProcesses(folder)).toEqual([]);
  await expect(buffer(output)).rejects.toThrow();
});
