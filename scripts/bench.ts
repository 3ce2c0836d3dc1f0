/**
 * `npm run bench [-- --only part,part] [--check] [--quick]`: measures every number that the documents claim. What is
 * compared alternates in one run, and the result is a ratio. Prints tables, writes docs/bench.json, and fills the
 * tables of docs/performance.md and README.md from it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { HEADLINES } from './bench/headlines.ts';
import { type BenchOptions, PART_NAMES, PARTS, parseOptions, USAGE } from './bench/parts.ts';
import { barTable, type Kept, keep, merge, missed, timeTable, withHeadlines, withSections } from './bench/result.ts';
import { ROOT } from './build.ts';
import { ensurePeers } from './peers.ts';

const RESULTS = join(ROOT, 'docs', 'bench.json');
const PERFORMANCE = join(ROOT, 'docs', 'performance.md');
const README = join(ROOT, 'README.md');

function readOptions(): BenchOptions {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(1);
  }
}

const { parts, quick, check, help } = readOptions();
if (help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

ensurePeers();
const cpu = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`;
const taken: Kept = {};
for (const name of parts) {
  process.stderr.write(`${name}: ${PARTS[name].about}…\n`);
  taken[name] = keep(await PARTS[name].measure(quick), {
    taken: new Date().toISOString(),
    node: process.version,
    cpu,
  });
  // Each part as it ends: what a later one fails by does not lose what was measured.
  if (!quick) {
    const kept = merge(JSON.parse(readFileSync(RESULTS, 'utf8')), taken, PART_NAMES);
    writeFileSync(RESULTS, `${JSON.stringify(kept, null, 2)}\n`);
    writeFileSync(PERFORMANCE, withSections(readFileSync(PERFORMANCE, 'utf8'), kept));
    writeFileSync(README, withHeadlines(readFileSync(README, 'utf8'), kept, HEADLINES));
  }
}

const found = Object.values(taken);
process.stdout.write(`\n${cpu}, Node ${process.version}\n\n${timeTable(found)}\n\n${barTable(found)}\n`);
const over = missed(found);
for (const { what } of over) process.stderr.write(`Over the bar: ${what}\n`);
if (check && over.length > 0) process.exit(1);
