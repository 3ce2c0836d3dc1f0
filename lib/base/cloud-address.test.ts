import { expect, test } from 'vitest';
import { CLOUD_KINDS, cloudAddress, isCloudAddress, objectNameOf, parseCloudAddress } from './cloud-address.ts';

test('an address is printed as it is read, and says the name of its object', () => {
  for (const kind of CLOUD_KINDS) {
    const parts = { kind, id: 'a.b-1', generation: 12, token: '-Zm9v_x' };
    const address = cloudAddress(parts);
    expect(address).toBe(`cloud:${kind}/a.b-1/12--Zm9v_x`);
    expect(parseCloudAddress(address)).toEqual(parts);
    expect(objectNameOf(address)).toBe(`drawers/${kind}/a.b-1/12--Zm9v_x`);
  }
});

test('no other path is taken for one in a store', () => {
  for (const path of [
    null,
    ':memory:',
    'live/a/vfs.sqlite',
    'cold/a.sqlite',
    'cloud:',
    'cloud:live/a/1-x',
    'cloud:cold/a',
    'cloud:cold/../1-x/y',
    'cloud:cold/a/b/1-x',
    'cloud:cold/a/x-1',
    'cloud:cold/a/1-',
    'cloud:cold/a/1-x/',
    'cloud:cold/a/1-x\n',
    ' cloud:cold/a/1-x',
  ]) {
    expect([path, isCloudAddress(path)]).toEqual([path, false]);
    if (path !== null) expect(() => objectNameOf(path)).toThrow('no address in a store');
  }
});
