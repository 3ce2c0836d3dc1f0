/**
 * A process that cuts a small log and then a large one, and prints how many bytes of memory it took at the most beyond
 * what it had before the large one. Arguments: the small database, the large one. For tests.
 */
import { cutSegment } from '../log/cut.ts';

const KIBIBYTE = 1024;
const [small = '', large = ''] = process.argv.slice(2);

async function cut(main: string): Promise<string> {
  const request = { position: null, restartsAt: null, withFirstPage: true, mostBytes: 2 ** 40 };
  const target = { target: `${main}.ltx`, txid: 2, timeMs: 1, sync: false };
  return (await cutSegment({ log: `${main}-wal`, main, ...request, ...target })).kind;
}

await cut(small);
const before = process.resourceUsage().maxRSS;
const kind = await cut(large);
process.stdout.write(JSON.stringify({ kind, bytes: (process.resourceUsage().maxRSS - before) * KIBIBYTE }));
