/**
 * `npm run faults`: runs every operation with every fault at each of its effects, and writes the report into
 * docs/reliability.md. `--only PATTERN` runs some of the scenarios and writes no report. `--beside` runs them, with
 * kills and power cuts, beside a first engine over the same registry, of which nothing may change; `--store` on a
 * server with an object store in its folder; `--replica` runs what a replica does. `--one-in N` tries one fault at one
 * of N effects, drawn by the day. None of these writes a report. Exits with 1 when one fails.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DAY } from '../lib/testing/draw.ts';
import { FAILURES } from '../lib/testing/faults/fault.ts';
import { REPLICA_SCENARIOS } from '../lib/testing/faults/replica-scenarios.ts';
import {
  CUTS,
  drawFrom,
  type Report,
  runBeside,
  runScenario,
  runWithReplica,
  runWithStore,
} from '../lib/testing/faults/run.ts';
import { SCENARIOS } from '../lib/testing/faults/scenarios.ts';
import { TEST_ENVIRONMENT } from './test-environment.ts';

const REPORT = new URL('../docs/reliability.md', import.meta.url);
const BEGIN = '<!-- faults: written by npm run faults -->';
const END = '<!-- faults: end -->';

// Outside of the data folder: a copy of that folder must not run into a worker that rehearses in its cache.
process.env.WB_CACHE = TEST_ENVIRONMENT.WB_CACHE;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    beside: { type: 'boolean' },
    store: { type: 'boolean' },
    replica: { type: 'boolean' },
    'one-in': { type: 'string' },
  },
});
const oneIn = values['one-in'] === undefined ? null : Number(values['one-in']);
const wanted = new RegExp(values.only ?? '');
const reports: Report[] = [];
const runOne = values.beside ? runBeside : values.store ? runWithStore : values.replica ? runWithReplica : runScenario;
for (const scenario of values.replica ? REPLICA_SCENARIOS : SCENARIOS) {
  if (!wanted.test(scenario.name) || (values.beside && scenario.isFirst)) continue;
  const report = await runOne(scenario, ...(oneIn === null ? [] : [drawFrom(DAY, scenario.name, oneIn)]));
  reports.push(report);
  const tried = Object.values(report.tried).reduce((sum, count) => sum + count, 0);
  const kinds = Object.entries(report.tried).map(([kind, count]) => `${kind} ${count}`);
  process.stdout.write(
    `${report.name}: ${report.effects} effects, ${tried} faults (${kinds.join(', ')}), ${report.findings.length} findings\n`,
  );
  for (const finding of report.findings) process.stdout.write(`FOUND ${finding}\n`);
}
const found = reports.reduce((sum, { findings }) => sum + findings.length, 0);
const tried = reports.flatMap((report) => Object.values(report.tried)).reduce((sum, count) => sum + count, 0);
process.stdout.write(`${reports.length} operations, ${tried} faults, ${found} findings\n`);
if (values.only === undefined && oneIn === null && runOne === runScenario) writeReport();
process.exit(found === 0 ? 0 : 1);

function writeReport(): void {
  const columns = [...CUTS, ...FAILURES];
  const rows = reports.map(
    ({ name, effects, tried, findings }) =>
      `| ${name} | ${effects} | ${columns.map((column) => tried[column] ?? 0).join(' | ')} | ${findings.length} |`,
  );
  const table = [
    `| operation | effects | ${columns.join(' | ')} | found |`,
    `| --- | ${[...columns, '', ''].map(() => '---:').join(' | ')} |`,
    ...rows,
  ].join('\n');
  const text = readFileSync(REPORT, 'utf8');
  const [before = '', rest = ''] = text.split(BEGIN);
  const after = rest.split(END)[1] ?? '';
  writeFileSync(
    REPORT,
    `${before}${BEGIN}\n\n${reports.length} operations, ${tried} faults, ${found} findings.\n\n${table}\n\n${END}${after}`,
  );
}
