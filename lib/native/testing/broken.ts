/**
 * Loaded before a server of a test: breaks it in the way that `WB_TEST_BROKEN` names, in every thread. A test that
 * compares must find each of them.
 */
import { Statements } from '../../vfs/statements.ts';
import { Merge } from '../file/merge.ts';
import { NativeFile } from '../file/native-file.ts';

const { run } = Statements.prototype;
const { find } = Merge.prototype;

const VARIANTS: Readonly<Record<string, () => void>> = {
  /** One of seven chunks is not written. */
  'lost-chunk': () => {
    let count = 0;
    Statements.prototype.run = function (sql, ...values) {
      const isLost = sql.startsWith('INSERT OR REPLACE INTO native_chunk') && ++count % 7 === 0;
      return isLost ? 1 : run.call(this, sql, ...values);
    };
  },
  /** A name that the seed's table has is answered as missing once, which the kernel then remembers. */
  'stale-negative-entry': () => {
    const answered = new Set<string>();
    Merge.prototype.find = function (directory, name) {
      const key = `${directory.ino} ${name.toString('latin1')}`;
      const isFirst = !directory.isMerged && !answered.has(key);
      answered.add(key);
      return isFirst ? null : find.call(this, directory, name);
    };
  },
  /** A commit is answered and not made. */
  'unsynced-commit': () => {
    NativeFile.prototype.commit = () => undefined;
  },
};

export const BROKEN_VARIANTS = Object.keys(VARIANTS);

const chosen = process.env.WB_TEST_BROKEN;
if (chosen !== undefined) VARIANTS[chosen]?.();
