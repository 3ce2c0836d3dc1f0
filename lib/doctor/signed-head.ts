/** Examines the signed head beside a registry, beyond whether a server starts on it. */
import { basename } from 'node:path';
import type { Config } from '../base/config.ts';
import { issuerOf } from '../base/signing.ts';
import { headPathOf, readHead } from '../ledger/head-file.ts';
import { isSigned } from '../ledger/sign.ts';
import type { RegistryFile } from '../registry/sqlite/registry-file.ts';
import type { Finding } from './findings.ts';

/** Finds a head that is missing, cannot be read, or is of another key. */
export function examineHead(
  { registryPath, dataFolder }: Pick<Config, 'registryPath' | 'dataFolder'>,
  registry: RegistryFile,
  find: (finding: Finding) => void,
): void {
  const path = headPathOf(registryPath);
  if (path === null || !registry.chained) return;
  const about = { about: null, path: basename(path), way: 'accept' } as const;
  try {
    const head = readHead(path);
    if (head === null) {
      if (registry.chainHead().seq === 0) return;
      find({
        ...about,
        kind: 'head.missing',
        weight: 'note',
        way: null,
        says: 'the signed head of the ledger is missing; a start signs a new one, and says so in the ledger',
      });
      return;
    }
    const issuer = issuerOf(dataFolder);
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
