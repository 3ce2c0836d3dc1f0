import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { folderStore } from '../sandboxes/store/testing/folder-store.ts';
import { claimPlace, type PlaceOwner, requireClaim } from './claim-place.ts';
import { folderPlace } from './folder-place.ts';
import type { BackupPlace } from './place.ts';
import { storePlace } from './store-place.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-claim-place-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const owner = (installation: string, epoch = 1): PlaceOwner => ({ installation, epoch, trusted: [], isUsed: false });
const PLACES = {
  folder: async () => folderPlace(join(root, 'folder')),
  store: async () => storePlace(await folderStore(join(root, 'store')), join(root, 'drafts')),
};

/** Two views of a place: none of them writes before both have looked for the mark. */
async function twice(open: () => Promise<BackupPlace>): Promise<[BackupPlace, BackupPlace]> {
  const both = Promise.withResolvers<void>();
  let looked = 0;
  const view = async (): Promise<BackupPlace> => {
    const place = await open();
    return {
      ...place,
      async read(name) {
        const text = await place.read(name);
        looked += 1;
        if (looked === 2) both.resolve();
        await both.promise;
        return text;
      },
    };
  };
  return [await view(), await view()];
}

test.each(['folder', 'store'] as const)(
  'of two servers that claim a new %s at once one has it, and the other finds out before its backup counts',
  async (kind) => {
    const open = PLACES[kind];
    const places = await twice(open);
    const owners = [owner('one'), owner('two')] as const;
    await Promise.all([claimPlace(places[0], owners[0]), claimPlace(places[1], owners[1])]);
    const checked = await Promise.allSettled(owners.map(async (one) => requireClaim(await open(), one)));
    expect(checked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = checked.findIndex(({ status }) => status === 'rejected');
    await expect(claimPlace(await open(), owners[refused] ?? owners[0])).rejects.toMatchObject({ code: 'conflict' });
    await claimPlace(await open(), owners[1 - refused] ?? owners[0]);
  },
);

test('a place that loses its mark, or gets that of a later restore, takes no backup that is under way', async () => {
  const open = PLACES.store;
  await expect(requireClaim(await open(), owner('one'))).rejects.toMatchObject({ code: 'storage_unavailable' });
  await claimPlace(await open(), owner('one'));
  await requireClaim(await open(), owner('one'));
  await claimPlace(await open(), owner('one', 2));
  await expect(requireClaim(await open(), owner('one'))).rejects.toMatchObject({ code: 'conflict' });
});
