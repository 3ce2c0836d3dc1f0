/**
 * `npm run bench [-- --only part,part] [--check] [--quick] [--draw]`: measures every number that the documents claim.
 * What is compared has its turns in one run. Prints tables, writes docs/bench.json, and sets the tables and pictures of
 * docs/performance.md and the README from it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { failures } from './bench/check.ts';
import { HEADLINES } from './bench/headlines.ts';
import { endWithRunner } from './bench/lifetime.ts';
import { type BenchOptions, type BenchPart, PART_NAMES, PARTS, parseBenchOptions, USAGE } from './bench/parts.ts';
import { plotOf } from './bench/plot.ts';
import { type Kept, keptPart, mergeParts, type PartResult } from './bench/result.ts';
import { figureTable, picturePath, seriesTable, withHeadlines, withSections } from './bench/tables.ts';
import { ensureWorkerBundle, ROOT } from './build.ts';
import { BENCH_PEERS, ensurePeers } from './peers.ts';

const DOCS = join(ROOT, 'docs');
const RESULTS = join(DOCS, 'bench.json');
const PERFORMANCE = join(DOCS, 'performance.md');
const README = join(ROOT, 'README.md');

function readOptions(): BenchOptions {
  try {
    return parseBenchOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(1);
  }
}

const readKept = () => JSON.parse(readFileSync(RESULTS, 'utf8')) as Kept;

/** Sets tables and pictures from what is kept. */
function draw(kept: Kept): void {
  for (const [name, { series }] of Object.entries(kept)) {
    const plot = plotOf(name, series);
    if (plot !== null) writeFileSync(join(DOCS, picturePath(name)), plot.svg);
  }
  writeFileSync(PERFORMANCE, withSections(readFileSync(PERFORMANCE, 'utf8'), kept, PART_NAMES));
  writeFileSync(README, withHeadlines(readFileSync(README, 'utf8'), kept, HEADLINES));
}

const options = readOptions();
if (options.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
if (options.draw) {
  draw(readKept());
  process.exit(0);
}

endWithRunner();
ensurePeers();
ensurePeers(BENCH_PEERS);
ensureWorkerBundle();
const cpu = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`;
const taken: Kept = {};
const failed: string[] = [];
const broken: string[] = [];
for (const name of options.parts) {
  const part: BenchPart = PARTS[name];
  process.stderr.write(`${name}: ${part.about}…\n`);
  const started = performance.now();
  let result: PartResult | null;
  try {
    result = await part.measure(options.quick);
  } catch (error) {
    // The others are still worth their time.
    process.stderr.write(`${name}: ${error instanceof Error ? error.stack : error}\n`);
    broken.push(name);
    continue;
  }
  process.stderr.write(`${name}: ${Math.round((performance.now() - started) / 1000)} s\n`);
  if (result === null) {
    process.stderr.write(`${name}: this engine has nothing of it to measure.\n`);
    if (name in readKept()) failed.push(`${name}: was measured before and no longer can be`);
    continue;
  }
  taken[name] = keptPart(result, { taken: new Date().toISOString(), node: process.version, cpu });
  // Each part as it ends: what a later one fails by does not lose what was measured.
  if (!options.quick) {
    const kept = mergeParts(readKept(), taken, PART_NAMES);
    writeFileSync(RESULTS, `${JSON.stringify(kept, null, 2)}\n`);
    draw(kept);
  }
}

process.stdout.write(`\n${cpu}, Node ${process.version}\n`);
for (const [name, { figures, series }] of Object.entries(taken)) {
  process.stdout.write(`\n${name}\n\n${figureTable(figures)}\n\n${seriesTable(series)}\n`);
}
failed.push(...failures(taken));
for (const sentence of failed) process.stderr.write(`Worse than recorded: ${sentence}\n`);
if (broken.length > 0) process.stderr.write(`Not measured, because they failed: ${broken.join(', ')}\n`);
if (broken.length > 0 || (options.check && failed.length > 0)) process.exit(1);
