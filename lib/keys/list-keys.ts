/** Says of each key file of a registry which it is and what state it is in. Changes nothing, also beside a server. */
import { messageOf } from '../base/errors.ts';
import { KEY_FILES, oldKeyFile } from '../base/key-files.ts';
import { readKeyEvidence } from './key-evidence.ts';
import { type KeyEntry, noKnownKeys } from './known-keys.ts';
import { type FoundKey, findKey, type KeyPlaces, keyProblems, keysInFiles } from './start-keys.ts';

interface ListedKey {
  file: string;
  /** Its fingerprint and what the registry says of it. */
  words: string;
}

/** The keys, and why a start of the server would be refused for them: none when it would not. */
export async function listKeys(places: KeyPlaces): Promise<{ keys: ListedKey[]; problems: string[] }> {
  const row = (await readKeyEvidence(places.driver))?.known ?? noKnownKeys();
  const keys = keysInFiles(places).map((name) => {
    const found = findKey(name, places.keysFolder, row.salt);
    return { file: KEY_FILES[name], words: wordsOf(found, row.keys[name], oldKeyFile(name)) };
  });
  if (places.adminKey !== null) keys.push({ file: KEY_FILES.admin, words: 'the setting WB_ADMIN_KEY is used' });
  try {
    return { keys, problems: await keyProblems(places) };
  } catch (error) {
    return { keys, problems: [messageOf(error)] };
  }
}

function wordsOf({ fingerprint, problem }: FoundKey, entry: KeyEntry | undefined, old: string): string {
  if (problem !== null) return 'cannot be used';
  if (fingerprint === null) return entry === undefined ? 'is made at the first start' : `missing: ${entry.makes}`;
  if (entry === undefined) return 'not recorded yet: the next start does';
  if (fingerprint !== entry.makes) return `${fingerprint}, another key than ${entry.makes}`;
  const since = new Date(entry.since * 1000).toISOString().slice(0, 10);
  return entry.accepts === null
    ? `${fingerprint} since ${since}`
    : `${fingerprint} since ${since}; being rotated: ${old} (${entry.accepts}) is accepted too`;
}
