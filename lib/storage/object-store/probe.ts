/** Finds out by trying what a store keeps of what it is asked for. What it writes has own names and is removed. */
import { randomUUID } from 'node:crypto';
import { performing } from '../../base/effects.ts';
import { isWinterdockError } from '../../base/errors.ts';
import type { StoreTraits } from './object-store.ts';
import type { StoreDriver } from './store-driver.ts';

/** What a probe writes has names that begin so. */
export const PROBES = 'probe/';
const PROBE = /^probe\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[ab]$/;
const CONTENT = Buffer.from('0123456789');
const OTHER = Buffer.from('9876543210');

/** Whether a probe writes such a name. One that is killed leaves what it wrote. */
export function isProbeName(name: string): boolean {
  return PROBE.test(name);
}

/** Throws `storage_unavailable` when the store is away. */
export async function probeTraits(url: string, driver: StoreDriver, signal?: AbortSignal): Promise<StoreTraits> {
  const place = `${PROBES}${randomUUID()}`;
  const [name, free] = [`${place}/a`, `${place}/b`];
  return performing({ kind: 'store_put', path: `${url}/${place}` }, async () => {
    try {
      return await probe();
    } finally {
      // A store that cannot remove says so in its traits, and the next one has other names.
      for (const one of [name, free]) await driver.purge(one).catch(() => undefined);
    }
  });

  async function probe(): Promise<StoreTraits> {
    const { etag } = await driver.put(name, CONTENT, options());
    const read = await reads(name, CONTENT);
    let list = false;
    for await (const page of driver.list(`${place}/`, signal)) list ||= page.some((one) => one.name === name);
    const ifAbsentRefused = inverted(await driver.putIfAbsent(name, OTHER, signal));
    const ifAbsentMade = await driver.putIfAbsent(free, CONTENT, signal);
    const { etag: now } = (await driver.head(name, signal)) ?? { etag };
    const ifMatchRefused = inverted(await driver.putIfMatch(name, OTHER, '00000000000000000000000000000000', signal));
    const ifMatchMade = ifMatchRefused === null ? null : await driver.putIfMatch(name, CONTENT, now, signal);
    await driver.remove(name, signal);
    const remove = (await driver.head(name, signal)) === null;
    const rules = await driver.rules(signal);
    return { read, list, remove, ifAbsentMade, ifAbsentRefused, ifMatchMade, ifMatchRefused, ...rules };
  }

  function options() {
    return signal ? { signal } : {};
  }

  async function reads(object: string, content: Buffer): Promise<boolean> {
    try {
      const whole = await driver.get(object, content.length, signal);
      const { stream } = await driver.open(object, { first: 2, last: 4 }, signal);
      const part = Buffer.concat(await stream.toArray());
      return content.equals(whole) && part.equals(content.subarray(2, 5));
    } catch (error) {
      if (isWinterdockError(error) && ['corrupt', 'missing_file'].includes(error.code)) return false;
      throw error;
    }
  }
}

/** Whether it was refused, by whether it was made. */
function inverted(made: boolean | null): boolean | null {
  return made === null ? null : !made;
}
