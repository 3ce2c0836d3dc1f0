/** Examines the signed head beside a registry, beyond whether a server starts on it. */
import { basename } from 'node:path';
import { issuerOf } from '../base/signing.ts';
import { readHead } from '../ledger/head-file.ts';
import { isSigned } from '../ledger/sign.ts';
import type { RegistryLocation } from '../ledger/start-check.ts';
import type { RegistryMoment } from '../registry/driver.ts';
import type { Finding } from './findings.ts';

/** Finds a head that is missing, cannot be read, or is of another key. */
export async function examineHead(
  { driver, keysFolder }: Pick<RegistryLocation, 'driver' | 'keysFolder'>,
  registry: RegistryMoment,
  find: (finding: Finding) => void,
): Promise<void> {
  const path = driver.headPath;
  if (path === null || !registry.chained) return;
  const about = { about: null, path: basename(path), way: 'accept' } as const;
  try {
    const head = readHead(path);
    if (head === null) {
      if ((await registry.chainHead()).seq === 0) return;
      find({
        ...about,
        kind: 'head.missing',
        weight: 'note',
        way: null,
        says: 'the signed head of the ledger is missing; a start signs a new one, and says so in the ledger',
      });
      return;
    }
    const issuer = issuerOf(keysFolder);
    if (issuer === null || isSigned(head, [issuer])) return;
    find({
      ...about,
      kind: 'head.foreign',
      weight: 'wrong',
      says: 'the head is not signed with the signing.key of this data folder; a server signs no more of the ledger and sets no file aside',
    });
  } catch {
    find({
      ...about,
      kind: 'head.unreadable',
      weight: 'wrong',
      says: 'what should be the signed head is none; a server signs no more of the ledger and sets no file aside',
    });
  }
}
